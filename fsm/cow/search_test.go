package cow

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// pair is a key that carries its value, as those of a keyspace do.
type pair struct{ k, v int }

func comparePair(p *pair, k int) int { return cmp.Compare(p.k, k) }

func newPairs() *BTree[*pair, struct{}] {
	return NewBTree[*pair, struct{}](func(p *pair) uint64 { return headOf(p.k) }, func(a, b *pair) int { return cmp.Compare(a.k, b.k) })
}

// TestSearchByPart drives a tree of keys that carry their values by a part of them, with snapshots
// taken at any moment, and compares each version with a model of the time it was taken.
func TestSearchByPart(t *testing.T) {
	type version struct {
		tree  *BTree[*pair, struct{}]
		model map[int]int
	}
	rapid.Check(t, func(t *rapid.T) {
		live := version{newPairs(), map[int]int{}}
		var kept []version
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			base := rapid.IntRange(0, 1500).Draw(t, "base")
			remove := rapid.Bool().Draw(t, "remove")
			for i := range rapid.IntRange(1, 400).Draw(t, "n") {
				k := (base + i*7) % 2000
				want, found := live.model[k]
				if remove {
					p, _, had := RemoveBy(live.tree, headOf(k), k, comparePair)
					if had != found || had && *p != (pair{k, want}) {
						t.Fatalf("removed %v, %v of %d, want %d, %v", p, had, k, want, found)
					}
					delete(live.model, k)
					continue
				}
				slot, _, had := UpsertBy(live.tree, headOf(k), k, comparePair)
				if had != found || had && **slot != (pair{k, want}) || !had && *slot != nil {
					t.Fatalf("the slot of %d has %v, %v, want %d, %v", k, *slot, had, want, found)
				}
				*slot, live.model[k] = &pair{k, i}, i // a new key that equals the old one
			}
			if rapid.Bool().Draw(t, "snapshot") {
				kept = append(kept, version{live.tree.Snapshot(), maps.Clone(live.model)})
			}
		}
		for _, v := range append(kept, live) {
			checkShape(t, v.tree)
			checkPairs(t, v.tree, v.model)
		}
	})
}

func checkPairs(t *rapid.T, tree *BTree[*pair, struct{}], model map[int]int) {
	var got []int
	tree.All(func(p *pair, _ struct{}) bool { got = append(got, p.k); return true })
	if want := slices.Sorted(maps.Keys(model)); !slices.Equal(got, want) || tree.Len() != len(want) {
		t.Fatalf("%d keys %v, want %v", tree.Len(), got, want)
	}
	for k := range 2000 {
		p, _, ok := GetBy(tree, headOf(k), k, comparePair)
		v, found := model[k]
		if ok != found || ok && *p != (pair{k, v}) {
			t.Fatalf("got %v, %v of %d, want %d, %v", p, ok, k, v, found)
		}
	}
}

// TestNodeSizes holds what maxItems is chosen for: with the word that the runtime adds, nodes fill an
// allocation.
func TestNodeSizes(t *testing.T) {
	const word = 8
	if n := unsafe.Sizeof(bnode[*pair, struct{}]{}) + word; n > 1024 {
		t.Errorf("a node of pointers takes %d bytes", n)
	}
	if n := unsafe.Sizeof(bnode[string, *pair]{}) + word; n > 2048 {
		t.Errorf("a node of strings and pointers takes %d bytes", n)
	}
}
