package keyspace

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// inOrder is a model's members as a sorted set has them.
func inOrder(model map[string]float64) []Scored {
	all := []Scored{}
	for member, score := range model {
		all = append(all, Scored{score, member})
	}
	slices.SortFunc(all, compareScored)
	return all
}

// checkZSet compares every way to look at a set with a model.
func checkZSet(t *rapid.T, z *ZSet, model map[string]float64) {
	want, size := inOrder(model), int64(0)
	if got := z.Range(0, z.Len()); !slices.Equal(got, want) && len(got)+len(want) > 0 {
		t.Fatalf("holds %v, want %v", got, want)
	}
	for i, s := range want {
		size += scoredCost + int64(len(s.Member))
		score, ok := z.Score([]byte(s.Member))
		rank, ranked := z.Rank([]byte(s.Member))
		if !ok || score != s.Score || !ranked || rank != i || z.At(i) != s {
			t.Fatalf("%v at %d: score %v %v, rank %d %v", s, i, score, ok, rank, ranked)
		}
	}
	if z.Size() != size {
		t.Fatalf("size %d, want %d", z.Size(), size)
	}
	bound := rapid.SampledFrom([]float64{-3, 0, 0.5, 2, math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}).Draw(t, "bound")
	below, upTo := 0, 0
	for _, s := range want {
		if s.Score < bound {
			below++
		}
		if s.Score <= bound {
			upTo++
		}
	}
	if z.Below(bound, false) != below || z.Below(bound, true) != upTo {
		t.Fatalf("below %v: %d and %d, want %d and %d", bound, z.Below(bound, false), z.Below(bound, true), below, upTo)
	}
	checkScan(t, z, model)
}

// checkScan pages through a set and expects each member once, as nothing is written.
func checkScan(t *rapid.T, z *ZSet, model map[string]float64) {
	count, seen := rapid.IntRange(1, 50).Draw(t, "count"), map[string]float64{}
	for cursor := uint64(0); ; {
		cursor = z.Scan(cursor, count, func(s Scored) {
			if _, twice := seen[s.Member]; twice {
				t.Fatalf("%q came twice", s.Member)
			}
			seen[s.Member] = s.Score
		})
		if cursor == 0 {
			break
		}
	}
	if !maps.Equal(seen, model) {
		t.Fatalf("scanned %v, want %v", seen, model)
	}
}

// TestZSet changes a set across all its forms, keeps clones of it, and compares them
// with models; each must also come back from its bytes, and write the same again.
func TestZSet(t *testing.T) {
	type kept struct {
		z     *ZSet
		model map[string]float64
	}
	rapid.Check(t, func(t *rapid.T) {
		z, model := NewZSet(1, 1), map[string]float64{}
		var all []kept
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch op := rapid.IntRange(0, 7).Draw(t, "op"); {
			case op <= 4:
				for range rapid.IntRange(1, 30).Draw(t, "many") {
					member := fmt.Sprint("m", rapid.IntRange(0, 200).Draw(t, "member"))
					score := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, math.Inf(1), math.Inf(-1)}).Draw(t, "score")
					_, had := model[member]
					if added := z.Put([]byte(member), score); added == had {
						t.Fatalf("%s: added %v, had %v", member, added, had)
					}
					model[member] = score
				}
			case op == 5:
				from := rapid.IntRange(0, z.Len()).Draw(t, "from")
				to := rapid.IntRange(from, z.Len()).Draw(t, "to")
				for _, s := range z.Range(from, to) {
					delete(model, s.Member)
				}
				z.RemoveRange(from, to)
			case op == 6:
				member := fmt.Sprint("m", rapid.IntRange(0, 200).Draw(t, "member"))
				_, had := model[member]
				if z.Remove([]byte(member)) != had {
					t.Fatalf("removing %s", member)
				}
				delete(model, member)
			case op == 7:
				all = append(all, kept{z, maps.Clone(model)})
				z = z.Clone().(*ZSet)
			}
		}
		for _, k := range append(all, kept{z, model}) {
			checkZSet(t, k.z, k.model)
			if k.z.Len() == 0 {
				continue
			}
			var w, again wire.Writer
			k.z.Encode(&w)
			c, ok := decodeZSet(wire.NewReader(w.B))
			if !ok {
				t.Fatal("does not come back")
			}
			checkZSet(t, c.(*ZSet), k.model)
			if c.Encode(&again); string(again.B) != string(w.B) {
				t.Fatal("comes back as another")
			}
		}
	})
}

// TestZSetScanIsTheSameInEveryForm compares a set that has shrunk with its restored
// self, which is smaller in memory: pages and cursors must be equal.
func TestZSetScanIsTheSameInEveryForm(t *testing.T) {
	z := NewZSet(1, 1)
	for i := range 200 {
		z.Put(fmt.Append(nil, i), float64(i))
	}
	z.RemoveRange(0, 170)
	var w wire.Writer
	z.Encode(&w)
	c, ok := decodeZSet(wire.NewReader(w.B))
	if !ok {
		t.Fatal("does not come back")
	}
	restored := c.(*ZSet)
	if restored.ranked != nil || z.ranked == nil || !z.Loose() {
		t.Fatal("the two should have different forms")
	}
	for cursor, pages := uint64(0), 0; pages == 0 || cursor != 0; pages++ {
		var a, b []Scored
		next := z.Scan(cursor, 7, func(s Scored) { a = append(a, s) })
		other := restored.Scan(cursor, 7, func(s Scored) { b = append(b, s) })
		if next != other || !slices.Equal(a, b) || pages > 10 {
			t.Fatalf("page %d: %v and %v, then %d and %d", pages, a, b, next, other)
		}
		cursor = next
	}
}

// TestDecodeZSetRefuses tries bytes that no set writes.
func TestDecodeZSetRefuses(t *testing.T) {
	encode := func(members ...Scored) []byte {
		var w wire.Writer
		(&ZSet{small: members}).Encode(&w)
		return w.B
	}
	for name, b := range map[string][]byte{
		"empty": encode(), "no number": encode(Scored{math.NaN(), "a"}), "out of order": encode(Scored{2, "a"}, Scored{1, "b"}),
		"twice": encode(Scored{1, "a"}, Scored{2, "a"}), "cut": encode(Scored{1, "abcdefghijklmnop"})[:12],
	} {
		if _, ok := decodeZSet(wire.NewReader(b)); ok {
			t.Errorf("%s: taken", name)
		}
	}
}
