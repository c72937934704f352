package cluster_test

import (
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cli/doctor"
	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
)

// TestNodesTellOfEachOther: each node has the history of all, and reports a node that is down as missing. None warns of
// certificates that the others sign for themselves.
func TestNodesTellOfEachOther(t *testing.T) {
	share := clustertest.WithSecret("a secret of the cluster, for a test")
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		share(o)
		o.History = func() ([]byte, error) { return []byte("of " + o.NodeID), nil }
	})
	for i, n := range c.Nodes {
		eventually(t, "all three tell of themselves", func() bool {
			all := n.Histories(t.Context())
			if len(all) != 3 || all[0].Node != n.ID() {
				t.Fatalf("node %d has %+v", i+1, all)
			}
			for _, h := range all {
				if h.Err != nil || string(h.Data) != "of "+h.Node {
					return false
				}
			}
			return true
		})
		peers := n.Examine(t.Context())
		for _, f := range doctor.Peers(n.Address(), peers, time.Now()) {
			if f.Check == "certificate" {
				t.Errorf("node %d finds %+v", i+1, f)
			}
		}
		for _, p := range peers {
			if p.There.Err == nil && (!p.Signed || p.From.IsZero() || p.Until.IsZero()) {
				t.Errorf("node %d doesn't see that %s has signed its certificate: %+v", i+1, p.ID, p)
			}
		}
	}
	c.Stop(2)
	for _, h := range c.Nodes[0].Histories(t.Context()) {
		if down := h.Node == "n3"; down != (h.Err != nil) {
			t.Errorf("n1 has of %s: %q, %v", h.Node, h.Data, h.Err)
		}
	}
}
