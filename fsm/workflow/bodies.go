package workflow

import (
	"sync"
	"sync/atomic"
)

// bodies keeps what was encoded of the logs of runs, so that a delivery encodes the entries since the last one of its run and
// no others: a run of a thousand steps would otherwise encode half a million. It is this node's own and no part of the state:
// an entry that is in a log never changes.
type bodies struct {
	mu    sync.Mutex
	of    map[bodyKey]body
	bytes int
}

// bodyKey is a run of a Store and its forks, which have one number.
type bodyKey struct{ store, run uint64 }

// encoded are the bodies of all stores of the process, storeNumbers the number given last.
var (
	encoded      bodies
	storeNumbers atomic.Uint64
)

// body is the list of a run's elements before the entry at next, without its end.
type body struct {
	list []byte
	next uint32
}

const (
	// leastBody is the size in bytes from which on a list is kept, mostBodies bounds the size of all.
	leastBody  = 4 << 10
	mostBodies = 32 << 20
)

// take takes out what there is of a run's list before the entry at a place. Nobody else has it until it is put back.
func (b *bodies) take(key bodyKey, before uint32) body {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept, found := b.of[key]
	if !found || kept.next > before {
		return body{}
	}
	delete(b.of, key)
	b.bytes -= cap(kept.list)
	return kept
}

// put keeps a run's list.
func (b *bodies) put(key bodyKey, one body) {
	if len(one.list) < leastBody {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, found := b.of[key]; found {
		if old.next >= one.next {
			return
		}
		b.bytes -= cap(old.list)
	}
	if b.of == nil {
		b.of = map[bodyKey]body{}
	}
	b.of[key] = one
	b.bytes += cap(one.list)
	for other, o := range b.of { // unordered: any of them makes room
		if b.bytes <= mostBodies {
			break
		}
		delete(b.of, other)
		b.bytes -= cap(o.list)
	}
}
