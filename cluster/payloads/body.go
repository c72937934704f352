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
func (p *Body) Len() int { return int(p.n) }

// Bytes returns its bytes: see payload.Kept.
func (p *Body) Bytes() []byte {
	for {
		if b := p.memory.Load(); b != nil {
			return *b
		}
		at := p.at.Load()
		b, err := p.s.segments.read(place(at), int(p.n))
		if err == nil && payload.DigestOf(b) == p.digest {
			p.s.counted.read.Add(1)
			return b
		}
		if p.memory.Load() == nil && p.at.Load() == at { // otherwise it was moved meanwhile
			p.s.recover(p, place(at), err)
		}
	}
}

// Digest returns the digest of the payload's bytes. It is computed before they leave memory.
func (p *Body) Digest() payload.Digest {
	for {
		if p.known.Load() {
			return p.digest
		}
		if b := p.memory.Load(); b != nil {
			return payload.DigestOf(*b)
		}
	}
}

// settle sets the digest; the caller is the one that writes it to the disk.
func (p *Body) settle(b []byte) {
	if !p.known.Load() {
		p.digest = payload.DigestOf(b)
		p.known.Store(true)
	}
}
