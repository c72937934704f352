package keyspace

import (
	"strings"

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
func (m *Members) Size() int64 { return m.size }

// Clone copies the set in constant time, or up to 128 members one by one.
func (m *Members) Clone() Container { return &Members{members: m.members.clone(), size: m.size} }

// Encode writes the members.
func (m *Members) Encode(w *wire.Writer) { m.members.encode(w, func(struct{}) {}) }

func decodeSet(r *wire.Reader) (Container, bool) {
	s := NewMembers()
	var ok bool
	s.members, ok = decodeTable(r, func(member string) (string, struct{}) { return strings.Clone(member), struct{}{} })
	s.All(func(member string) bool {
		s.size += memberCost + int64(len(member))
		return true
	})
	return s, ok
}

func (m *Members) elements() int { return m.Len() }

// Len is the number of members.
func (m *Members) Len() int {
	if m == nil {
		return 0
	}
	return m.members.len()
}

// Has reports whether member is in the set.
func (m *Members) Has(member string) bool {
	if m == nil {
		return false
	}
	_, ok := m.members.get(member)
	return ok
}

// Add puts a copy of member in and reports whether it is new.
func (m *Members) Add(member string) bool {
	if _, _, had := m.members.slot(member); had {
		return false
	}
	m.size += memberCost + int64(len(member))
	return true
}

// Delete takes member out and reports whether it was in.
func (m *Members) Delete(member string) bool {
	if _, had := m.members.remove(member); !had {
		return false
	}
	m.size -= memberCost + int64(len(member))
	return true
}

// At is the member with i others before it in the set's order; 0 <= i < Len.
func (m *Members) At(i int) string {
	member, _ := m.members.at(i)
	return member
}

// Pop takes a member out that e's generator draws; the set is not empty.
func (m *Members) Pop(e *env.Env) string {
	member := m.At(e.IntN(m.Len()))
	m.Delete(member)
	return member
}

// All calls f for every member in order until it returns false.
func (m *Members) All(f func(member string) bool) {
	if m != nil {
		m.members.all(func(member string, _ struct{}) bool { return f(member) })
	}
}

// Scan calls f for members from cursor on until it has passed count of them, and gives
// the cursor to go on at, 0 at the end. Up to 64 members are one page.
func (m *Members) Scan(cursor uint64, count int, f func(member string)) (next uint64) {
	return m.members.scan(cursor, count, func(member string, _ struct{}) { f(member) })
}
