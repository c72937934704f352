package hist

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The estimate is never below the exact quantile and at most 1.6 % above it.
func TestQuantileBoundsTheExactOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Hour)), 1, 300).Draw(t, "vs")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		var h H
		for _, v := range vs {
			h.Add(time.Duration(v))
		}
		slices.Sort(vs)
		exact := vs[min(int(q*float64(len(vs))), len(vs)-1)]
		got := int64(h.Quantile(q))
		if got < exact || float64(got) > float64(exact)*1.016+1 {
			t.Fatalf("quantile %v: got %d, exact %d", q, got, exact)
		}
	})
}

func TestMergeEqualsAddingAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.SliceOf(rapid.Int64Range(-5, 1<<40)).Draw(t, "one")
		two := rapid.SliceOf(rapid.Int64Range(-5, 1<<40)).Draw(t, "two")
		var a, b, all H
		for _, v := range one {
			a.Add(time.Duration(v))
			all.Add(time.Duration(v))
		}
		for _, v := range two {
			b.Add(time.Duration(v))
			all.Add(time.Duration(v))
		}
		a.Merge(&b)
		if a != all {
			t.Fatalf("merged %d differ from added %d", a.N(), all.N())
		}
	})
}

func TestEmptyHistogram(t *testing.T) {
	var h H
	if h.Quantile(.99) != 0 || h.Max() != 0 || h.N() != 0 {
		t.Fatalf("empty: %v %v %v", h.Quantile(.99), h.Max(), h.N())
	}
}
