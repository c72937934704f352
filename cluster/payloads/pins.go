package payloads

import (
	"slices"
	"sync"
)

// pins say which snapshots there are, and are under way. Each has a number, in the order in which they began. A segment may be
// removed when all snapshots began after nothing in memory referred to it any more: then none of them can name what is in it.
type pins struct {
	snapshots func() ([]string, error)

	mu   sync.Mutex
	last uint64
	all  []*Pin
}

// Pin keeps the payloads that a snapshot names. It begins before the state is forked, or before another node's snapshot is
// received.
type Pin struct {
	of *pins
	no uint64
	// settled: the snapshot is on the disk, or failed. The pin goes when none of the snapshots is left that were there then.
	settled bool
	waits   []string // nil if they are not known yet
}

// begin makes the pin of the snapshots that a start finds.
func (pi *pins) begin(snapshots func() ([]string, error)) error {
	if pi.snapshots = snapshots; snapshots == nil {
		return nil
	}
	names, err := snapshots()
	pi.all = []*Pin{{of: pi, settled: true, waits: append([]string{}, names...)}}
	return err
}

// Pin keeps from now on every payload that is in a segment and that something in memory refers to, and what comes to the
// segments later, until it is settled and the snapshots are gone that are there then.
func (s *Store) Pin() *Pin {
	pi := &s.pins
	pi.mu.Lock()
	defer pi.mu.Unlock()
	pi.last++
	p := &Pin{of: pi, no: pi.last}
	if pi.snapshots != nil {
		pi.all = append(pi.all, p)
	}
	return p
}

// Settle says that the snapshot is on the disk, or that there will be none. It may be called again.
func (p *Pin) Settle() {
	if p.of.snapshots == nil {
		return
	}
	names, err := p.of.snapshots()
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.settled {
		return
	}
	p.settled = true
	if err == nil {
		p.waits = append([]string{}, names...)
	}
}

// newest returns the number of the newest pin.
func (pi *pins) newest() uint64 {
	pi.mu.Lock()
	defer pi.mu.Unlock()
	return pi.last
}

// look removes the pins of snapshots that are gone, and returns a function that reports whether a segment may be removed that
// was seen to be empty when the newest pin had the number emptied.
func (pi *pins) look() (removable func(emptied uint64) bool) {
	if pi.snapshots == nil {
		return func(uint64) bool { return true }
	}
	pi.mu.Lock()
	before := slices.Clone(pi.all)
	pi.mu.Unlock()
	names, err := pi.snapshots()
	if err != nil {
		return func(uint64) bool { return false }
	}
	pi.mu.Lock()
	defer pi.mu.Unlock()
	oldest := uint64(1<<64 - 1)
	pi.all = slices.DeleteFunc(pi.all, func(p *Pin) bool {
		if p.settled && slices.Contains(before, p) {
			if p.waits == nil {
				p.waits = append([]string{}, names...)
			}
			p.waits = slices.DeleteFunc(p.waits, func(n string) bool { return !slices.Contains(names, n) })
			if len(p.waits) == 0 {
				return true
			}
		}
		oldest = min(oldest, p.no)
		return false
	})
	return func(emptied uint64) bool { return emptied < oldest }
}
