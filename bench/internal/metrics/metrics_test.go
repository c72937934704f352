package metrics

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const scrape = `# HELP x_seconds something
# TYPE x_seconds histogram
x_seconds_bucket{db="a",le="0.001"} 5
x_seconds_bucket{db="a",le="0.002"} 5
x_seconds_bucket{db="a",le="+Inf"} 6
x_seconds_bucket{le="0.001",db="b"} 1
x_seconds_bucket{le="0.002",db="b"} 3
x_seconds_bucket{le="+Inf",db="b"} 3
x_seconds_sum{db="a"} 9
x_seconds_count{db="a"} 6
x_seconds_more_bucket{le="0.5"} 100
`

func TestReadSumsLabelSets(t *testing.T) {
	h, err := Read([]byte(scrape), "x_seconds")
	if err != nil {
		t.Fatal(err)
	}
	if h[.001] != 6 || h[.002] != 8 || h[math.Inf(1)] != 9 || len(h) != 3 {
		t.Fatalf("%v", h)
	}
	if _, err := Read([]byte(scrape), "y_seconds"); err == nil {
		t.Fatal("a missing metric was read")
	}
}

// Worst is the edge of the bucket that holds the longest new observation.
func TestWorstBoundsTheLongestObservation(t *testing.T) {
	edges := []float64{.001, .01, .1, math.Inf(1)}
	rapid.Check(t, func(t *rapid.T) {
		old := rapid.SliceOf(rapid.Float64Range(0, 1)).Draw(t, "old")
		added := rapid.SliceOf(rapid.Float64Range(0, 1)).Draw(t, "new")
		before, after := fill(edges, old), fill(edges, append(slices.Clone(old), added...))
		want := 0.0
		if len(added) > 0 {
			longest := slices.Max(added)
			want = edges[slices.IndexFunc(edges, func(e float64) bool { return longest <= e })]
		}
		if got := Worst(before, after); got != want || Count(before, after) != float64(len(added)) {
			t.Fatalf("worst %v, want %v; %v new", got, want, Count(before, after))
		}
	})
}

// fill goes through the text form, as a scrape does.
func fill(edges, observed []float64) Histogram {
	var b strings.Builder
	for _, e := range edges {
		n := 0
		for _, o := range observed {
			if o <= e {
				n++
			}
		}
		fmt.Fprintf(&b, "h_bucket{le=%q} %d\n", fmt.Sprint(e), n)
	}
	h, err := Read([]byte(b.String()), "h")
	if err != nil {
		panic(err)
	}
	return h
}
