package slowdisks_test

import (
	"context"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/jepsen/slowdisks"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// start starts three nodes.
func start(t *testing.T, args ...string) *testcluster.Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("starts three processes for half a minute")
	}
	binary, err := testcluster.Build(t.TempDir(), testcluster.BuildOptions{Failpoints: true})
	if err != nil {
		t.Fatal(err)
	}
	c, err := testcluster.NewCluster(testcluster.Options{Binary: binary, Dir: t.TempDir(), Args: args})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSlowLeader: leadership leaves a slow disk within seconds, once, and writes go on. The node says that its disk is slow.
func TestSlowLeader(t *testing.T) {
	r, err := slowdisks.Leader(t.Context(), start(t), 200*time.Millisecond, slowdisks.Times{Before: 3 * time.Second, During: 15 * time.Second})
	t.Logf("gave way after %v; before: %v; after that: %v", r.Moved, r.Before, r.During)
	if err != nil {
		t.Error(err)
	}
}

// TestSlowDisks: where all disks are slow nothing moves.
func TestSlowDisks(t *testing.T) {
	r, err := slowdisks.All(t.Context(), start(t), 200*time.Millisecond, slowdisks.Times{Before: time.Second, During: 8 * time.Second})
	t.Logf("%d changes of leader; before: %v; during: %v", r.Changes, r.Before, r.During)
	if err != nil {
		t.Error(err)
	}
}
