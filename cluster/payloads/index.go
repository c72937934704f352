package payloads

import (
	"hash/maphash"
	"sync"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// index finds the places of payloads by their digests. It has a hash of each digest, of 64 bits with a seed of this process: two
// digests with the same hash are as good as impossible, and harmless, because readers compare the digest. It is cut into parts, which
// grow one at a time, and by little: a map would have a third of its room to spare.
type index struct {
	mu    sync.RWMutex
	seed  maphash.Seed
	parts [indexParts]indexPart
	count int
	dead  int // entries of segments that are gone
}

// indexParts is the number of parts, which the upper bits of a hash tell apart.
const indexParts = 1 << 10

// indexPart is a table with open addressing. A hash of 0 stands for a free place.
type indexPart struct {
	entries []indexEntry
	count   int
}

type indexEntry struct {
	hash uint64
	at   place
}

func newIndex() *index { return &index{seed: maphash.MakeSeed()} }

func (i *index) key(d *payload.Digest) uint64 { return max(1, maphash.Bytes(i.seed, d[:])) }

func (i *index) part(hash uint64) *indexPart { return &i.parts[hash>>54] }

// find returns the entry of a hash, or the free one where it is to be; nil if there is no room at all.
func (ip *indexPart) find(hash uint64) *indexEntry {
	n := uint64(len(ip.entries))
	if n == 0 {
		return nil
	}
	for at := (hash & (1<<32 - 1)) * n >> 32; ; {
		if e := &ip.entries[at]; e.hash == hash || e.hash == 0 {
			return e
		}
		if at++; at == n {
			at = 0
		}
	}
}

// grow gives a part room for one more entry, so that a tenth of it is free.
func (ip *indexPart) grow() {
	if (ip.count+1)*10 <= len(ip.entries)*9 {
		return
	}
	before := ip.entries
	ip.entries = make([]indexEntry, max(8, len(before)+len(before)/4))
	for _, e := range before {
		if e.hash != 0 {
			*ip.find(e.hash) = e
		}
	}
}

// set says that the payload is at a place.
func (i *index) set(d *payload.Digest, p place) {
	k := i.key(d)
	i.mu.Lock()
	defer i.mu.Unlock()
	ip := i.part(k)
	ip.grow()
	e := ip.find(k)
	if e.hash == 0 {
		ip.count, i.count = ip.count+1, i.count+1
	}
	*e = indexEntry{k, p}
}

// get returns the place of a payload, which may be in a segment that is gone; nowhere if it has none.
func (i *index) get(d *payload.Digest) place {
	k := i.key(d)
	i.mu.RLock()
	defer i.mu.RUnlock()
	if e := i.part(k).find(k); e != nil && e.hash == k {
		return e.at
	}
	return nowhere
}

// leastDead is the number of entries from which on it is worth while to make the index anew.
const leastDead = 10_000

// dropped counts n entries of a segment that is gone. When they are as many as the others, all of those are removed.
func (i *index) dropped(n int, there func(segment uint32) bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.dead += n; i.dead < leastDead || i.dead < i.count/2 {
		return
	}
	i.count, i.dead = 0, 0
	for j := range i.parts {
		before := i.parts[j].entries
		i.parts[j] = indexPart{}
		for _, e := range before {
			if e.hash != 0 && there(e.at.segment()) {
				i.parts[j].grow()
				*i.parts[j].find(e.hash) = e
				i.parts[j].count++
			}
		}
		i.count += i.parts[j].count
	}
}
