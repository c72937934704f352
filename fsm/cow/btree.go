package cow

// BTree is an ordered map with ranks. Make one with NewBTree.
type BTree[K, V any] struct {
	head  func(K) uint64
	cmp   func(a, b K) int
	owner *owner       // see own; nil before the first change
	root  *bnode[K, V] // nil before the first key
}

// NewBTree returns an empty tree. Keys are ordered by head, and those of one head
// by cmp: most searches then compare numbers that stand together. A nil head leaves
// all to cmp. A tree takes memory for nodes from its first key on.
func NewBTree[K, V any](head func(K) uint64, cmp func(a, b K) int) *BTree[K, V] {
	if head == nil {
		head = func(K) uint64 { return 0 }
	}
	return &BTree[K, V]{head: head, cmp: cmp}
}

// Snapshot returns the tree as it is now, in constant time; t may be changed
// afterwards, the snapshot too, and neither sees the other's changes.
func (t *BTree[K, V]) Snapshot() *BTree[K, V] {
	t.owner.share()
	return &BTree[K, V]{head: t.head, cmp: t.cmp, root: t.root}
}

// Len is the number of keys.
func (t *BTree[K, V]) Len() int {
	if t.root == nil {
		return 0
	}
	return t.root.size
}

// find is the place of k, whose head is h, in n, or of the child that would hold it.
func (t *BTree[K, V]) find(n *bnode[K, V], h uint64, k K) (i int, found bool) {
	return search(n, h, k, t.cmp)
}

// Get returns the value of k.
func (t *BTree[K, V]) Get(k K) (v V, ok bool) {
	_, v, ok = GetBy(t, t.head(k), k, t.cmp)
	return v, ok
}

// own returns n, or a copy of it that t may change.
func (t *BTree[K, V]) own(n *bnode[K, V]) *bnode[K, V] {
	if t.owner = t.owner.current(); n.owner == t.owner {
		return n
	}
	c := *n
	c.owner = t.owner
	if len(n.kids) > 0 {
		c.kids = append(make([]*bnode[K, V], 0, min(maxItems+1, len(n.kids)+4)), n.kids...)
	}
	return &c
}

// step is a node on the way from the root, and the place taken in it.
type step[K, V any] struct {
	node *bnode[K, V]
	at   int
}

// maxDepth bounds the way down: each level multiplies the keys by at least
// minItems, so a tree of 64-bit size stays below it.
const maxDepth = 16

// path is the way from the root to a key, or to the leaf where it would stand.
type path[K, V any] struct {
	steps [maxDepth]step[K, V]
	n     int
}

// isAtEnd reports whether nothing is behind the end of the way.
func (p *path[K, V]) isAtEnd() bool {
	for _, s := range p.steps[:p.n] {
		if s.at < s.node.n {
			return false
		}
	}
	return true
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

// Upsert finds k in one descent, or inserts it with a zero value, and returns the
// place of its value, which holds until the next change of the tree, the key as it
// is stored, and whether it was there. keep, if not nil, makes the key that is
// stored when k is new, so that a look-up may use a borrowed one.
func (t *BTree[K, V]) Upsert(k K, keep func(K) K) (slot *V, stored K, had bool) {
	key, slot, had := UpsertBy(t, t.head(k), k, t.cmp)
	if !had {
		if keep != nil {
			k = keep(k)
		}
		*key = k
	}
	return slot, *key, had
}

// put makes room for an item with head h at the end of the way, where it belongs.
func (t *BTree[K, V]) put(p *path[K, V], h uint64) *item[K, V] {
	last := p.steps[p.n-1]
	node, at := last.node, last.at
	if node.n == maxItems {
		node, at = t.makeRoom(p)
	}
	node.insert(at, h, item[K, V]{})
	node.size++
	for d := p.n - 2; d >= 0; d-- {
		p.steps[d].node.size++
	}
	return &node.items[at]
}

// makeRoom splits the full leaf at the end of the way, and the full nodes above
// it, and returns the leaf and place where the new item belongs. The way's nodes
// above the leaf are afterwards those that hold that leaf.
//
// Nodes are halved, but for an item behind all others: then they stay full, and only
// the nodes of the right edge have few items. Keys that come in order, like the
// numbers of messages and events, so take half as much memory.
func (t *BTree[K, V]) makeRoom(p *path[K, V]) (*bnode[K, V], int) {
	left := minItems
	if p.isAtEnd() {
		left = maxItems - 1
	}
	top := p.n - 1
	for top > 0 && p.steps[top-1].node.n == maxItems {
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
		up.node.split(up.at, left)
		if s.at > left {
			up.at++
			s.node, s.at = up.node.kids[up.at], s.at-left-1
		}
	}
	last := p.steps[p.n-1]
	return last.node, last.at
}

// Delete removes k and says whether it was there.
func (t *BTree[K, V]) Delete(k K) bool {
	_, had := t.Remove(k)
	return had
}

// Remove removes k in one descent and returns the value it had.
func (t *BTree[K, V]) Remove(k K) (v V, had bool) {
	_, v, had = RemoveBy(t, t.head(k), k, t.cmp)
	return v, had
}

// take removes the item at the end of the way, whose nodes are this version's own.
func (t *BTree[K, V]) take(p *path[K, V]) {
	if target := p.steps[p.n-1]; len(target.node.kids) > 0 {
		t.lift(p)
	}
	leaf := p.steps[p.n-1]
	leaf.node.remove(leaf.at)
	leaf.node.size--
	for d := p.n - 2; d >= 0; d-- {
		up := p.steps[d]
		up.node.size--
		if up.node.kids[up.at].n < minItems {
			t.refill(up.node, up.at)
		}
	}
	if t.root.n == 0 && len(t.root.kids) > 0 {
		t.root = t.root.kids[0]
	}
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
			up.at = n.n - 1
		}
		p.steps[p.n] = up
		p.n++
		if len(n.kids) == 0 {
			target.node.heads[target.at], target.node.items[target.at] = n.heads[up.at], n.items[up.at]
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
	switch l, r := n.kids[i].n, n.kids[i+1].n; {
	case l+r < maxItems:
		n.join(i)
	case l < r:
		n.rotateLeft(i)
	default:
		n.rotateRight(i)
	}
}
