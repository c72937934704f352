package payloads

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"weak"

	"github.com/trireme-dev/trireme/fsm/payload"
)

const (
	// writeSize is about the size of one write, in bytes.
	writeSize = 1 << 20
	// fetchTime bounds the time for which other nodes are asked for a lost payload before the node ends.
	fetchTime = 10 * time.Second
	// lookedAt is about the number of payloads that compact looks at each time.
	lookedAt = 200_000
	// retryAfter is the wait before a segment that could not be copied is tried again.
	retryAfter = time.Minute
)

// move writes payloads in memory to the disk until none has to go there; with all, every payload has to.
func (s *Store) move(all bool) error {
	for {
		if n, err := s.moveNext(all); n == 0 || err != nil {
			return err
		}
	}
}

// MoveAll writes all payloads in memory to the disk, whatever their age.
func (s *Store) MoveAll() error { return s.move(true) }

// moveNext writes the payloads that are next, about writeSize bytes, and returns their number. Callers that bring more than
// memory has room for call it, too.
func (s *Store) moveNext(all bool) (int, error) {
	s.moving.Lock()
	defer s.moving.Unlock()
	list := s.next(all)
	if len(list) == 0 {
		return 0, nil
	}
	if err := s.write(list, nil); err != nil {
		s.restore(list)
		if s.counted.failures.Add(1) == 1 {
			s.opts.Log.Warn("payloads stay in memory: they can't be written to the disk", "error", err)
		}
		return 0, err
	}
	return len(list), nil
}

// write gives payloads places outside the segment from, which is nil or is being emptied, and lets go of their bytes in memory.
// What no segment has yet is appended to the one that is written to.
func (s *Store) write(list []*Body, from *segment) error {
	w := s.batch()
	places := make([]place, len(list))
	for i, p := range list {
		bytes, whole := p.whole()
		if places[i] = nowhere; !whole {
			continue
		}
		p.settle(bytes)
		if places[i] = s.found(&p.digest, int(p.n), from); places[i] == nowhere {
			places[i] = w.put(bytes, p.digest)
		}
	}
	if err := w.flush(); err != nil {
		return err
	}
	for i, p := range list {
		if places[i] == nowhere {
			s.lose(p)
			continue
		}
		s.segments.get(places[i].segment()).hold(p)
		p.at.Store(uint64(places[i]))
		p.memory.Store(nil)
	}
	return nil
}

// lose has a payload that can't be read be fetched by Run, and by who reads it.
func (s *Store) lose(p *Body) {
	s.counted.damaged.Add(1)
	p.at.Store(uint64(nowhere))
	s.mu.Lock()
	s.missing = append(s.missing, weak.Make(p))
	s.mu.Unlock()
}

// found returns the place of a payload that can be read there, outside the segment from; nowhere if there is none.
func (s *Store) found(d *payload.Digest, n int, from *segment) place {
	p := s.index.get(d)
	if p == nowhere || from != nil && p.segment() == from.no {
		return nowhere
	}
	if g := s.segments.get(p.segment()); g != nil {
		if sh := g.shelf.Value(); sh != nil && sh.Leaving() {
			return nowhere
		}
	}
	if _, err := s.segments.read(p, n, d); err != nil {
		return nowhere
	}
	return p
}

// Place writes those of the payloads that are in memory to segments. It fails if one is missing.
func (s *Store) Place(list []payload.Kept) error {
	var young []*Body
	for _, k := range list {
		p, ok := k.(*Body)
		if sp, cold := k.(payload.Spot); cold {
			f, mine := sp.File().(*shelfFile)
			if !mine || f.s != s {
				return errForeign
			}
			if p, ok = f.g.mendedAt(sp.Position), true; p == nil {
				continue // it is in a segment
			}
		}
		switch {
		case !ok || p.s != s:
			return errForeign
		case !p.onDisk():
			young = append(young, p)
		case place(p.at.Load()) == nowhere:
			return errMissing
		}
	}
	if len(young) == 0 {
		return nil
	}
	s.moving.Lock()
	defer s.moving.Unlock()
	young = slices.DeleteFunc(young, (*Body).onDisk) // moved meanwhile
	return s.writeAll(young, nil)
}

var (
	// errForeign: a payload is another store's.
	errForeign = errors.New("a payload belongs to another store")
	// errMissing: a snapshot can't name what this node does not have.
	errMissing = errors.New("a payload is missing: other nodes have not sent it yet")
)

// writeAll is write in steps of about writeSize bytes.
func (s *Store) writeAll(list []*Body, from *segment) error {
	for len(list) > 0 {
		n, bytes := 0, 0
		for n < len(list) && bytes < writeSize {
			bytes += list[n].Len()
			n++
		}
		if err := s.write(list[:n], from); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// compact removes segments that nothing is alive of, and copies what is alive of those that are mostly dead. It looks at some
// segments, and resumes after them the next time.
func (s *Store) compact() {
	s.moving.Lock()
	defer s.moving.Unlock()
	removable := s.pins.look()
	looked := 0
	for _, g := range s.segments.after(s.looked) {
		if looked += len(g.bodies) + 1; looked > lookedAt && looked > len(g.bodies)+1 {
			return
		}
		s.looked = g.no
		if g == s.segments.current && g.size < s.opts.size || time.Now().Before(g.notBefore) {
			continue
		}
		list, bytes := g.live()
		shelf, cold := s.shelved(g)
		if bytes+cold > g.raw/2 {
			continue
		}
		if shelf != nil {
			shelf.Leave() // what moves cold strings is the walk over the state
		}
		if err := s.empty(g, list, removable); err != nil {
			g.notBefore = time.Now().Add(retryAfter)
			s.counted.failures.Add(1)
			s.opts.Log.Warn("a segment of payloads can't be copied", "file", g.file.Name(), "error", err)
		}
	}
}

// empty copies what is alive of a segment to another, and removes it if no snapshot can need it.
func (s *Store) empty(g *segment, list []*Body, removable func(emptied uint64) bool) error {
	if s.segments.current == g {
		if err := s.completeCurrent(); err != nil {
			return err
		}
	}
	if err := s.writeAll(list, g); err != nil {
		return err
	}
	if g.bodies = nil; g.shelf.Value() != nil {
		return nil
	}
	if !g.empty {
		g.empty, g.emptied = true, s.pins.newest()
	}
	if !removable(g.emptied) {
		return nil
	}
	s.index.dropped(g.count, func(no uint32) bool { return no != g.no && s.segments.there(no) })
	return s.segments.drop(g)
}

// recover gets a payload whose bytes on the disk are damaged, or gone, from another node, and puts it back in memory. It does
// not return if none has it.
func (s *Store) recover(p *Body, from place, why error) {
	s.counted.damaged.Add(1)
	if why == nil {
		why = errDamaged
	}
	s.opts.Log.Warn("a payload on the disk is damaged: another node is asked for it", "segment", from.segment(), "position", from.position(), "error", why)
	ctx, cancel := context.WithTimeout(context.Background(), s.opts.lost)
	defer cancel()
	for s.opts.Fetch != nil && ctx.Err() == nil && p.memory.Load() == nil {
		for _, b := range s.opts.Fetch(ctx, []payload.Digest{p.digest}) {
			if payload.DigestOf(b) == p.digest {
				s.counted.fetched.Add(1)
				p.stay(b)
				return
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	s.fail(fmt.Errorf("a payload of %d bytes is lost: %w", p.n, why))
}

// fail ends the node: to go on would be to differ from the others. It does not return.
func (s *Store) fail(why error) {
	if s.opts.Fatal != nil {
		s.opts.Fatal(why)
	}
	select {}
}

// Find returns the payloads of some digests that are whole here, until they have most bytes or more: what another node's Fetch
// asks for.
func (s *Store) Find(want []payload.Digest, most int) (found [][]byte) {
	left, bytes := map[payload.Digest]bool{}, 0
	for i := range want {
		if bytes >= most {
			return found
		}
		b, err := s.segments.at(s.index.get(&want[i]), &want[i])
		if err != nil {
			left[want[i]] = true
			continue
		}
		found, bytes = append(found, b), bytes+len(b)
	}
	if len(left) == 0 {
		return found
	}
	s.mu.Lock()
	list := slices.Clone(s.young)
	s.mu.Unlock()
	for _, y := range list {
		p := y.of.Value()
		if p == nil || p.copied.Load() || bytes >= most || len(left) == 0 || !left[p.Digest()] {
			continue
		}
		if b, whole := p.whole(); whole {
			found, bytes = append(found, b), bytes+len(b)
			delete(left, p.digest)
		}
	}
	return found
}

// whole does what Bytes does without asking other nodes; ok is false if the bytes can't be read.
func (bo *Body) whole() ([]byte, bool) {
	if b := bo.memory.Load(); b != nil {
		return *b, true
	}
	b, err := bo.s.segments.read(place(bo.at.Load()), int(bo.n), &bo.digest)
	return b, err == nil
}

// Stats are figures for metrics.
type Stats struct {
	// Memory and Disk are bytes in memory and in segments, Segments the number of files.
	Memory, Disk int64
	Segments     int
	// Written and the rest count since the start: bytes written, payloads read, damaged and fetched, and writes that failed.
	Written, Read, Damaged, Fetched, Failures int64
}

// Stats returns the figures.
func (s *Store) Stats() (n Stats) {
	s.mu.Lock()
	n.Memory = s.youngBytes
	s.mu.Unlock()
	n.Segments, n.Disk = int(s.segments.files.Load()), s.segments.bytes.Load()
	c := &s.counted
	n.Written, n.Read, n.Damaged, n.Fetched, n.Failures = c.written.Load(), c.read.Load(), c.damaged.Load(), c.fetched.Load(), c.failures.Load()
	return n
}
