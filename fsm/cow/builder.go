package cow

// fillItems is the number of items in the nodes that a Builder makes: seven eighths, so that the
// first writes after a load do not split every node they touch.
const fillItems = maxItems * 7 / 8

// Builder makes a tree from keys in ascending order in linear time. Make one with
// NewBuilder and use it once.
type Builder[K, V any] struct {
	tree  *BTree[K, V]
	spine []*bnode[K, V] // the rightmost node of each level, leaf first
	last  K
	head  uint64 // of last
	any   bool
}

// NewBuilder starts an empty tree, ordered as by NewBTree.
func NewBuilder[K, V any](head func(K) uint64, cmp func(a, b K) int) *Builder[K, V] {
	b := &Builder[K, V]{tree: NewBTree[K, V](head, cmp)}
	b.spine = []*bnode[K, V]{b.node(false)}
	return b
}

func (b *Builder[K, V]) node(inner bool) *bnode[K, V] {
	b.tree.owner = b.tree.owner.current()
	n := &bnode[K, V]{owner: b.tree.owner}
	if inner {
		n.kids = make([]*bnode[K, V], 0, maxItems+1)
	}
	return n
}

// Add appends k with v. It reports whether k is greater than every key before it;
// otherwise nothing is added.
func (b *Builder[K, V]) Add(k K, v V) bool {
	h := b.tree.head(k)
	if b.any && (h < b.head || h == b.head && b.tree.cmp(b.last, k) >= 0) {
		return false
	}
	b.last, b.head, b.any = k, h, true
	level := 0
	for level < len(b.spine) && b.spine[level].n == fillItems {
		level++
	}
	if level == len(b.spine) {
		root := b.node(true)
		root.kids = append(root.kids, b.spine[level-1])
		b.spine = append(b.spine, root)
	}
	b.spine[level].push(h, item[K, V]{key: k, val: v})
	for level > 0 { // the item separates the full nodes from fresh ones
		level--
		fresh := b.node(level > 0)
		up := b.spine[level+1]
		up.kids = append(up.kids, fresh)
		b.spine[level] = fresh
	}
	return true
}

// Tree is the tree of all keys added.
func (b *Builder[K, V]) Tree() *BTree[K, V] {
	t := b.tree
	t.root = b.spine[len(b.spine)-1]
	count(t.root)
	for n := t.root; len(n.kids) > 0; { // the right edge may be short of items
		for len(n.kids) > 1 && n.kids[len(n.kids)-1].n < minItems {
			t.refill(n, len(n.kids)-1)
		}
		n = n.kids[len(n.kids)-1]
	}
	for t.root.n == 0 && len(t.root.kids) > 0 {
		t.root = t.root.kids[0]
	}
	if t.root.size == 0 {
		t.root = nil
	}
	return t
}

// count sets the sizes of n's subtree.
func count[K, V any](n *bnode[K, V]) int {
	n.size = n.n
	for _, c := range n.kids {
		n.size += count(c)
	}
	return n.size
}
