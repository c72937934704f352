package payloads

import (
	"hash/maphash"
	"sync"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// index finds the places of payloads by their digests. It has a hash of each digest, of 64 bits with a seed of this process: two
// digests with the same hash are as good as impossible, and harmless, because readers compare the digest.
type index struct {
	mu   sync.RWMutex
	seed maphash.Seed
	at   map[uint64]place
	dead int // entries of segments that are gone
}

func newIndex() *index { return &index{seed: maphash.MakeSeed(), at: map[uint64]place{}} }

func (i *index) key(d *payload.Digest) uint64 { return maphash.Bytes(i.seed, d[:]) }

// set says that the payload is at a place.
func (i *index) set(d *payload.Digest, p place) {
	k := i.key(d)
	i.mu.Lock()
	i.at[k] = p
	i.mu.Unlock()
}

// get returns the place of a payload, which may be in a segment that is gone; nowhere if it has none.
func (i *index) get(d *payload.Digest) place {
	k := i.key(d)
	i.mu.RLock()
	defer i.mu.RUnlock()
	if p, ok := i.at[k]; ok {
		return p
	}
	return nowhere
}

// leastDead is the number of entries from which on it is worth while to make the map anew.
const leastDead = 10_000

// dropped counts n entries of a segment that is gone. When they are as many as the others, all of those are removed.
func (i *index) dropped(n int, there func(segment uint32) bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.dead += n; i.dead < leastDead || i.dead < len(i.at)/2 {
		return
	}
	alive := make(map[uint64]place, len(i.at)/2)
	for k, p := range i.at {
		if there(p.segment()) {
			alive[k] = p
		}
	}
	i.at, i.dead = alive, 0
}
