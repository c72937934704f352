package cow

// fillItems is how full a Builder leaves its nodes: seven eighths, so that the
// first writes after a load do not split every node they touch.
const fillItems = maxItems * 7 / 8

// Builder makes a tree from keys in ascending order in linear time. Make one with
// NewBuilder and use it once.
type Builder[K, V any] struct {
	tree  *BTree[K, V]
	spine []*bnode[K, V] // the rightmost node of each level, leaf first
	last  K
	any   bool
}

// NewBuilder starts an empty tree ordered by cmp.
func NewBuilder[K, V any](cmp func(a, b K) int) *Builder[K, V] {
	t := NewBTree[K, V](cmp)
	b := &Builder[K, V]{tree: t}
	b.spine = []*bnode[K, V]{b.node(false)}
	return b
}

func (b *Builder[K, V]) node(inner bool) *bnode[K, V] {
	n := &bnode[K, V]{owner: b.tree.owner, items: make([]item[K, V], 0, maxItems)}
	if inner {
		n.kids = make([]*bnode[K, V], 0, maxItems+1)
	}
	return n
}

// Add appends k with v. It tells whether k is greater than every key before it;
// otherwise nothing is added.
func (b *Builder[K, V]) Add(k K, v V) bool {
	if b.any && b.tree.cmp(b.last, k) >= 0 {
		return false
	}
	b.last, b.any = k, true
	it := item[K, V]{key: k, val: v}
	level := 0
	for level < len(b.spine) && len(b.spine[level].items) == fillItems {
		level++
	}
	if level == len(b.spine) {
		root := b.node(true)
		root.kids = append(root.kids, b.spine[level-1])
		b.spine = append(b.spine, root)
	}
	b.spine[level].items = append(b.spine[level].items, it)
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
		for len(n.kids) > 1 && len(n.kids[len(n.kids)-1].items) < minItems {
			t.refill(n, len(n.kids)-1)
		}
		n = n.kids[len(n.kids)-1]
	}
	for len(t.root.items) == 0 && len(t.root.kids) > 0 {
		t.root = t.root.kids[0]
	}
	return t
}

// count sets the sizes of n's subtree.
func count[K, V any](n *bnode[K, V]) int {
	n.size = len(n.items)
	for _, c := range n.kids {
		n.size += count(c)
	}
	return n.size
}
