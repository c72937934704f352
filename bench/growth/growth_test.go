package growth

import (
	"errors"
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		cost   func(n int) time.Duration
		linear bool
	}{
		"linear":                   {func(n int) time.Duration { return time.Duration(10 * n) }, true},
		"linear with a collection": {func(n int) time.Duration { return time.Duration(10*n) + time.Duration(n/largest)*8*time.Millisecond }, true},
		"square":                   {func(n int) time.Duration { return time.Duration(n) * time.Duration(n) / 100 }, false},
	} {
		var points []Point
		for n := smallest; n <= largest; n *= step {
			points = append(points, Point{n, c.cost(n)})
		}
		if err := Judge(points); errors.Is(err, ErrSuperlinear) == c.linear {
			t.Errorf("%s: %v", name, err)
		}
	}
	if Judge(nil) == nil {
		t.Error("nothing measured passes")
	}
}

// TestFamiliesRead runs the smallest input of every family once: it is one that the
// parser reads.
func TestFamiliesRead(t *testing.T) {
	names := map[string]bool{}
	for _, f := range Families() {
		if names[f.Name] {
			t.Errorf("two families are called %q", f.Name)
		}
		names[f.Name] = true
		f.Prepare(smallest)()
	}
	if len(names) < 40 {
		t.Errorf("%d families", len(names))
	}
}
