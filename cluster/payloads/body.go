package payloads

import (
	"sync/atomic"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// Body is a payload of a Store: in memory, or at a place on the disk.
type Body struct {
	s *Store
	// memory is its bytes, nil once they are on the disk.
	memory atomic.Pointer[[]byte]
	// at is its place on the disk; it means nothing while memory is set.
	at     atomic.Uint64
	n      int32
	known  atomic.Bool // digest is set
	digest payload.Digest
}

// Len returns the number of its bytes.
func (bo *Body) Len() int { return int(bo.n) }

// Bytes returns its bytes: see payload.Kept.
func (bo *Body) Bytes() []byte {
	for {
		if b := bo.memory.Load(); b != nil {
			return *b
		}
		at := bo.at.Load()
		b, err := bo.s.segments.read(place(at), int(bo.n))
		if err == nil && payload.DigestOf(b) == bo.digest {
			bo.s.counted.read.Add(1)
			return b
		}
		if bo.memory.Load() == nil && bo.at.Load() == at { // otherwise it was moved meanwhile
			bo.s.recover(bo, place(at), err)
		}
	}
}

// Digest returns the digest of the payload's bytes. It is computed before they leave memory.
func (bo *Body) Digest() payload.Digest {
	for {
		if bo.known.Load() {
			return bo.digest
		}
		if b := bo.memory.Load(); b != nil {
			return payload.DigestOf(*b)
		}
	}
}

// settle sets the digest; the caller is the one that writes it to the disk.
func (bo *Body) settle(b []byte) {
	if !bo.known.Load() {
		bo.digest = payload.DigestOf(b)
		bo.known.Store(true)
	}
}
