package cow

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// highest is a summary for tests: the highest value below, and the lowest.
type highest struct{ most, least int }

func joinHighest(into, other *highest) {
	into.most, into.least = max(into.most, other.most), min(into.least, other.least)
}

// checkSummed compares a map with a model: order, positions, sums, what Next and Best find.
func checkSummed(t *rapid.T, su *Summed[int, highest], model map[string]int) {
	names := slices.Sorted(maps.Keys(model))
	if su.Len() != len(names) {
		t.Fatalf("length %d, want %d", su.Len(), len(names))
	}
	want, have := highest{-1, 1 << 30}, []string{}
	for v, at, ok := su.Next("", true, nil); ok; v, at, ok = su.Next(at, false, nil) {
		if model[at] != v || su.At(len(have)) != at {
			t.Fatalf("%q has %d, want %d; position %d has %q", at, v, model[at], len(have), su.At(len(have)))
		}
		have = append(have, at)
		joinHighest(&want, &highest{v, v})
	}
	if !slices.Equal(have, names) {
		t.Fatalf("names %q, want %q", have, names)
	}
	if sum := *su.Sum(); len(names) > 0 && sum != want {
		t.Fatalf("sum %+v, want %+v", sum, want)
	}
	least := rapid.IntRange(0, 100).Draw(t, "least")
	after := rapid.SampledFrom(append(names, "m", "")).Draw(t, "after")
	_, at, ok := su.Next(after, false, func(s *highest) bool { return s.most >= least })
	i := slices.IndexFunc(names, func(n string) bool { return n > after && model[n] >= least })
	if ok != (i >= 0) || ok && at != names[i] {
		t.Fatalf("the next of at least %d after %q is %q", least, after, at)
	}
	spared := rapid.IntRange(0, 100).Draw(t, "spared")
	score := func(v int) int64 {
		if v >= spared {
			return int64(v / 2)
		}
		return int64(v)
	}
	best, found := su.Best(int64(least), func(s *highest) int64 { return int64(s.most) }, score)
	wantBest, wantFound := -1, false
	for _, n := range names {
		if v := model[n]; score(v) > int64(least) && (!wantFound || score(v) > score(wantBest)) {
			wantBest, wantFound = v, true
		}
	}
	if found != wantFound || found && (score(best) != score(wantBest)) {
		t.Fatalf("the best is %d, want %d", best, wantBest)
	}
	for n, v := range model {
		if got, ok := su.Get(n); !ok || got != v {
			t.Fatalf("%q has %d, want %d", n, got, v)
		}
	}
	if su.root != nil {
		checkDepth(t, su.root)
	}
}

func checkDepth(t *rapid.T, n *snode[int, highest]) (depth int) {
	if len(n.places) == 0 || len(n.places) > maxSummed {
		t.Fatalf("a node of %d places", len(n.places))
	}
	if n.leaf {
		return 0
	}
	for i := range n.places {
		d := checkDepth(t, n.places[i].kid)
		if i > 0 && d != depth {
			t.Fatalf("leaves at depths %d and %d", d, depth)
		}
		depth = d
	}
	return depth + 1
}

// TestSummed changes a map and a model alike, in bursts that make it deep, and keeps snapshots that must not change.
func TestSummed(t *testing.T) {
	type version struct {
		su    *Summed[int, highest]
		model map[string]int
	}
	rapid.Check(t, func(t *rapid.T) {
		live := version{NewSummed[int](joinHighest), map[string]int{}}
		var kept []version
		for range rapid.IntRange(1, 20).Draw(t, "bursts") {
			base, n := rapid.IntRange(0, 3000).Draw(t, "base"), rapid.IntRange(1, 400).Draw(t, "n")
			step := rapid.SampledFrom([]int{1, 7, 1999}).Draw(t, "step")
			remove := rapid.IntRange(0, 2).Draw(t, "remove") == 0
			for i := range n {
				name := fmt.Sprintf("n%04d", (base+i*step)%4000)
				if _, had := live.model[name]; remove {
					if live.su.Delete(name) != had {
						t.Fatalf("removing %q: had %v", name, had)
					}
					delete(live.model, name)
					continue
				}
				v := (base*31 + i*17) % 101
				live.su.Put(name, v, highest{v, v})
				live.model[name] = v
			}
			if rapid.Bool().Draw(t, "snapshot") {
				s := version{live.su.Snapshot(), maps.Clone(live.model)}
				if rapid.Bool().Draw(t, "the snapshot goes on") {
					s.su, live.su = live.su, s.su
				}
				kept = append(kept, s)
			}
		}
		for _, v := range append(kept, live) {
			checkSummed(t, v.su, v.model)
		}
	})
}

// TestSummedChangesLittle holds what a fork and a change cost: the nodes on one way down, however many values there are.
func TestSummedChangesLittle(t *testing.T) {
	allocations := func(n int) float64 {
		su := NewSummed[int](joinHighest)
		for i := range n {
			su.Put(fmt.Sprintf("n%06d", i), 50, highest{50, 50})
		}
		return testing.AllocsPerRun(100, func() {
			su.Snapshot()
			su.Put("n000007", 51, highest{51, 51})
		})
	}
	if few, many := allocations(100), allocations(100_000); many > few+6 {
		t.Errorf("a fork and a change take %v allocations of 100,000 values, %v of 100", many, few)
	}
}

// TestSnapshotsAtOnce has several goroutines take snapshots of versions that nobody changes, and change those, while others read: the
// race detector must find nothing, and every version keep what it had.
func TestSnapshotsAtOnce(t *testing.T) {
	tree, list, sums := NewBTree[int, int](nil, cmp.Compare[int]), NewSequence[int](), NewSummed[int](joinHighest)
	for i := range 500 {
		tree.Set(i, i)
		list.Insert(i, i)
		sums.Put(fmt.Sprintf("n%03d", i), i, highest{i, i})
	}
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for range 20 {
				a, b, c := tree.Snapshot(), list.Snapshot(), sums.Snapshot()
				for i := range 500 {
					a.Set(i, worker)
					b.Set(i, worker)
					c.Put(fmt.Sprintf("n%03d", i), worker, highest{worker, worker})
				}
				a.Set(1000+worker, 1)
				a.Delete(worker)
				b.Delete(worker)
				c.Delete(fmt.Sprintf("n%03d", worker))
			}
		})
	}
	all.Wait()
	for i := range 500 {
		v, _ := tree.Get(i)
		w, _ := sums.Get(fmt.Sprintf("n%03d", i))
		if v != i || list.At(i) != i || w != i {
			t.Fatalf("at %d: %d, %d, %d", i, v, list.At(i), w)
		}
	}
}
