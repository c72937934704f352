package cluster_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
)

// TestSnapshotAfterBytes checks that a node takes a snapshot after the configured bytes of log, and the next one after
// as many as the last one has.
func TestSnapshotAfterBytes(t *testing.T) {
	c := clustertest.Start(t, 1, func(o *cluster.Options) { o.SnapshotBytes = 1 << 10 })
	value := strings.Repeat("v", 2<<10)
	count := func() int {
		all, err := filepath.Glob(filepath.Join(c.Nodes[0].SnapshotDir(), "*", "state.bin"))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	for wanted := 1; wanted <= 2; wanted++ { // a node keeps two
		eventually(t, "a snapshot", func() bool {
			if _, err := c.Write(0, "SET", "k", value); err != nil {
				t.Fatal(err)
			}
			return count() >= wanted
		})
	}
}
