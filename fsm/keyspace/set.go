package keyspace

import (
	"strings"
	"unsafe"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// memberCost is the logical overhead of a member in bytes.
const memberCost = 48

// member is a member of a set.
type member string

func (m member) name() string { return string(m) }

// cutMember takes a member off a packed set.
func cutMember(record string) (name string, m member, rest string) {
	name, rest, _ = cutWord(record)
	return name, member(name), rest
}

// Members is the container of a set. A member given to a method may be an alias: what
// is kept is copied. Nil Members are the empty set, for reading.
type Members struct {
	Owned
	members table[member]
	size    int64
}

// NewMembers is an empty set.
func NewMembers() *Members { return &Members{} }

// MembersOf is a set of members, each of which is named once. It keeps them as they are, and the slice, whose order it may change.
func MembersOf(names []string) *Members {
	s := &Members{members: tableOf(unsafe.Slice((*member)(unsafe.SliceData(names)), len(names)))}
	for _, name := range names {
		s.size += memberCost + int64(len(name))
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
func (m *Members) Encode(w *wire.Writer) {
	m.members.encode(w, func(one member) { w.String(string(one)) })
}

func decodeSet(r *wire.Reader) (Container, bool) {
	s := NewMembers()
	var ok bool
	s.members, ok = decodeTable(r, func() member { return member(r.String()) })
	s.All(func(name string) bool {
		s.size += memberCost + int64(len(name))
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

// Has reports whether name is in the set.
func (m *Members) Has(name string) bool {
	if m == nil {
		return false
	}
	_, ok := m.members.get(name)
	return ok
}

// Add puts a copy of name in and reports whether it is new.
func (m *Members) Add(name string) bool {
	place, had := m.members.place(name)
	if had {
		return false
	}
	*place = member(strings.Clone(name))
	m.size += memberCost + int64(len(name))
	return true
}

// Delete takes name out and reports whether it was in.
func (m *Members) Delete(name string) bool {
	if _, had := m.members.remove(name); !had {
		return false
	}
	m.size -= memberCost + int64(len(name))
	return true
}

// At is the member with i others before it in the set's order; 0 <= i < Len.
func (m *Members) At(i int) string {
	return string(m.members.at(i))
}

// Pop takes a member out that e's generator draws; the set is not empty.
func (m *Members) Pop(e *env.Env) string {
	name := m.At(e.IntN(m.Len()))
	m.Delete(name)
	return name
}

// All calls f for every member in order until it returns false.
func (m *Members) All(f func(name string) bool) {
	if m != nil {
		m.members.all(func(one member) bool { return f(string(one)) })
	}
}

// Scan calls f for members from cursor on until it has passed count of them, and gives
// the cursor to go on at, 0 at the end. Up to 64 members are one page.
func (m *Members) Scan(cursor uint64, count int, f func(name string)) (next uint64) {
	return m.members.scan(cursor, count, func(one member) { f(string(one)) })
}
