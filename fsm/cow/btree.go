// Package cow holds the copy-on-write B-tree that all ordered state is kept in. It
// counts its subtrees, so the rank of a key and the key at a rank cost a descent.
//
// Each node carries a mark of the version that owns it. A writer changes its own
// nodes in place and copies the others; Snapshot gives both sides new marks, so
// every node is foreign to both from then on. A version that is not written may be
// read by any number of goroutines without locks.
package cow

import "slices"

const (
	maxItems = 63
	minItems = maxItems / 2
)

// The value stands first: a zero-size last field would cost a word of padding.
type item[K, V any] struct {
	val V
	key K
}

type bnode[K, V any] struct {
	owner *owner
	size  int // items in the whole subtree
	items []item[K, V]
	kids  []*bnode[K, V] // empty in a leaf
}

// owner marks the nodes that one version of a tree may change in place. It has a
// size, so that two of them never share an address.
type owner struct{ _ byte }

// BTree is an ordered map with ranks. Make one with NewBTree.
type BTree[K, V any] struct {
	cmp   func(a, b K) int
	owner *owner
	root  *bnode[K, V]
}

// NewBTree returns an empty tree ordered by cmp.
func NewBTree[K, V any](cmp func(a, b K) int) *BTree[K, V] {
	return &BTree[K, V]{cmp: cmp, owner: new(owner), root: &bnode[K, V]{}}
}

// Snapshot returns the tree as it is now, in constant time; t may be changed
// afterwards, the snapshot too, and neither sees the other's changes.
func (t *BTree[K, V]) Snapshot() *BTree[K, V] {
	s := *t
	t.owner, s.owner = new(owner), new(owner)
	return &s
}

// Min is the least key and its value.
func (t *BTree[K, V]) Min() (k K, v V, ok bool) {
	if t.root.size == 0 {
		return k, v, false
	}
	k, v = t.At(0)
	return k, v, true
}

// Max is the greatest key and its value.
func (t *BTree[K, V]) Max() (k K, v V, ok bool) {
	if t.root.size == 0 {
		return k, v, false
	}
	k, v = t.At(t.root.size - 1)
	return k, v, true
}

// Len is the number of keys.
func (t *BTree[K, V]) Len() int { return t.root.size }

func (t *BTree[K, V]) find(n *bnode[K, V], k K) (int, bool) {
	lo, hi := 0, len(n.items)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if c := t.cmp(n.items[m].key, k); c < 0 {
			lo = m + 1
		} else if c == 0 {
			return m, true
		} else {
			hi = m
		}
	}
	return lo, false
}

// Get returns the value of k.
func (t *BTree[K, V]) Get(k K) (v V, ok bool) {
	for n := t.root; ; {
		i, found := t.find(n, k)
		if found {
			return n.items[i].val, true
		}
		if len(n.kids) == 0 {
			return v, false
		}
		n = n.kids[i]
	}
}

// Rank returns how many keys are less than k, and whether k is there.
func (t *BTree[K, V]) Rank(k K) (int, bool) {
	rank := 0
	for n := t.root; ; {
		i, found := t.find(n, k)
		rank += i
		if len(n.kids) == 0 {
			return rank, found
		}
		for _, c := range n.kids[:i] {
			rank += c.size
		}
		if found {
			return rank + n.kids[i].size, true
		}
		n = n.kids[i]
	}
}

// At returns the key and value with i keys before it; 0 <= i < Len.
func (t *BTree[K, V]) At(i int) (K, V) {
	n := t.root
walk:
	for len(n.kids) > 0 {
		for j, c := range n.kids {
			if i < c.size {
				n = c
				continue walk
			}
			if i -= c.size; i == 0 && j < len(n.items) {
				return n.items[j].key, n.items[j].val
			}
			i--
		}
		panic("cow: index out of range")
	}
	return n.items[i].key, n.items[i].val
}

// Ascend calls f for the keys from k on, in order, until it returns false.
func (t *BTree[K, V]) Ascend(k K, f func(K, V) bool) { t.ascend(t.root, &k, f) }

// All calls f for every key in order until it returns false.
func (t *BTree[K, V]) All(f func(K, V) bool) { t.ascend(t.root, nil, f) }

func (t *BTree[K, V]) ascend(n *bnode[K, V], from *K, f func(K, V) bool) bool {
	i, found := 0, false
	if from != nil {
		i, found = t.find(n, *from)
	}
	if len(n.kids) > 0 && !found && !t.ascend(n.kids[i], from, f) {
		return false
	}
	for ; i < len(n.items); i++ {
		if !f(n.items[i].key, n.items[i].val) {
			return false
		}
		if len(n.kids) > 0 && !t.ascend(n.kids[i+1], nil, f) {
			return false
		}
	}
	return true
}

// own returns n, or a copy of it that t may change.
func (t *BTree[K, V]) own(n *bnode[K, V]) *bnode[K, V] {
	if n.owner == t.owner {
		return n
	}
	c := &bnode[K, V]{owner: t.owner, size: n.size, items: make([]item[K, V], len(n.items), min(maxItems, len(n.items)+8))}
	copy(c.items, n.items)
	if len(n.kids) > 0 {
		c.kids = make([]*bnode[K, V], len(n.kids), len(n.kids)+4)
		copy(c.kids, n.kids)
	}
	return c
}

// step is a node on the way from the root, and the place taken in it.
type step[K, V any] struct {
	node *bnode[K, V]
	at   int
}

// maxDepth bounds the way down: each level multiplies the keys by at least
// minItems+1, so a tree of 64-bit size stays below it.
const maxDepth = 16

// path is the way from the root to a key, or to the leaf where it would stand.
type path[K, V any] struct {
	steps [maxDepth]step[K, V]
	n     int
}

// walk finds k from the root and keeps the way.
func (t *BTree[K, V]) walk(k K, p *path[K, V]) (found bool) {
	p.n = 0
	for n := t.root; ; {
		i, found := t.find(n, k)
		p.steps[p.n] = step[K, V]{n, i}
		p.n++
		if found || len(n.kids) == 0 {
			return found
		}
		n = n.kids[i]
	}
}

// ownPath makes every node of the way this version's own.
func (t *BTree[K, V]) ownPath(p *path[K, V]) {
	for d := range p.n {
		s := &p.steps[d]
		s.node = t.own(s.node)
		if d == 0 {
			t.root = s.node
		} else {
			up := &p.steps[d-1]
			up.node.kids[up.at] = s.node
		}
	}
}

// Set stores v under k and says whether k was there before. A key that was there
// keeps its old bytes.
func (t *BTree[K, V]) Set(k K, v V) bool {
	slot, _, had := t.Upsert(k, nil)
	*slot = v
	return had
}

// Upsert finds k in one descent, or inserts it with a zero value, and gives the
// place of its value, which holds until the next change of the tree, the key as it
// is stored, and whether it was there. keep, if not nil, makes the key that is
// stored when k is new, so that a look-up may use a borrowed one.
func (t *BTree[K, V]) Upsert(k K, keep func(K) K) (slot *V, stored K, had bool) {
	var p path[K, V]
	had = t.walk(k, &p)
	t.ownPath(&p)
	last := p.steps[p.n-1]
	if had {
		it := &last.node.items[last.at]
		return &it.val, it.key, true
	}
	if keep != nil {
		k = keep(k)
	}
	node, at := last.node, last.at
	if len(node.items) == maxItems {
		node, at = t.makeRoom(&p)
	}
	node.items = slices.Insert(node.items, at, item[K, V]{key: k})
	node.size++
	for d := p.n - 2; d >= 0; d-- {
		p.steps[d].node.size++
	}
	return &node.items[at].val, k, false
}

// makeRoom splits the full leaf at the end of the way, and the full nodes above
// it, and gives the leaf and place where the new item belongs. The way's nodes
// above the leaf are afterwards those that hold that leaf.
func (t *BTree[K, V]) makeRoom(p *path[K, V]) (*bnode[K, V], int) {
	top := p.n - 1
	for top > 0 && len(p.steps[top-1].node.items) == maxItems {
		top--
	}
	if top == 0 {
		old := t.root
		t.root = &bnode[K, V]{owner: t.owner, size: old.size, kids: []*bnode[K, V]{old}}
		copy(p.steps[1:], p.steps[:p.n])
		p.steps[0] = step[K, V]{t.root, 0}
		p.n++
		top = 1
	}
	for d := top; d < p.n; d++ {
		up, s := &p.steps[d-1], &p.steps[d]
		t.split(up.node, up.at)
		if s.at > minItems {
			up.at++
			s.node, s.at = up.node.kids[up.at], s.at-minItems-1
		}
	}
	last := p.steps[p.n-1]
	return last.node, last.at
}

// split cuts n's full child i, which t owns, in two.
func (t *BTree[K, V]) split(n *bnode[K, V], i int) {
	l := n.kids[i]
	r := &bnode[K, V]{owner: t.owner}
	mid := l.items[minItems]
	r.items = append(make([]item[K, V], 0, maxItems), l.items[minItems+1:]...)
	clear(l.items[minItems:])
	l.items = l.items[:minItems]
	if len(l.kids) > 0 {
		r.kids = append(make([]*bnode[K, V], 0, maxItems+1), l.kids[minItems+1:]...)
		clear(l.kids[minItems+1:])
		l.kids = l.kids[:minItems+1]
	}
	r.recount()
	l.size -= r.size + 1
	n.items = slices.Insert(n.items, i, mid)
	n.kids = slices.Insert(n.kids, i+1, r)
}

func (n *bnode[K, V]) recount() {
	n.size = len(n.items)
	for _, c := range n.kids {
		n.size += c.size
	}
}

// Delete removes k and says whether it was there.
func (t *BTree[K, V]) Delete(k K) bool {
	_, had := t.Remove(k)
	return had
}

// Remove removes k in one descent and gives the value it had.
func (t *BTree[K, V]) Remove(k K) (v V, had bool) {
	var p path[K, V]
	if !t.walk(k, &p) {
		return v, false
	}
	t.ownPath(&p)
	target := p.steps[p.n-1]
	v = target.node.items[target.at].val
	if len(target.node.kids) > 0 {
		t.lift(&p)
	}
	leaf := p.steps[p.n-1]
	leaf.node.items = slices.Delete(leaf.node.items, leaf.at, leaf.at+1)
	leaf.node.size--
	for d := p.n - 2; d >= 0; d-- {
		up := p.steps[d]
		up.node.size--
		if len(up.node.kids[up.at].items) < minItems {
			t.refill(up.node, up.at)
		}
	}
	if len(t.root.items) == 0 && len(t.root.kids) > 0 {
		t.root = t.root.kids[0]
	}
	return v, true
}

// lift puts the greatest item before the way's end, which is in an inner node, in
// its place, and lengthens the way to the leaf that item stood in.
func (t *BTree[K, V]) lift(p *path[K, V]) {
	target := p.steps[p.n-1]
	up := target
	for {
		n := t.own(up.node.kids[up.at])
		up.node.kids[up.at] = n
		up = step[K, V]{n, len(n.kids) - 1}
		if len(n.kids) == 0 {
			up.at = len(n.items) - 1
		}
		p.steps[p.n] = up
		p.n++
		if len(n.kids) == 0 {
			target.node.items[target.at] = n.items[up.at]
			return
		}
	}
}

// refill gives n's small child i an item of a sibling, or joins the two.
func (t *BTree[K, V]) refill(n *bnode[K, V], i int) {
	if i == len(n.kids)-1 {
		i--
	}
	n.kids[i], n.kids[i+1] = t.own(n.kids[i]), t.own(n.kids[i+1])
	l, r := n.kids[i], n.kids[i+1]
	switch {
	case len(l.items)+len(r.items) < maxItems:
		l.items = append(append(l.items, n.items[i]), r.items...)
		l.kids = append(l.kids, r.kids...)
		n.items = slices.Delete(n.items, i, i+1)
		n.kids = slices.Delete(n.kids, i+1, i+2)
		l.recount()
		return
	case len(l.items) < len(r.items):
		l.items = append(l.items, n.items[i])
		n.items[i] = r.items[0]
		r.items = slices.Delete(r.items, 0, 1)
		if len(r.kids) > 0 {
			l.kids = append(l.kids, r.kids[0])
			r.kids = slices.Delete(r.kids, 0, 1)
		}
	default:
		last := len(l.items) - 1
		r.items = slices.Insert(r.items, 0, n.items[i])
		n.items[i] = l.items[last]
		l.items = slices.Delete(l.items, last, last+1)
		if len(l.kids) > 0 {
			r.kids = slices.Insert(r.kids, 0, l.kids[last+1])
			l.kids = slices.Delete(l.kids, last+1, last+2)
		}
	}
	l.recount()
	r.recount()
}
