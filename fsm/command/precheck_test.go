package command

import "testing"

// TestRowsWithPrecheck are those that MayPrecheck knows by their words.
func TestRowsWithPrecheck(t *testing.T) {
	found := 0
	for _, c := range NewTable().Rows() {
		if got := MayPrecheck(words(c.Name)); got != (c.Precheck != nil) {
			t.Errorf("%s: %v", c.Name, got)
		}
		if c.Precheck != nil {
			found++
		}
	}
	if found == 0 {
		t.Error("no row has stand-ins")
	}
}
