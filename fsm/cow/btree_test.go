package cow

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestBTreeAgainstModel drives a tree, with snapshots taken at any moment, and
// compares each version with a sorted model of the time it was taken.
func TestBTreeAgainstModel(t *testing.T) {
	type version struct {
		tree  *BTree[int, int]
		model map[int]int
	}
	copyOf := func(m map[int]int) map[int]int {
		c := make(map[int]int, len(m))
		for k, v := range m {
			c[k] = v
		}
		return c
	}
	rapid.Check(t, func(t *rapid.T) {
		live := version{NewBTree[int, int](headOf, cmp.Compare[int]), map[int]int{}}
		var kept []version
		for range rapid.IntRange(1, 40).Draw(t, "rounds") {
			base := rapid.IntRange(0, 4000).Draw(t, "base")
			n := rapid.IntRange(1, 600).Draw(t, "n")
			del := rapid.Bool().Draw(t, "delete")
			for i := range n {
				k := (base + i*7) % 5000
				_, had := live.model[k]
				if del {
					if live.tree.Delete(k) != had {
						t.Fatalf("delete %d: had %v", k, had)
					}
					delete(live.model, k)
				} else {
					if live.tree.Set(k, i) != had {
						t.Fatalf("set %d: had %v", k, had)
					}
					live.model[k] = i
				}
			}
			if rapid.Bool().Draw(t, "snapshot") {
				kept = append(kept, version{live.tree.Snapshot(), copyOf(live.model)})
			}
		}
		for _, v := range append(kept, live) {
			checkShape(t, v.tree)
			check(t, v.tree, v.model)
		}
	})
}

func check(t *rapid.T, tree *BTree[int, int], model map[int]int) {
	keys := make([]int, 0, len(model))
	for k := range model {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	if tree.Len() != len(keys) {
		t.Fatalf("length %d, want %d", tree.Len(), len(keys))
	}
	i := 0
	tree.All(func(k, v int) bool {
		if k != keys[i] || v != model[k] {
			t.Fatalf("position %d: %d=%d, want %d=%d", i, k, v, keys[i], model[keys[i]])
		}
		i++
		return true
	})
	for i, k := range keys {
		if r, ok := tree.Rank(k); !ok || r != i {
			t.Fatalf("rank of %d is %d, want %d", k, r, i)
		}
		if at, _ := tree.At(i); at != k {
			t.Fatalf("at %d: %d, want %d", i, at, k)
		}
		if v, ok := tree.Get(k); !ok || v != model[k] {
			t.Fatalf("get %d: %d %v", k, v, ok)
		}
	}
	if len(keys) > 0 {
		from := keys[len(keys)/2]
		var got []int
		tree.Ascend(from-1, func(k, _ int) bool { got = append(got, k); return len(got) < 10 })
		j := len(keys) / 2
		if j > 0 && keys[j-1] == from-1 {
			j--
		}
		if want := keys[j:min(j+10, len(keys))]; !slices.Equal(got, want) {
			t.Fatalf("ascend from %d: %v, want %v", from-1, got, want)
		}
	}
}

// headOf gives several keys one head, so that both parts of the order are used.
func headOf(k int) uint64 { return uint64(k / 50) }
