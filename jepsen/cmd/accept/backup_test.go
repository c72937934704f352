package main

import (
	"bytes"
	"context"
	"testing"
	"time"
)

// TestBackups is the short form of backups, with the race detector.
func TestBackups(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the product and starts four clusters")
	}
	out := &bytes.Buffer{}
	s := &session{dir: t.TempDir(), line: "backups", out: out, race: true}
	plan := backupPlan{clients: 6, keys: 5000, backups: 1, warm: time.Second, verifies: 4, restores: 10, kills: 1}
	r, err := backupOnce(context.Background(), s, plan)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(r.Problems) > 0 || r.Failed > 0 {
		t.Errorf("%d requests failed, and %d problems:\n%s", r.Failed, len(r.Problems), out)
	}
	if r.Writes < 50 || r.Restored != 1 || r.Verified != 8 || r.Refused != 20 || r.Kills != 1 {
		t.Errorf("%+v proves nothing:\n%s", r, out)
	}
}
