package command

import "testing"

// TestRowsWithStandIns are those that MayStandIn knows by their words.
func TestRowsWithStandIns(t *testing.T) {
	found := 0
	for _, c := range NewTable().Rows() {
		if got := MayStandIn(words(c.Name)); got != (c.StandIn != nil) {
			t.Errorf("%s: %v", c.Name, got)
		}
		if c.StandIn != nil {
			found++
		}
	}
	if found == 0 {
		t.Error("no row has stand-ins")
	}
}
