package workflow

import (
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/sealed"
)

// Untrimmed counts the work that trim has left, which no snapshot holds: 0 after each entry.
func (s *Store) Untrimmed() int { return s.trimmable }

// InTrees counts the runs that are not in volumes.
func (s *Store) InTrees() int { return s.runs.Len() }

// Damaged is a reader of a store in which harm has changed the records of the oldest volume, which a crafted backup may do.
func (s *Store) Damaged(harm func([]byte) []byte) *Store {
	f := s.Fork()
	v := *f.past.Oldest()
	v.Records = payload.New(harm(append([]byte(nil), v.Records.Bytes()...)), nil)
	for f.past.Len() > 0 {
		f.past.DropOldest()
	}
	f.past.Add(&v)
	return f.Thawing()
}

// VolumesInOrder reports whether the volumes go in the order of the ends of their newest runs.
func (s *Store) VolumesInOrder() bool {
	last, ordered := int64(0), true
	s.past.Ascend(0, func(v *sealed.Volume) bool {
		ordered = ordered && v.To >= last
		last = v.To
		return true
	})
	return ordered
}
