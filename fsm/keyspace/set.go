package keyspace

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// memberCost is the logical overhead of a member in bytes.
const memberCost = 48

// Members is the container of a set. A member given to a method may be an alias: what
// is kept is copied. Nil Members are the empty set, for reading.
type Members struct {
	Owned
	members table[struct{}]
	size    int64
}

// NewMembers is an empty set.
func NewMembers() *Members { return &Members{} }

// MembersOf is a set of members, each of which is named once. It keeps them as they are, and may change their order in the slice.
func MembersOf(members []string) *Members {
	s := &Members{members: tableOf[struct{}](members)}
	for _, m := range members {
		s.size += memberCost + int64(len(m))
	}
	return s
}

// Type is Set.
func (*Members) Type() Type { return Set }

// Size is the logical size in bytes.
func (s *Members) Size() int64 { return s.size }

// Clone copies the set in constant time, or up to 64 members one by one.
func (s *Members) Clone() Container { return &Members{members: s.members.clone(), size: s.size} }

// Encode writes the members.
func (s *Members) Encode(w *wire.Writer) { s.members.encode(w, func(struct{}) {}) }

func decodeSet(r *wire.Reader) (Container, bool) {
	s := NewMembers()
	var ok bool
	s.members, ok = decodeTable(r, func() struct{} { return struct{}{} })
	s.All(func(member string) bool {
		s.size += memberCost + int64(len(member))
		return true
	})
	return s, ok
}

// Len is the number of members.
func (s *Members) Len() int {
	if s == nil {
		return 0
	}
	return s.members.len()
}

// Has reports whether member is in the set.
func (s *Members) Has(member string) bool {
	if s == nil {
		return false
	}
	_, ok := s.members.get(member)
	return ok
}

// Add puts a copy of member in and reports whether it is new.
func (s *Members) Add(member string) bool {
	if _, _, had := s.members.slot(member); had {
		return false
	}
	s.size += memberCost + int64(len(member))
	return true
}

// Delete takes member out and reports whether it was in.
func (s *Members) Delete(member string) bool {
	if _, had := s.members.remove(member); !had {
		return false
	}
	s.size -= memberCost + int64(len(member))
	return true
}

// At is the member with i others before it in the set's order; 0 <= i < Len.
func (s *Members) At(i int) string {
	member, _ := s.members.at(i)
	return member
}

// Pop takes a member out that e's generator draws; the set is not empty.
func (s *Members) Pop(e *env.Env) string {
	member := s.At(e.IntN(s.Len()))
	s.Delete(member)
	return member
}

// All calls f for every member in order until it returns false.
func (s *Members) All(f func(member string) bool) {
	if s != nil {
		s.members.all(func(member string, _ struct{}) bool { return f(member) })
	}
}

// Scan calls f for members from cursor on until it has passed count of them, and gives
// the cursor to go on at, 0 at the end. Up to 64 members are one page.
func (s *Members) Scan(cursor uint64, count int, f func(member string)) (next uint64) {
	return s.members.scan(cursor, count, func(member string, _ struct{}) { f(member) })
}
