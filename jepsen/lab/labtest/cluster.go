package labtest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"trireme/jepsen/lab"
)

// clusterTime bounds all that a test does with a cluster of Start.
const clusterTime = 4 * time.Minute

// Start builds the product and starts three real nodes of it, which serve when it returns.
// They end with the test, which fails if one of them ended before by itself. The context
// ends with the time that short forms of acceptance lines may take. Binary and Dir of the
// options are filled in here.
func Start(t *testing.T, build lab.BuildOptions, o lab.Options) (*lab.Cluster, context.Context) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts three processes for half a minute")
	}
	dir := t.TempDir()
	binary, err := lab.Build(dir, build)
	if err != nil {
		t.Fatal(err)
	}
	o.Binary, o.Dir = binary, filepath.Join(dir, "nodes")
	c, err := lab.NewCluster(o)
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
