package cluster_test

import (
	"context"
	"errors"
	"testing"

	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
)

// TestOperationsOfALaterLevelAreNotProposed asks a node for an operation that the level in force doesn't have, as one of the next
// version would: it is refused, and the log stays one that every node can apply.
func TestOperationsOfALaterLevelAreNotProposed(t *testing.T) {
	c := clustertest.Start(t, 1, nil)
	n, ctx := c.Nodes[0], context.Background()
	if _, err := n.Propose(ctx, 95, nil); !errors.Is(err, fsm.ErrFeatureLevel) {
		t.Errorf("got %v, want %v", err, fsm.ErrFeatureLevel)
	}
	if v, err := c.Write(0, "SET", "k", "v"); err != nil || v.IsError() {
		t.Errorf("afterwards: %v, %v", v, err)
	}
}
