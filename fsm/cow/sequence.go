package cow

import (
	"slices"
	"sort"
)

const (
	maxLeaf  = 64 // elements of a leaf, and children of an inner node
	minLeaf  = 16 // below this a node looks for a neighbour to join
	joinLeaf = 48 // and joins one if both have no more than this together
)

// Sequence is a list with positions: a tree of chunks that counts its elements, so that
// both ends and every place in between cost a descent. It forks like BTree does, by
// the same marks. Make one with NewSequence, or with NewWeighted if an item stands for several elements.
type Sequence[T any] struct {
	owner *owner
	root  *chunk[T]
	size  int
	weigh func(T) int // nil: an item is an element
}

// chunk is a node: a leaf has items, an inner node children, all leaves at one depth.
type chunk[T any] struct {
	owner *owner
	items []T
	kids  []child[T]
}

// child is a subtree with its number of elements.
type child[T any] struct {
	size int
	node *chunk[T]
}

// NewSequence returns an empty sequence.
func NewSequence[T any]() *Sequence[T] {
	q := &Sequence[T]{owner: new(owner)}
	q.root = &chunk[T]{owner: q.owner}
	return q
}

// NewWeighted returns an empty sequence whose items are runs of elements: weigh returns how many, at least one. All positions
// count elements. Those of Insert and Keep are between two items.
func NewWeighted[T any](weigh func(T) int) *Sequence[T] {
	q := NewSequence[T]()
	q.weigh = weigh
	return q
}

// weight is the number of elements of an item.
func (se *Sequence[T]) weight(v T) int {
	if se.weigh == nil {
		return 1
	}
	return se.weigh(v)
}

// weights is the number of elements of some items.
func (se *Sequence[T]) weights(items []T) (sum int) {
	if se.weigh == nil {
		return len(items)
	}
	for _, v := range items {
		sum += se.weigh(v)
	}
	return sum
}

// place is the index in a leaf of the item that has position i, and the position of its first element.
func (se *Sequence[T]) place(n *chunk[T], i int) (at, start int) {
	if se.weigh == nil {
		return i, i
	}
	for at < len(n.items) {
		w := se.weigh(n.items[at])
		if i < start+w {
			break
		}
		at, start = at+1, start+w
	}
	return at, start
}

// Snapshot returns the sequence as it is now, in constant time; both may be changed
// afterwards, and neither sees the other's changes.
func (se *Sequence[T]) Snapshot() *Sequence[T] {
	se.owner.share()
	return &Sequence[T]{root: se.root, size: se.size, weigh: se.weigh}
}

// Len is the number of elements.
func (se *Sequence[T]) Len() int { return se.size }

// At is the item at position i; 0 <= i < Len.
func (se *Sequence[T]) At(i int) T {
	v, _ := se.Find(i)
	return v
}

// Find is the item that has position i, and the position of its first element; 0 <= i < Len.
func (se *Sequence[T]) Find(i int) (v T, start int) {
	n, left := se.root, i
	for len(n.kids) > 0 {
		var j int
		j, left = n.child(left)
		n = n.kids[j].node
	}
	at, first := se.place(n, left)
	return n.items[at], i - left + first
}

// child finds the child that holds position i, and the position in it.
func (c *chunk[T]) child(i int) (j, at int) {
	for i >= c.kids[j].size {
		i -= c.kids[j].size
		j++
	}
	return j, i
}

// Search is the position of the first element that before is false of, Len if there is
// none: before must be true of all elements up to a position and of none from there on.
func (se *Sequence[T]) Search(before func(T) bool) int {
	n, start := se.root, 0
	for len(n.kids) > 0 {
		j := sort.Search(len(n.kids)-1, func(j int) bool { return !before(n.kids[j+1].node.first()) })
		for _, k := range n.kids[:j] {
			start += k.size
		}
		n = n.kids[j].node
	}
	at := sort.Search(len(n.items), func(i int) bool { return !before(n.items[i]) })
	return start + se.weights(n.items[:at])
}

// first is the first element below c, which has one.
func (c *chunk[T]) first() T {
	for len(c.kids) > 0 {
		c = c.kids[0].node
	}
	return c.items[0]
}

// own returns n, or a copy of it that se may change.
func (se *Sequence[T]) own(n *chunk[T]) *chunk[T] {
	if se.owner = se.owner.current(); n.owner == se.owner {
		return n
	}
	c := &chunk[T]{owner: se.owner}
	if len(n.kids) > 0 {
		c.kids = append(make([]child[T], 0, min(maxLeaf+1, len(n.kids)+4)), n.kids...)
	} else {
		c.items = append(make([]T, 0, min(maxLeaf, len(n.items)+8)), n.items...)
	}
	return c
}

// ownKid makes child j of n, which se owns, owned by se too.
func (se *Sequence[T]) ownKid(n *chunk[T], j int) *chunk[T] {
	k := se.own(n.kids[j].node)
	n.kids[j].node = k
	return k
}

// Set replaces the item at position i; 0 <= i < Len.
func (se *Sequence[T]) Set(i int, v T) {
	se.root = se.own(se.root)
	se.size += se.set(se.root, i, v)
}

// set replaces an item of n, which se owns, and returns by how much n grows.
func (se *Sequence[T]) set(n *chunk[T], i int, v T) (grown int) {
	if len(n.kids) == 0 {
		at, _ := se.place(n, i)
		grown = se.weight(v) - se.weight(n.items[at])
		n.items[at] = v
		return grown
	}
	j, i := n.child(i)
	grown = se.set(se.ownKid(n, j), i, v)
	n.kids[j].size += grown
	return grown
}

// Insert puts v at position i, before what stood there; 0 <= i <= Len.
func (se *Sequence[T]) Insert(i int, v T) {
	se.root = se.own(se.root)
	w := se.weight(v)
	if right := se.insert(se.root, i, v, w); right.node != nil {
		left := child[T]{se.size + w - right.size, se.root}
		se.root = &chunk[T]{owner: se.owner, kids: []child[T]{left, right}}
	}
	se.size += w
}

// insert puts v, of weight w, into n, which se owns, and returns the part that n had no room for. A full
// node splits where it grows, so that what only grows at an end is packed densely.
func (se *Sequence[T]) insert(n *chunk[T], i int, v T, w int) (right child[T]) {
	if len(n.kids) == 0 {
		at, _ := se.place(n, i)
		return se.insertItem(n, at, v)
	}
	j := 0
	for j < len(n.kids)-1 && i > n.kids[j].size {
		i -= n.kids[j].size
		j++
	}
	more := se.insert(se.ownKid(n, j), i, v, w)
	n.kids[j].size += w - more.size
	if more.node == nil {
		return right
	}
	n.kids = slices.Insert(n.kids, j+1, more)
	if len(n.kids) <= maxLeaf {
		return right
	}
	at := maxLeaf / 2
	switch j {
	case 0:
		at = 1
	case len(n.kids) - 2:
		at = len(n.kids) - 1
	}
	r := &chunk[T]{owner: se.owner, kids: slices.Clone(n.kids[at:])}
	clear(n.kids[at:])
	n.kids = n.kids[:at]
	return child[T]{se.count(r), r}
}

func (se *Sequence[T]) insertItem(n *chunk[T], i int, v T) (right child[T]) {
	if len(n.items) < maxLeaf {
		n.items = slices.Insert(n.items, i, v)
		return right
	}
	r := &chunk[T]{owner: se.owner}
	switch i {
	case len(n.items):
		r.items = []T{v}
	case 0:
		r.items, n.items = n.items, []T{v}
	default:
		at := maxLeaf / 2
		r.items = append(make([]T, 0, maxLeaf), n.items[at:]...)
		clear(n.items[at:])
		n.items = n.items[:at]
		if i <= at {
			n.items = slices.Insert(n.items, i, v)
		} else {
			r.items = slices.Insert(r.items, i-at, v)
		}
	}
	return child[T]{se.count(r), r}
}

// count is the number of elements below c.
func (se *Sequence[T]) count(c *chunk[T]) (size int) {
	size = se.weights(c.items)
	for _, k := range c.kids {
		size += k.size
	}
	return size
}

// Delete removes the item at position i and returns it; 0 <= i < Len.
func (se *Sequence[T]) Delete(i int) T {
	se.root = se.own(se.root)
	v := se.remove(se.root, i)
	se.size -= se.weight(v)
	se.shrink()
	return v
}

// remove takes an item out of n, which se owns. A node that becomes empty goes, and a
// small one joins a neighbour if that has room to spare.
func (se *Sequence[T]) remove(n *chunk[T], i int) T {
	if len(n.kids) == 0 {
		at, _ := se.place(n, i)
		v := n.items[at]
		n.items = slices.Delete(n.items, at, at+1)
		return v
	}
	j, at := n.child(i)
	k := se.ownKid(n, j)
	v := se.remove(k, at)
	n.kids[j].size -= se.weight(v)
	switch {
	case n.kids[j].size == 0:
		n.kids = slices.Delete(n.kids, j, j+1)
	case k.width() < minLeaf:
		se.join(n, j)
	}
	return v
}

// width is the number of items and children of c.
func (c *chunk[T]) width() int { return len(c.items) + len(c.kids) }

// join puts child j of n and a neighbour together if they fit.
func (se *Sequence[T]) join(n *chunk[T], j int) {
	fits := func(j int) bool {
		return j >= 0 && j+1 < len(n.kids) && n.kids[j].node.width()+n.kids[j+1].node.width() <= joinLeaf
	}
	if !fits(j) {
		if j--; !fits(j) {
			return
		}
	}
	l, r := se.ownKid(n, j), n.kids[j+1]
	l.items, l.kids = append(l.items, r.node.items...), append(l.kids, r.node.kids...)
	n.kids[j].size += r.size
	n.kids = slices.Delete(n.kids, j+1, j+2)
}

// shrink takes away a root that has but one child or none.
func (se *Sequence[T]) shrink() {
	if se.size == 0 {
		se.root = &chunk[T]{owner: se.owner}
	}
	for len(se.root.kids) == 1 {
		se.root = se.root.kids[0].node
	}
}

// Keep removes all elements but those at positions from up to, not including, to;
// 0 <= from <= to <= Len. Its cost does not depend on how many go.
func (se *Sequence[T]) Keep(from, to int) {
	se.owner = se.owner.current()
	if se.size = to - from; se.size > 0 {
		se.root = se.keep(se.root, from, to)
	}
	se.shrink()
}

func (se *Sequence[T]) keep(n *chunk[T], from, to int) *chunk[T] {
	c := &chunk[T]{owner: se.owner}
	if len(n.kids) == 0 {
		first, _ := se.place(n, from)
		last, _ := se.place(n, to)
		c.items = slices.Clone(n.items[first:last])
		return c
	}
	start := 0
	for _, k := range n.kids {
		lo, hi := max(from-start, 0), min(to-start, k.size)
		start += k.size
		switch {
		case lo >= hi:
		case hi-lo == k.size:
			c.kids = append(c.kids, k)
		default:
			c.kids = append(c.kids, child[T]{hi - lo, se.keep(k.node, lo, hi)})
		}
	}
	return c
}
