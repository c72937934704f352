package cow

// The functions below find a key by a part of it, for keys that carry what they are ordered by: a
// look-up then needs no key of the tree's type. head is the head of the key that is looked for, and
// compare orders a key of the tree and what is looked for as the tree's own order does.

// GetBy returns the key that equals q, as it is stored, and its value.
func GetBy[K, V, Q any](t *BTree[K, V], head uint64, q Q, compare func(K, Q) int) (k K, v V, ok bool) {
	for n := t.root; n != nil; {
		i, found := search(n, head, q, compare)
		if found {
			return n.items[i].key, n.items[i].val, true
		}
		if len(n.kids) == 0 {
			break
		}
		n = n.kids[i]
	}
	return k, v, false
}

// UpsertBy returns the places of the key that equals q and of its value, which hold until the next
// change of the tree, and whether it was there. If not, both are new and zero, and the caller must
// store a key that equals q before the tree is used again. A key that was there may be replaced by one
// that equals it.
func UpsertBy[K, V, Q any](t *BTree[K, V], head uint64, q Q, compare func(K, Q) int) (k *K, v *V, had bool) {
	if t.root == nil {
		t.owner = t.owner.current()
		t.root = &bnode[K, V]{owner: t.owner}
	}
	var p path[K, V]
	had = walk(t, head, q, compare, &p)
	t.ownPath(&p)
	var it *item[K, V]
	if had {
		last := p.steps[p.n-1]
		it = &last.node.items[last.at]
	} else {
		it = t.put(&p, head)
	}
	return &it.key, &it.val, had
}

// RemoveBy removes the key that equals q and returns it, as it was stored, with its value.
func RemoveBy[K, V, Q any](t *BTree[K, V], head uint64, q Q, compare func(K, Q) int) (k K, v V, had bool) {
	var p path[K, V]
	if t.root == nil || !walk(t, head, q, compare, &p) {
		return k, v, false
	}
	t.ownPath(&p)
	last := p.steps[p.n-1]
	it := last.node.items[last.at]
	t.take(&p)
	return it.key, it.val, true
}

// walk finds q from the root, which is there, and keeps the way.
func walk[K, V, Q any](t *BTree[K, V], head uint64, q Q, compare func(K, Q) int, p *path[K, V]) (found bool) {
	p.n = 0
	for n := t.root; ; {
		i, found := search(n, head, q, compare)
		p.steps[p.n] = step[K, V]{n, i}
		p.n++
		if found || len(n.kids) == 0 {
			return found
		}
		n = n.kids[i]
	}
}

// search is the place of q, whose head is h, in n, or of the child that would hold it.
func search[K, V, Q any](n *bnode[K, V], h uint64, q Q, compare func(K, Q) int) (i int, found bool) {
	lo := n.lower(h)
	if lo == n.n || n.heads[lo] != h {
		return lo, false
	}
	for hi := n.n; lo < hi; {
		m := lo
		if lo+1 < hi && n.heads[lo+1] == h { // more than one of this head
			m = int(uint(lo+hi) >> 1)
		}
		c := 1
		if n.heads[m] == h {
			c = compare(n.items[m].key, q)
		}
		switch {
		case c < 0:
			lo = m + 1
			if lo < n.n && n.heads[lo] != h {
				return lo, false
			}
		case c == 0:
			return m, true
		default:
			hi = m
		}
	}
	return lo, false
}
