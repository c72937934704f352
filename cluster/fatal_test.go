package cluster_test

import (
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
)

// TestProcessThatCannotEnd stops a leader in a process that does not end, like one with a thread that waits for a dead disk.
// It goes on sending heartbeats, so no timeout replaces it: the others find its port closed.
func TestProcessThatCannotEnd(t *testing.T) {
	c := clustertest.Start(t, 3, func(o *cluster.Options) { o.Fatal = func(string) {} })
	c.WaitReady()
	old := c.Leader()
	c.Nodes[old].Fail("a disk that answers nothing")
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		for i, n := range c.Nodes {
			if i != old && n.IsLeader() {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatal("no other node leads")
		}
	}
}
