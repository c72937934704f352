package cluster_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
)

// TestFollowerCatchesUpFromTheLog stops a follower while the others write and take snapshots. As long as their log still
// has what it missed, it gets no copy of the state; with a log that is cut right behind each snapshot it gets one.
func TestFollowerCatchesUpFromTheLog(t *testing.T) {
	for _, r := range []struct {
		name     string
		trailing uint64 // 0 = the default
		copies   int64
	}{{"the log has it", 0, 0}, {"the log was cut", 10, 1}} {
		t.Run(r.name, func(t *testing.T) {
			var copies atomic.Int64 // of the state that the last node got
			c := clustertest.Start(t, 3, func(o *cluster.Options) {
				o.TrailingLogs = r.trailing
				if o.NodeID == "n3" {
					o.Machine = fsm.NewMachine()
					o.Machine.Hooks.Restored = func() { copies.Add(1) }
				}
			})
			write := func(n int) {
				t.Helper()
				for i := range n {
					if _, err := c.Write(i%2, "APPEND", fmt.Sprintf("key:%d", i%50), "value"); err != nil {
						t.Fatal(err)
					}
				}
			}
			write(20)
			c.Stop(2)
			for range 2 { // the second snapshot removes what the first one left
				write(100)
				for _, n := range c.Nodes[:2] {
					if err := n.Snapshot(); err != nil {
						t.Fatal(err)
					}
				}
			}
			write(20)
			if own, err := os.ReadDir(filepath.Join(c.Dirs[2], "snapshots")); err != nil || len(own) > 0 {
				t.Fatalf("the follower has snapshots of its own, which it reads first: %v, %v", own, err)
			}
			c.StartAll()
			oneDigest(t, c)
			if n := copies.Load(); n != r.copies {
				t.Errorf("the follower got %d copies of the state, want %d", n, r.copies)
			}
		})
	}
}
