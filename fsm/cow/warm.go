package cow

// WarmGroup is the number of searches that Warm makes side by side.
const WarmGroup = 16

// Warm brings what look-ups of keys with these heads will read into the processor's
// caches, at most WarmGroup of them. Searches one after the other wait for memory at
// each level; here each level is searched for all keys before the next, so that their
// waits overlap. touch reads what belongs to an item found; what it gives is added up
// and returned only so that no compiler can leave the reads out. The tree is not
// changed.
func (t *BTree[K, V]) Warm(heads []uint64, touch func(K, V) uint64) (sum uint64) {
	var nodes [WarmGroup]*bnode[K, V]
	var at [WarmGroup]int
	n := min(len(heads), WarmGroup)
	for i := range n {
		nodes[i] = t.root
	}
	for range maxDepth {
		inner := false
		for i := range n {
			if node := nodes[i]; node != nil {
				at[i] = node.lower(heads[i])
			}
		}
		for i := range n {
			node := nodes[i]
			if node == nil {
				continue
			}
			if at[i] < node.n && node.heads[at[i]] == heads[i] {
				sum += touch(node.items[at[i]].key, node.items[at[i]].val)
				nodes[i] = nil
				continue
			}
			if len(node.kids) == 0 {
				nodes[i] = nil
				continue
			}
			nodes[i], inner = node.kids[at[i]], true
		}
		if !inner {
			return sum
		}
	}
	return sum
}
