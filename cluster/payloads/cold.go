package payloads

import (
	"errors"
	"fmt"
	"weak"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// errLost says that neither a payload nor its digest can be read.
var errLost = errors.New("a payload is lost, and so is its digest")

// Put writes byte strings to segments, which do not become young payloads before. An error leaves nothing behind that is needed.
func (s *Store) Put(list [][]byte) ([]payload.Cold, error) {
	put := make([]payload.Cold, 0, len(list))
	s.moving.Lock()
	defer s.moving.Unlock()
	for len(list) > 0 {
		n, bytes := 0, 0
		for n < len(list) && bytes < writeSize {
			bytes += len(list[n])
			n++
		}
		spots, err := s.putSome(list[:n])
		if err != nil {
			if s.counted.failures.Add(1) == 1 {
				s.opts.Log.Warn("values stay in memory: they can't be written to the disk", "error", err)
			}
			return nil, err
		}
		put, list = append(put, spots...), list[n:]
	}
	return put, nil
}

// putSome is Put for one write. The caller holds moving.
func (s *Store) putSome(list [][]byte) ([]payload.Cold, error) {
	w := s.batch()
	places, digests := make([]place, len(list)), make([]payload.Digest, len(list))
	for i, b := range list {
		digests[i] = payload.DigestOf(b)
		if places[i] = s.found(&digests[i], len(b), nil); places[i] == nowhere {
			places[i] = w.put(b, digests[i])
		}
	}
	if err := w.flush(); err != nil {
		return nil, err
	}
	put := make([]payload.Cold, len(list))
	for i, b := range list {
		put[i] = s.spot(places[i], len(b), &digests[i])
	}
	return put, nil
}

// spot returns the handle of a cold string at a place. The caller holds moving.
func (s *Store) spot(p place, n int, d *payload.Digest) payload.Spot {
	return payload.Spot{Shelf: s.shelf(s.segments.get(p.segment())), Position: uint32(p), Length: uint32(n), Sum: payload.SpotSum(d)}
}

// shelf returns the Shelf of a segment, to which something is about to refer. The caller holds moving.
func (s *Store) shelf(g *segment) *payload.Shelf {
	g.empty, g.born = false, s.walked.Load()+1
	if sh := g.shelf.Value(); sh != nil {
		return sh
	}
	sh := payload.NewShelf(&shelfFile{s, g})
	g.shelf = weak.Make(sh)
	return sh
}

// Walked is told that a walk over the state has counted the cold strings of all segments: see payload.Walked.
func (s *Store) Walked(round uint64) { s.walked.Store(round) }

// shelved returns what is known of the cold strings in a segment: whether any is referred to, and the length in bytes of those that
// the last walk has found. It is all of the segment as long as no walk has begun after strings came to it.
func (s *Store) shelved(g *segment) (sh *payload.Shelf, bytes int64) {
	if sh = g.shelf.Value(); sh == nil {
		return nil, 0
	}
	if last := s.walked.Load(); last > g.born {
		return sh, sh.Counted(last)
	}
	return sh, g.raw
}

// shelfFile is a segment as its Shelf sees it.
type shelfFile struct {
	s *Store
	g *segment
}

func (sf *shelfFile) place(sp payload.Spot) place { return at(sf.g.no, sp.Position) }

// Bytes returns the bytes of a string: see payload.Kept.
func (sf *shelfFile) Bytes(sp payload.Spot) []byte {
	if p := sf.g.mendedAt(sp.Position); p != nil {
		return p.Bytes()
	}
	b, err := sf.g.read(sp)
	if err == nil {
		sf.s.counted.read.Add(1)
		return b
	}
	return sf.mend(sp, err).Bytes()
}

// Near returns the bytes if they are in memory: see payload.Cold.
func (sf *shelfFile) Near(sp payload.Spot) ([]byte, bool) {
	if p := sf.s.holds.get(sf.place(sp)); p != nil {
		return p.Near()
	}
	if p := sf.g.mendedAt(sp.Position); p != nil {
		return p.Near()
	}
	return nil, false
}

// Hold returns the bytes, and keeps a copy among the young payloads: see payload.Cold.
func (sf *shelfFile) Hold(sp payload.Spot) []byte {
	if b, ok := sf.Near(sp); ok {
		return b
	}
	b := sf.Bytes(sp)
	p := &Body{s: sf.s, n: int32(len(b))}
	p.at.Store(uint64(sf.place(sp)))
	p.copied.Store(true)
	p.memory.Store(&b)
	if sf.s.holds.add(sf.place(sp), p) {
		sf.s.add(p)
	}
	return b
}

// Digest returns the digest of a string: see payload.Kept.
func (sf *shelfFile) Digest(sp payload.Spot) payload.Digest {
	if p := sf.g.mendedAt(sp.Position); p != nil {
		return p.Digest()
	}
	if d, ok := sf.s.digestAt(sf.g, sp); ok {
		return d
	}
	if p := sf.s.holds.get(sf.place(sp)); p != nil {
		if d := p.Digest(); payload.SpotSum(&d) == sp.Sum {
			return d
		}
	}
	sf.s.fail(errLost)
	return payload.Digest{} // not reached
}

// mend gets a string that can't be read from another node, and keeps it for all that refer to it: as a payload of its own, to which the
// store gives another place. Everything else is moved out of the segment, too.
func (sf *shelfFile) mend(sp payload.Spot, why error) *Body {
	d, ok := sf.s.digestAt(sf.g, sp)
	if !ok {
		sf.s.fail(fmt.Errorf("%w: %w", errLost, why))
	}
	p := &Body{s: sf.s, n: int32(sp.Length), digest: d}
	p.known.Store(true)
	p.at.Store(uint64(nowhere))
	sf.s.recover(p, sf.place(sp), why)
	sf.g.table.mu.Lock()
	defer sf.g.table.mu.Unlock()
	if was := sf.g.table.mended[sp.Position]; was != nil {
		return was
	}
	if sf.g.table.mended == nil {
		sf.g.table.mended = map[uint32]*Body{}
	}
	sf.g.table.mended[sp.Position] = p
	sp.Shelf.Leave()
	return p
}

// Spot returns the handle of a payload as a cold string, once it has a place, and if the store is not busy: see payload.SpotOf.
func (bo *Body) Spot() (payload.Spot, bool) {
	if !bo.s.moving.TryLock() {
		return payload.Spot{}, false
	}
	defer bo.s.moving.Unlock()
	p := place(bo.at.Load())
	if !bo.known.Load() || !bo.onDisk() || p == nowhere || !bo.s.segments.there(p.segment()) {
		return payload.Spot{}, false
	}
	return bo.s.spot(p, int(bo.n), &bo.digest), true
}

// Near returns the bytes if they are in memory: see payload.Cold.
func (bo *Body) Near() ([]byte, bool) {
	if b := bo.memory.Load(); b != nil {
		return *b, true
	}
	return nil, false
}

// Hold returns the bytes, and keeps a copy of what is on the disk among the young payloads: see payload.Cold. The place of the
// payload stays what it is, so that it is not written again.
func (bo *Body) Hold() []byte {
	if b, ok := bo.Near(); ok {
		return b
	}
	b := bo.Bytes()
	bo.copied.Store(true)
	if bo.memory.CompareAndSwap(nil, &b) {
		bo.s.add(bo)
	}
	return b
}

// onDisk reports whether the payload's place has its bytes, which may be in memory too.
func (bo *Body) onDisk() bool { return bo.memory.Load() == nil || bo.copied.Load() }
