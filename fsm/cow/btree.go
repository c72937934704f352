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

// Set stores v under k and says whether k was there before.
func (t *BTree[K, V]) Set(k K, v V) bool {
	t.root = t.own(t.root)
	if len(t.root.items) == maxItems {
		old := t.root
		t.root = &bnode[K, V]{owner: t.owner, size: old.size, kids: []*bnode[K, V]{old}}
		t.split(t.root, 0)
	}
	return t.set(t.root, k, v)
}

func (t *BTree[K, V]) set(n *bnode[K, V], k K, v V) bool {
	i, found := t.find(n, k)
	if found {
		n.items[i].val = v
		return true
	}
	if len(n.kids) == 0 {
		n.items = slices.Insert(n.items, i, item[K, V]{key: k, val: v})
		n.size++
		return false
	}
	n.kids[i] = t.own(n.kids[i])
	if len(n.kids[i].items) == maxItems {
		t.split(n, i)
		if c := t.cmp(n.items[i].key, k); c == 0 {
			n.items[i].val = v
			return true
		} else if c < 0 {
			i++
		}
	}
	had := t.set(n.kids[i], k, v)
	if !had {
		n.size++
	}
	return had
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
	if _, ok := t.Get(k); !ok {
		return false
	}
	t.root = t.own(t.root)
	t.delete(t.root, k)
	if len(t.root.items) == 0 && len(t.root.kids) > 0 {
		t.root = t.root.kids[0]
	}
	return true
}

// delete removes k, which is there, from n, which t owns.
func (t *BTree[K, V]) delete(n *bnode[K, V], k K) {
	n.size--
	i, found := t.find(n, k)
	if len(n.kids) == 0 {
		n.items = slices.Delete(n.items, i, i+1)
		return
	}
	if found { // replace by the greatest key before it, and remove that
		p := n.kids[i]
		for len(p.kids) > 0 {
			p = p.kids[len(p.kids)-1]
		}
		n.items[i] = p.items[len(p.items)-1]
		k = n.items[i].key
	}
	n.kids[i] = t.own(n.kids[i])
	t.delete(n.kids[i], k)
	if len(n.kids[i].items) < minItems {
		t.refill(n, i)
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
