package metrics

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Histogram maps a bucket's upper edge to the cumulative count up to it.
type Histogram map[float64]float64

// Read returns the histogram called name from a scrape, summed over all its
// label sets. It fails when there is none.
func Read(scrape []byte, name string) (Histogram, error) {
	h := Histogram{}
	for line := range strings.Lines(string(scrape)) {
		rest, ok := strings.CutPrefix(line, name+"_bucket{")
		if !ok {
			continue
		}
		labels, value, ok := strings.Cut(rest, "} ")
		if !ok {
			return nil, fmt.Errorf("metric line not understood: %q", line)
		}
		edge, err := edgeOf(labels)
		if err != nil {
			return nil, err
		}
		count, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
		if err != nil {
			return nil, fmt.Errorf("metric line not understood: %q", line)
		}
		h[edge] += count
	}
	if len(h) == 0 {
		return nil, fmt.Errorf("no histogram %s among the metrics", name)
	}
	return h, nil
}

// edgeOf finds the label le.
func edgeOf(labels string) (float64, error) {
	for label := range strings.SplitSeq(labels, ",") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(label), "le="); ok {
			return strconv.ParseFloat(strings.Trim(v, `"`), 64)
		}
	}
	return 0, fmt.Errorf("bucket without le: %q", labels)
}

// Worst is the upper edge of the highest bucket that gained a count between
// two readings, so never less than the longest observation; 0 when there was
// none, +Inf when one lay above the last edge.
func Worst(before, after Histogram) float64 {
	edges := make([]float64, 0, len(after))
	for e := range after { // unordered: sorted below
		edges = append(edges, e)
	}
	slices.Sort(edges)
	worst, below := 0.0, 0.0
	for _, e := range edges {
		gained := after[e] - before[e]
		if gained > below {
			worst = e
		}
		below = max(below, gained)
	}
	return worst
}

// Count is the number of observations between two readings.
func Count(before, after Histogram) float64 {
	return after[math.Inf(1)] - before[math.Inf(1)]
}
