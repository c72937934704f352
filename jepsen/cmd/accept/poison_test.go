package main

import (
	"bytes"
	"context"
	"testing"
)

// TestPoison is the run poison: it is short as it is.
func TestPoison(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the product and starts three processes")
	}
	out := &bytes.Buffer{}
	s := &session{dir: t.TempDir(), line: "poison", out: out}
	if err := poisoned(context.Background(), s); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}
