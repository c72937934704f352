package payloads

import (
	"errors"
	"fmt"
	"os"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// batch is one write of payloads to the end of a segment. The holder of Store.moving makes it.
type batch struct {
	s    *Store
	g    *segment // nil before the first payload
	err  error    // why there is none
	b    []byte
	own  map[payload.Digest]place // of the batch
	list []item
	ends []int // of the items, in b
}

// batch begins a write.
func (s *Store) batch() *batch { return &batch{s: s, own: map[payload.Digest]place{}} }

// writable returns the segment to write to: a new one if the one before is full.
func (s *Store) writable() (*segment, error) {
	if g := s.segments.current; g != nil && g.size < s.opts.size {
		return g, nil
	}
	if err := s.completeCurrent(); err != nil {
		return nil, err
	}
	g, err := s.segments.create(s.dir)
	if err != nil {
		return nil, fmt.Errorf("write payloads: %w", err)
	}
	s.counted.written.Add(g.size)
	return g, nil
}

// put adds a payload, and returns the place that it will have if flush succeeds.
func (ba *batch) put(b []byte, d payload.Digest) place {
	if p, has := ba.own[d]; has {
		return p
	}
	if ba.g == nil && ba.err == nil {
		ba.g, ba.err = ba.s.writable()
	}
	if ba.err != nil {
		return nowhere
	}
	it := item{position: uint32(ba.g.size + int64(len(ba.b))), length: uint32(len(b)), digest: d}
	h := head{length: len(b), digest: d}
	stored, packed := ba.s.packer.pack(b)
	h.stored, h.packed = len(stored), packed
	ba.b = append(h.append(ba.b, ba.g.salt), stored...)
	ba.list, ba.ends = append(ba.list, it), append(ba.ends, len(ba.b))
	ba.own[d] = at(ba.g.no, it.position)
	return ba.own[d]
}

// flush writes the batch. After an error none of its places means anything.
func (ba *batch) flush() error {
	if ba.err != nil || len(ba.b) == 0 {
		return ba.err
	}
	g := ba.g
	if _, err := g.file.WriteAt(ba.b, g.size); err != nil {
		return fmt.Errorf("write payloads: %w", err)
	}
	begin := 0
	for i, it := range ba.list {
		g.add(it, ba.ends[i]-begin)
		begin = ba.ends[i]
		ba.s.index.set(&it.digest, at(g.no, it.position))
	}
	ba.s.segments.bytes.Add(int64(len(ba.b)))
	ba.s.counted.written.Add(int64(len(ba.b)))
	return nil
}

// completeCurrent ends the segment that is written to, if there is one.
func (s *Store) completeCurrent() error {
	g := s.segments.current
	if g == nil {
		return nil
	}
	if err := s.complete(g); err != nil {
		return err
	}
	s.segments.current = nil
	return nil
}

// complete syncs a segment and appends its list. What the list names is on the disk before the list is.
func (s *Store) complete(g *segment) error {
	if err := s.sync(g, g.size); err != nil {
		return err
	}
	list := appendList(nil, g.table.items, g.salt) // only the holder of moving changes them
	if _, err := g.file.WriteAt(list, g.size); err != nil {
		return fmt.Errorf("complete a segment of payloads: %w", err)
	}
	if err := g.file.Truncate(g.size + int64(len(list))); err != nil {
		return fmt.Errorf("complete a segment of payloads: %w", err)
	}
	if err := s.syncFile(g); err != nil {
		return err
	}
	g.table.completed(g.size)
	return nil
}

// sync makes the first size bytes of a segment durable.
func (s *Store) sync(g *segment, size int64) error {
	if g.synced >= size {
		return nil
	}
	if err := s.syncFile(g); err != nil {
		return err
	}
	g.synced = size
	return nil
}

// syncFile syncs the file of a segment. The node ends if that fails: the page cache may then show what the disk does not have.
func (s *Store) syncFile(g *segment) error {
	err := s.opts.sync(g.file)
	if err == nil || errors.Is(err, os.ErrClosed) { // it was removed meanwhile: nothing of it is needed
		return nil
	}
	err = fmt.Errorf("sync a segment of payloads: %w", err)
	if s.opts.Fatal != nil {
		s.opts.Fatal(err)
	}
	return err
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync the directory of payloads: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync the directory of payloads: %w", err)
	}
	return nil
}

// Sync makes everything durable that is in segments. It returns after all that Place has written before.
func (s *Store) Sync() error {
	s.moving.Lock()
	type part struct {
		g    *segment
		size int64
	}
	var list []part
	for _, g := range s.segments.after(0) {
		if g.synced < g.size {
			list = append(list, part{g, g.size})
		}
	}
	s.moving.Unlock()
	for _, p := range list {
		if err := s.syncFile(p.g); err != nil {
			return err
		}
		s.moving.Lock()
		p.g.synced = max(p.g.synced, p.size)
		s.moving.Unlock()
	}
	created := s.segments.created.Load()
	if created == s.segments.named.Load() {
		return nil
	}
	if err := s.opts.syncDir(s.dir); err != nil {
		if s.opts.Fatal != nil {
			s.opts.Fatal(err)
		}
		return err
	}
	s.segments.named.Store(created)
	return nil
}
