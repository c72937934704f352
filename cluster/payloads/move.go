package payloads

import (
	"context"
	"errors"
	"fmt"
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
	if err := s.write(list); err != nil {
		s.restore(list)
		if s.counted.failures.Add(1) == 1 {
			s.opts.Log.Warn("payloads stay in memory: they can't be written to the disk", "error", err)
		}
		return 0, err
	}
	return len(list), nil
}

// errDamaged says that a payload on the disk can't be read.
var errDamaged = errors.New("a payload is damaged")

// write appends payloads to the segment that is written to, and lets go of their bytes in memory.
func (s *Store) write(list []*Body) error {
	g, err := s.segments.writable(s.dir, s.opts.size)
	if err != nil {
		return err
	}
	var b []byte
	for _, p := range list {
		bytes, whole := p.whole()
		if !whole {
			return errDamaged // its readers get it from another node
		}
		p.settle(bytes)
		b = append(b, bytes...)
	}
	if _, err := g.file.WriteAt(b, g.size); err != nil {
		return fmt.Errorf("write payloads: %w", err)
	}
	for _, p := range list {
		p.at.Store(uint64(at(g.no, g.size)))
		p.memory.Store(nil)
		g.size += int64(p.n)
		s.segments.bytes.Add(int64(p.n))
		g.bodies = append(g.bodies, weak.Make(p))
	}
	s.counted.written.Add(int64(len(b)))
	return nil
}

// compact removes segments that nothing is alive of, and copies what is alive of those that are mostly dead. It looks at some
// segments, and resumes after them the next time.
func (s *Store) compact() {
	s.moving.Lock()
	defer s.moving.Unlock()
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
		if bytes > g.size/2 {
			continue
		}
		if err := s.empty(g, list); err != nil {
			g.notBefore = time.Now().Add(retryAfter)
			s.counted.failures.Add(1)
			s.opts.Log.Warn("a segment of payloads can't be copied", "file", g.file.Name(), "error", err)
		}
	}
}

// empty copies what is alive of a segment to another, and removes it.
func (s *Store) empty(g *segment, list []*Body) error {
	if s.segments.current == g {
		s.segments.current = nil
	}
	for len(list) > 0 {
		n, bytes := 0, 0
		for n < len(list) && bytes < writeSize {
			bytes += list[n].Len()
			n++
		}
		if err := s.write(list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
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
	for s.opts.Fetch != nil && ctx.Err() == nil {
		for _, b := range s.opts.Fetch(ctx, []payload.Digest{p.digest}) {
			if payload.DigestOf(b) == p.digest {
				s.counted.fetched.Add(1)
				p.memory.Store(&b)
				s.add(p)
				return
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	if s.opts.Fatal != nil {
		s.opts.Fatal(fmt.Errorf("a payload of %d bytes is lost: %w", p.n, why))
	}
	select {} // the node ends; to go on would be to differ from the others
}

// Find returns the payloads of some digests that are whole here: what another node's Fetch asks for. It looks at every payload,
// because digests have no index: that is for a disk that fails, which is seldom.
func (s *Store) Find(want []payload.Digest) (found [][]byte) {
	left := make(map[payload.Digest]bool, len(want))
	for _, d := range want {
		left[d] = true
	}
	for _, w := range s.everything() {
		p := w.Value()
		if p == nil || len(left) == 0 || !left[p.Digest()] {
			continue
		}
		if b, whole := p.whole(); whole {
			found = append(found, b)
			delete(left, p.Digest())
		}
	}
	return found
}

// everything returns all payloads, in memory and on the disk.
func (s *Store) everything() (all []weak.Pointer[Body]) {
	s.mu.Lock()
	for _, y := range s.young {
		all = append(all, y.of)
	}
	s.mu.Unlock()
	s.moving.Lock()
	defer s.moving.Unlock()
	for _, g := range s.segments.after(0) {
		all = append(all, g.bodies...)
	}
	return all
}

// whole does what Bytes does without asking other nodes; ok is false if the bytes can't be read.
func (bo *Body) whole() ([]byte, bool) {
	if b := bo.memory.Load(); b != nil {
		return *b, true
	}
	b, err := bo.s.segments.read(place(bo.at.Load()), int(bo.n))
	return b, err == nil && payload.DigestOf(b) == bo.digest
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
