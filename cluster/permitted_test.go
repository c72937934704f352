package cluster_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

// TestOperationsOfALaterLevelAreNotProposed asks a node, in whose cluster there may be nodes of the version before, for
// operations that those don't know: they are refused, and the log stays one that every node can apply.
func TestOperationsOfALaterLevelAreNotProposed(t *testing.T) {
	dir := t.TempDir()
	untar(t, filepath.Join("testdata", "compat", "level-1.tar.gz"), dir)
	o := oldOptions(t, dir, func(reason string) { t.Errorf("the node must stop: %s", reason) })
	o.LevelAfter = time.Hour
	n, err := cluster.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c := &clustertest.Cluster{T: t, Nodes: []*cluster.Node{n}}
	defer c.StopAll()
	ctx := context.Background()
	eventually(t, "the node serves", func() bool { return n.Ready(ctx) })
	if level := n.Machine().Level(); level != env.Base {
		t.Fatalf("the level is %d", level)
	}
	if _, err := fsm.Do(ctx, n, fsm.RotateTokens, fsm.TokenRotation{}); !errors.Is(err, fsm.ErrFeatureLevel) {
		t.Errorf("tokens are rotated: %v", err)
	}
	if _, err := fsm.Do(ctx, n, fsm.ConfigureDatabase, fsm.DatabaseSettings{Name: fsm.DefaultDB, MaxMemory: 1}); !errors.Is(err, fsm.ErrFeatureLevel) {
		t.Errorf("a database is limited: %v", err)
	}
	if v, err := c.Write(0, "SET", "k", "v"); err != nil || v.IsError() {
		t.Errorf("afterwards: %v, %v", v, err)
	}
}
