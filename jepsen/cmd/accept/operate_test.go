package main

import (
	"bytes"
	"context"
	"testing"
)

// TestOperate is the short form of membership: one round, the product built with the race
// detector, whatever pauses a busy machine makes of it. The upgrades are restarts with the same
// version.
func TestOperate(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the product and starts five processes")
	}
	out := &bytes.Buffer{}
	s := &session{dir: t.TempDir(), line: "membership", out: out, race: true}
	r, err := operateOnce(context.Background(), s, "")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if r.Failed > 0 {
		t.Errorf("%d requests failed or were wrong on nodes that stay:\n%s", r.Failed, out)
	}
	if len(r.Steps) != 8 || r.Writes < 50 || r.Reads < 10 || r.Messages < 5 {
		t.Errorf("%d steps, %d writes, %d reads and %d messages prove nothing:\n%s", len(r.Steps), r.Writes, r.Reads, r.Messages, out)
	}
}
