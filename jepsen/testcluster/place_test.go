package testcluster

import (
	"testing"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// TestPlacesOfTokens reads the tokens of a read, of a write, and of writes that ran together, which are
// in the order of their rows.
func TestPlacesOfTokens(t *testing.T) {
	for token, want := range map[string]history.Place{
		"1k.a":       {Index: 10, Nth: history.AfterEntry},
		"1k.a.2":     {Index: 10, Nth: history.NthOf(2, 0)},
		"1k.a.2.z":   {Index: 10, Nth: history.NthOf(2, 35)},
		"1k":         {},
		"1k.a.!":     {},
		"1k.a.2.1.1": {},
	} {
		if got := parsePlace(token); got != want {
			t.Errorf("%s: %+v, want %+v", token, got, want)
		}
	}
	inOrder := []string{"1k.a.1", "1k.a.2.1", "1k.a.2.2", "1k.a.3", "1k.a", "1k.b.0"}
	for i := range inOrder[1:] {
		if !parsePlace(inOrder[i]).Before(parsePlace(inOrder[i+1])) {
			t.Errorf("%s is not before %s", inOrder[i], inOrder[i+1])
		}
	}
}
