package cow

// Min is the least key and its value.
func (t *BTree[K, V]) Min() (k K, v V, ok bool) {
	if t.Len() == 0 {
		return k, v, false
	}
	k, v = t.At(0)
	return k, v, true
}

// Max is the greatest key and its value.
func (t *BTree[K, V]) Max() (k K, v V, ok bool) {
	if t.Len() == 0 {
		return k, v, false
	}
	k, v = t.At(t.root.size - 1)
	return k, v, true
}

// Rank returns how many keys are less than k, and whether k is there.
func (t *BTree[K, V]) Rank(k K) (int, bool) {
	rank, h := 0, t.head(k)
	for n := t.root; n != nil; {
		i, found := t.find(n, h, k)
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
	return 0, false
}

// RankHead returns how many keys have a head less than h.
func (t *BTree[K, V]) RankHead(h uint64) int {
	rank := 0
	for n := t.root; n != nil; {
		i := n.lower(h)
		rank += i
		if len(n.kids) == 0 {
			break
		}
		for _, c := range n.kids[:i] {
			rank += c.size
		}
		n = n.kids[i]
	}
	return rank
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
			if i -= c.size; i == 0 && j < n.n {
				return n.items[j].key, n.items[j].val
			}
			i--
		}
		panic("cow: index out of range")
	}
	return n.items[i].key, n.items[i].val
}

// Ascend calls f for the keys from k on, in order, until it returns false.
func (t *BTree[K, V]) Ascend(k K, f func(K, V) bool) {
	h := t.head(k)
	ascend(t.root, func(n *bnode[K, V]) (int, bool) { return t.find(n, h, k) }, f)
}

// AscendHead calls f for the keys whose head is at least h, in order, until it
// returns false.
func (t *BTree[K, V]) AscendHead(h uint64, f func(K, V) bool) {
	ascend(t.root, func(n *bnode[K, V]) (int, bool) { return n.lower(h), false }, f)
}

// All calls f for every key in order until it returns false.
func (t *BTree[K, V]) All(f func(K, V) bool) { ascend(t.root, nil, f) }

// ascend calls f from the place on that start gives in each node of the way to it,
// nil for the first; found says that nothing before that place's item is asked for.
func ascend[K, V any](n *bnode[K, V], start func(*bnode[K, V]) (at int, found bool), f func(K, V) bool) bool {
	if n == nil {
		return true
	}
	i, found := 0, false
	if start != nil {
		i, found = start(n)
	}
	if len(n.kids) > 0 && !found && !ascend(n.kids[i], start, f) {
		return false
	}
	for ; i < n.n; i++ {
		if !f(n.items[i].key, n.items[i].val) {
			return false
		}
		if len(n.kids) > 0 && !ascend(n.kids[i+1], nil, f) {
			return false
		}
	}
	return true
}
