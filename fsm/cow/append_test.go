package cow

import (
	"cmp"
	"testing"

	"pgregory.net/rapid"
)

// TestAppendFillsNodes bounds the nodes of a tree whose keys came in order, and takes keys from its right edge, where nodes
// have few items.
func TestAppendFillsNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20_000).Draw(t, "keys")
		tree := NewBTree[int, int](headOf, cmp.Compare[int])
		model := map[int]int{}
		for i := range n {
			tree.Set(i, i)
			model[i] = i
		}
		checkShape(t, tree)
		if most := n/(maxItems-4) + 4; nodes(tree.root) > most {
			t.Fatalf("%d nodes for %d keys, want at most %d", nodes(tree.root), n, most)
		}
		kept := tree.Snapshot()
		for k := range rapid.IntRange(0, n).Draw(t, "removed from the end") {
			tree.Delete(n - 1 - k)
			delete(model, n-1-k)
			if k%97 == 0 {
				checkShape(t, tree)
			}
		}
		for k := range rapid.IntRange(0, len(model)).Draw(t, "removed from the start") {
			tree.Delete(k)
			delete(model, k)
		}
		checkShape(t, tree)
		check(t, tree, model)
		if kept.Len() != n {
			t.Fatalf("the snapshot has %d keys, want %d", kept.Len(), n)
		}
	})
}

func nodes[K, V any](n *bnode[K, V]) int {
	sum := 1
	for _, c := range n.kids {
		sum += nodes(c)
	}
	return sum
}
