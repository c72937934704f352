package runs

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"trireme/jepsen/lab"
)

// short is the time that a killed node stays away in short runs.
const short = 300 * time.Millisecond

// TestShort is the short form of the acceptance lines about workflows, on one cluster of
// processes built with the race detector.
func TestShort(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes for half a minute")
	}
	dir := t.TempDir()
	binary, err := lab.Build(dir, lab.BuildOptions{Race: true})
	if err != nil {
		t.Fatal(err)
	}
	c, err := lab.NewCluster(lab.Options{Binary: binary, Dir: filepath.Join(dir, "nodes"), Args: []string{"--egress-allow", "127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		c.Close()
		for _, crash := range c.Crashes() {
			t.Errorf("%s ended with exit code %d:\n%s", crash.Node, crash.ExitCode, crash.Log)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	patience := time.Minute
	for _, run := range []struct {
		name string
		run  func() (fmt.Stringer, error)
	}{
		{"speed", func() (fmt.Stringer, error) { return Speed{Cluster: c, Label: "speed", Runs: 64, AtOnce: 16}.Run(ctx) }},
		{"mixed", func() (fmt.Stringer, error) {
			return Mixed{Cluster: c, Label: "mixed", Runs: 10, Failing: 10, KillEvery: 3 * time.Second, Down: short, Patience: patience}.Run(ctx)
		}},
		{"race", func() (fmt.Stringer, error) {
			return Race{Cluster: c, Label: "race", Runs: 30, Group: 5, Timeout: 8 * time.Second, Patience: patience}.Run(ctx)
		}},
		{"revive", func() (fmt.Stringer, error) {
			return Revive{Cluster: c, Label: "revive", Steps: 10, Bulk: 52, Others: 5, Patience: patience}.Run(ctx)
		}},
		{"outage", func() (fmt.Stringer, error) {
			return Outage{Cluster: c, Label: "outage", Runs: 3, Within: 3 * time.Second, Patience: patience}.Run(ctx)
		}},
	} {
		t.Run(run.name, func(t *testing.T) {
			out, err := run.run()
			t.Log(out)
			if err != nil {
				t.Error(err)
			}
		})
	}
}
