package layout

import "testing"

func TestNoProductFileIsLongerThanTheLimit(t *testing.T) {
	files, _, err := Measure(root, repository(t), Product)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Lines > MostLines {
			t.Errorf("%s has %d lines, want at most %d: split it by theme", f.Name, f.Lines, MostLines)
		}
	}
}

// TestFunctionsOfTheProductStayShort names the functions to look at when some have become too long.
func TestFunctionsOfTheProductStayShort(t *testing.T) {
	_, functions, err := Measure(root, repository(t), Product)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range functions {
		if f.Lines > MostFunctionLines {
			t.Errorf("%s has %d lines, want at most %d: split it by theme", f.Name, f.Lines, MostFunctionLines)
		}
	}
	if p90 := functions.Percentile(90); p90.Lines > MostLinesOfNine {
		t.Errorf("more than one function in ten has over %d lines (p90 %d); the longest are worth splitting first:", MostLinesOfNine, p90.Lines)
		for _, f := range functions[max(0, len(functions)-20):] {
			t.Errorf("%4d %s", f.Lines, f.Name)
		}
	}
}

func TestKindOf(t *testing.T) {
	for path, want := range map[string]Kind{
		"fsm/queue": Product, "cmd/trireme": Product, "cluster/clustertest": Tests, "jepsen/sim": Tests,
		"jepsen/testcluster/network": Tests, "bench/growth": Tools, "scripts/release": Tools,
	} {
		if got := KindOf(File{Folder: path}); got != want {
			t.Errorf("%s is of kind %d, want %d", path, got, want)
		}
	}
	if got := KindOf(File{Folder: "fsm/queue", Test: true}); got != Tests {
		t.Errorf("a test is of kind %d, want %d", got, Tests)
	}
}

func TestPercentile(t *testing.T) {
	var s Sizes
	for n := 1; n <= 10; n++ {
		s = append(s, Size{Lines: n})
	}
	for p, want := range map[int]int{0: 1, 50: 5, 90: 9, 100: 10} {
		if got := s.Percentile(p).Lines; got != want {
			t.Errorf("percentile %d of 1 to 10 is %d, want %d", p, got, want)
		}
	}
}
