package jsondoc

import "slices"

// container is an array or an object that may be changed.
type container interface {
	Value
	resize(by int64)
	child(m *Match) Value
	replace(m *Match, v Value)
}

func (a *Array) resize(by int64)           { a.size += by }
func (a *Array) child(m *Match) Value      { return a.At(m.index) }
func (a *Array) replace(m *Match, v Value) { a.set(m.index, v) }

func (o *Object) resize(by int64) { o.size += by }

func (o *Object) child(m *Match) Value {
	v, _ := o.Get(m.key)
	return v
}

func (o *Object) replace(m *Match, v Value) { o.set(m.key, v) }

// Tree is a document that changes. What a command changes it finds by Find first; the
// matches hold until the command is done. A Tree's containers are either its own, made by
// a change and nowhere else, or shared and never changed.
type Tree struct {
	root  Value
	owner *owner
}

// NewTree is the document of that value.
func NewTree(root Value) Tree { return Tree{root, new(owner)} }

// Root is the whole document. It must not be kept beyond the next change.
func (t *Tree) Root() Value { return t.root }

// Size is the logical size in bytes.
func (t *Tree) Size() int64 { return t.root.Size() }

// Clone is the document as it is now, in constant time; both may be changed afterwards,
// and neither sees the other's changes.
func (t *Tree) Clone() Tree {
	t.owner = new(owner)
	return NewTree(t.root)
}

// own is the container at m, which m's value is, made the tree's own with all that lead
// to it.
func (t *Tree) own(m *Match) container {
	if m.owned != nil {
		return m.owned
	}
	v := t.current(m)
	switch v := v.(type) {
	case *Array:
		m.owned = v.ownedBy(t.owner)
	case *Object:
		m.owned = v.ownedBy(t.owner)
	}
	if m.owned != v {
		t.place(m, m.owned)
	}
	return m.owned
}

// current is the value that stands at m now.
func (t *Tree) current(m *Match) Value {
	if m.parent == nil {
		return t.root
	}
	return t.own(m.parent).child(m)
}

// place puts v at m, whose parent is the tree's own, without accounting.
func (t *Tree) place(m *Match, v Value) {
	if m.parent == nil {
		t.root = v
	} else {
		m.parent.owned.replace(m, v)
	}
}

// grow accounts for a change of the container at m and of all around it.
func (m *Match) grow(by int64) {
	for ; m != nil && by != 0; m = m.parent {
		m.owned.resize(by)
	}
}

// Replace puts v in place of the value at m.
func (t *Tree) Replace(m *Match, v Value) {
	by := v.Size() - t.current(m).Size()
	t.place(m, v)
	m.owned = nil
	m.parent.grow(by)
}

// SetMember gives the object at m a member, in place of one of the same key. It tells
// whether there is an object.
func (t *Tree) SetMember(m *Match, key string, v Value) bool {
	if _, ok := t.current(m).(*Object); !ok {
		return false
	}
	o := t.own(m).(*Object)
	by := memberSize(key, v)
	if old := o.set(key, v); old != nil {
		by -= memberSize(key, old)
	}
	m.grow(by)
	return true
}

// Outermost returns the matches that are in no other.
func Outermost(found []*Match) []*Match {
	for _, m := range found {
		m.found = true
	}
	outer := slices.DeleteFunc(slices.Clone(found), func(m *Match) bool {
		for up := m.parent; up != nil; up = up.parent {
			if up.found {
				return true
			}
		}
		return false
	})
	for _, m := range found {
		m.found = false
	}
	return outer
}

// Remove takes out the values at the matches, none of which is the root or is inside
// another.
func (t *Tree) Remove(found []*Match) {
	for _, m := range found {
		t.own(m.parent)
	}
	sorted := slices.Clone(found)
	slices.SortStableFunc(sorted, func(a, b *Match) int { return b.index - a.index })
	for _, m := range sorted {
		switch c := m.parent.owned.(type) {
		case *Array:
			m.parent.grow(-c.remove(m.index).Size())
		case *Object:
			m.parent.grow(-memberSize(m.key, c.remove(m.key)))
		}
	}
}

// Insert puts values into the array at m, before position i; 0 <= i <= length.
func (t *Tree) Insert(m *Match, i int, values []Value) {
	a := t.own(m).(*Array)
	a.insert(i, values)
	by := int64(0)
	for _, v := range values {
		by += v.Size()
	}
	m.grow(by)
}

// Pop takes the element at position i out of the array at m; 0 <= i < length.
func (t *Tree) Pop(m *Match, i int) Value {
	v := t.own(m).(*Array).remove(i)
	m.grow(-v.Size())
	return v
}

// Trim removes all elements of the array at m but those at positions from up to, not
// including, to; 0 <= from <= to <= length.
func (t *Tree) Trim(m *Match, from, to int) {
	a := t.own(m).(*Array)
	by := a.sizeOf(0, from) + a.sizeOf(to, a.Len())
	a.keep(from, to)
	m.grow(-by)
}

// Own prepares the containers at the matches for changes that move elements: afterwards
// each match means the container it found, wherever that goes.
func (t *Tree) Own(found []*Match) {
	for _, m := range found {
		if isContainer(m.Value) {
			t.own(m)
		}
	}
}
