package command

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// lengths is the whole table of the lengths of longest common subsequences.
func lengths(x, y string) [][]int {
	t := make([][]int, len(x)+1)
	for i := range t {
		t[i] = make([]int, len(y)+1)
		for j := 1; i > 0 && j <= len(y); j++ {
			if t[i][j] = max(t[i-1][j], t[i][j-1]); x[i-1] == y[j-1] {
				t[i][j] = t[i-1][j-1] + 1
			}
		}
	}
	return t
}

// TestLCS compares with the whole table: the length, a text that is a subsequence of
// both, and ranges that spell it.
func TestLCS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom([]byte("ab\xc3\xa9\xff")), 0, 150)
		x, y := string(text.Draw(t, "x")), string(text.Draw(t, "y"))
		want := lengths(x, y)[len(x)][len(y)]
		table := newLCSTable(x, y, true)
		got := table.text()
		if table.length != want || len(got) != want || !within(got, x) || !within(got, y) {
			t.Fatalf("%q of length %d, want %d", got, table.length, want)
		}
		spelled := ""
		for _, m := range table.matches(&lcsOptions{}).Elems() {
			one := part(x, m.Elems()[0])
			if one != part(y, m.Elems()[1]) {
				t.Fatalf("a match of unequal parts")
			}
			spelled = one + spelled
		}
		if spelled != got {
			t.Fatalf("ranges spell %q, not %q", spelled, got)
		}
		if newLCSTable(x, y, false).length != want {
			t.Fatal("another length without the way")
		}
	})
}

func part(s string, span reply.Value) string {
	return s[span.Elems()[0].Int() : span.Elems()[1].Int()+1]
}

// within reports whether s is a subsequence of t.
func within(s, t string) bool {
	for i := range len(t) {
		if s != "" && s[0] == t[i] {
			s = s[1:]
		}
	}
	return s == ""
}
