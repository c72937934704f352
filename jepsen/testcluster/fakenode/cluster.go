package fakenode

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// clusterTime bounds all that a test does with a cluster of Start.
const clusterTime = 4 * time.Minute

// Start builds the product and starts three real nodes of it, which serve when it returns.
// They end with the test, which fails if one of them ended before by itself. The context
// ends with the time that short forms of acceptance runs may take. Binary and Dir of the
// options are filled in here.
func Start(t *testing.T, build testcluster.BuildOptions, o testcluster.Options) (*testcluster.Cluster, context.Context) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts three processes for half a minute")
	}
	dir := t.TempDir()
	binary, err := testcluster.Build(dir, build)
	if err != nil {
		t.Fatal(err)
	}
	o.Binary, o.Dir = binary, filepath.Join(dir, "nodes")
	c, err := testcluster.NewCluster(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		for _, crash := range c.Crashes() {
			t.Errorf("%s ended with exit code %d:\n%s", crash.Node, crash.ExitCode, crash.Log)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), clusterTime)
	t.Cleanup(cancel)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	return c, ctx
}
