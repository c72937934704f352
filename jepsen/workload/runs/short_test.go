package runs

import (
	"fmt"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/testcluster/fakenode"
)

// short is the time that a killed node stays away in short runs.
const short = 300 * time.Millisecond

// TestShort is the short form of the acceptance runs about workflows, on one cluster of
// processes built with the race detector.
func TestShort(t *testing.T) {
	c, ctx := fakenode.Start(t, testcluster.BuildOptions{Race: true}, testcluster.Options{Args: []string{"--egress-allow", "127.0.0.0/8"}})
	patience := time.Minute
	for _, run := range []struct {
		name string
		run  func() (fmt.Stringer, error)
	}{
		{"mixed", func() (fmt.Stringer, error) {
			return Mixed{Cluster: c, Label: "mixed", Runs: 10, Failing: 10, KillEvery: 3 * time.Second, Down: short, Patience: patience}.Run(ctx)
		}},
		{"commits", func() (fmt.Stringer, error) {
			return Commits{Cluster: c, Label: "commits", Runs: 60, Failing: 30, KillEvery: time.Second, Down: short, Patience: patience}.Run(ctx)
		}},
		{"states", func() (fmt.Stringer, error) {
			return States{Cluster: c, Label: "states", Runs: 40, Failing: 20, KillEvery: time.Second, Down: short, Patience: patience}.Run(ctx)
		}},
		{"versions", func() (fmt.Stringer, error) {
			return Versions{Cluster: c, Label: "versions", Runs: 24, Failing: 20, KillEvery: time.Second, Down: short, Patience: patience}.Run(ctx)
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
