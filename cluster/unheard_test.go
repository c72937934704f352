package cluster_test

import (
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/clustertest"
)

// TestUnheardLeaderIsReplaced: nodes that are cut off from the leader agree that they hear nothing from it, and do not
// wait for raft's timer. On a machine that is too busy for that the timer may be first: then the test cuts off the next
// leader.
func TestUnheardLeaderIsReplaced(t *testing.T) {
	network := clustertest.NewNetwork()
	c := clustertest.Start(t, 3, network.Adjust)
	for begin := time.Now(); ; {
		leader := c.Leader()
		network.Cut(c.List[leader].ID)
		next := leader
		for next == leader {
			if time.Since(begin) > time.Minute {
				t.Fatal("no election in a minute was one of nodes that heard nothing")
			}
			time.Sleep(time.Millisecond)
			next = c.Leader()
		}
		agreed := c.Nodes[next].AgreedOnSilence()
		network.Heal(c.List[leader].ID)
		c.WaitReady()
		if agreed {
			return
		}
	}
}
