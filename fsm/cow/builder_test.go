package cow

import (
	"cmp"
	"testing"

	"pgregory.net/rapid"
)

// TestBuilder builds trees of all interesting sizes and then changes them.
func TestBuilder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(0, 10000)).Draw(t, "n")
		b := NewBuilder[int, int](headOf, cmp.Compare[int])
		model := map[int]int{}
		for i := range n {
			if !b.Add(3*i, i) {
				t.Fatalf("key %d refused", 3*i)
			}
			if b.Add(3*i, i) || b.Add(3*i-1, i) {
				t.Fatalf("a key that is not greater was taken")
			}
			model[3*i] = i
		}
		tree := b.Tree()
		checkShape(t, tree)
		check(t, tree, model)
		for range rapid.IntRange(0, 300).Draw(t, "changes") {
			k := rapid.IntRange(0, 3*n+1).Draw(t, "k")
			if rapid.Bool().Draw(t, "delete") {
				v, had := tree.Remove(k)
				if want, ok := model[k]; had != ok || v != want {
					t.Fatalf("remove %d: %d %v, want %d %v", k, v, had, want, ok)
				}
				delete(model, k)
			} else {
				tree.Set(k, k)
				model[k] = k
			}
		}
		checkShape(t, tree)
		check(t, tree, model)
	})
}

// checkShape fails unless all leaves are equally deep, every node but the root is
// at least nearly half full, and the sizes add up.
func checkShape[K, V any](t *rapid.T, tree *BTree[K, V]) {
	var walk func(n *bnode[K, V], root, edge bool) (depth, size int)
	walk = func(n *bnode[K, V], root, edge bool) (depth, size int) {
		least := minItems - 1
		if edge { // few items, after keys that came in order
			least = 1
		}
		if !root && n.n < least || n.n > maxItems {
			t.Fatalf("a node holds %d items", n.n)
		}
		size = n.n
		for i, c := range n.kids {
			d, s := walk(c, false, edge && i == len(n.kids)-1)
			if i > 0 && d != depth {
				t.Fatalf("leaves at depths %d and %d", d, depth)
			}
			depth, size = d, size+s
		}
		if len(n.kids) > 0 && len(n.kids) != n.n+1 || n.size != size {
			t.Fatalf("%d items, %d kids, size %d of %d", n.n, len(n.kids), n.size, size)
		}
		return depth + 1, size
	}
	if tree.root != nil {
		walk(tree.root, true, true)
	}
}

// TestUpsertKeepsKeys checks that the key made for storing is the one that stays.
func TestUpsertKeepsKeys(t *testing.T) {
	tree := NewBTree[*int, string](nil, func(a, b *int) int { return cmp.Compare(*a, *b) })
	made := 0
	keep := func(k *int) *int { made++; c := *k; return &c }
	for i := range 1000 {
		k := i % 500
		slot, stored, had := tree.Upsert(&k, keep)
		if had != (i >= 500) || stored == &k || *stored != k {
			t.Fatalf("upsert %d: had %v, stored %d", i, had, *stored)
		}
		*slot = "v"
	}
	if made != 500 {
		t.Fatalf("%d keys made, want 500", made)
	}
}

// TestBuilderFillsNodes bounds the nodes that a load makes.
func TestBuilderFillsNodes(t *testing.T) {
	const n = 100_000
	b := NewBuilder[int, struct{}](headOf, cmp.Compare[int])
	for i := range n {
		b.Add(i, struct{}{})
	}
	nodes := 0
	var walk func(*bnode[int, struct{}])
	walk = func(n *bnode[int, struct{}]) {
		nodes++
		for _, c := range n.kids {
			walk(c)
		}
	}
	walk(b.Tree().root)
	if limit := n/fillItems + n/fillItems/10; nodes > limit {
		t.Fatalf("%d nodes for %d keys, want at most %d", nodes, n, limit)
	}
}
