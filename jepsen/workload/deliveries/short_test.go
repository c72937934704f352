package deliveries

import (
	"fmt"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/testcluster/fakenode"
	"github.com/trireme-dev/trireme/scheduler/egress/egresstest"
)

// short is the time that a killed node stays away in short runs.
const short = 300 * time.Millisecond

// TestShort is the short form of the acceptance runs about deliveries, on one cluster of
// processes built with the race detector.
func TestShort(t *testing.T) {
	resolver := egresstest.NewResolver(t)
	c, ctx := fakenode.Start(t, testcluster.BuildOptions{Race: true, Failpoints: true}, testcluster.Options{Args: HostileFlags(resolver)})
	patience := time.Minute
	for _, run := range []struct {
		name string
		run  func() (fmt.Stringer, error)
	}{
		{"delivery", func() (fmt.Stringer, error) {
			return Delivery{Cluster: c, Label: "delivery", Messages: 600, Clients: 16, Retries: 3, Failing: 20, KillEvery: 2 * time.Second, Down: short, Patience: patience}.Run(ctx)
		}},
		{"queue", func() (fmt.Stringer, error) {
			return Queue{Cluster: c, Label: "queue", Messages: 80, Retries: 1, Failing: 10, Poison: 25, Work: 2 * time.Millisecond, Kills: 1, Down: short, Patience: patience}.Run(ctx)
		}},
		{"wide queue", func() (fmt.Stringer, error) {
			return Queue{Cluster: c, Label: "wide-queue", Parallelism: 4, Messages: 120, Retries: 1, Failing: 10, Poison: 25, Work: 5 * time.Millisecond, Kills: 1, Down: short, Patience: patience}.Run(ctx)
		}},
		{"timetables", func() (fmt.Stringer, error) {
			return Timetables{Cluster: c, Label: "timetables", Schedules: 7, Kills: 2, KillEvery: 2 * time.Second, Down: short, Jump: time.Hour}.Run(ctx)
		}},
		{"flow", func() (fmt.Stringer, error) {
			out, err := Flow{Cluster: c, Label: "flow", Clients: 8, KillAfter: []time.Duration{time.Second}, Down: short, Patience: patience, Limits: []FlowLimit{
				{Key: "rate", Rate: 20, Period: time.Second, Messages: 80, LeastUsed: 0.3}, // three windows, one with a kill, on a shared machine
				{Key: "parallel", Parallelism: 3, Messages: 60, Work: 10 * time.Millisecond},
			}}.Run(ctx)
			return lines(out), err
		}},
		{"once", func() (fmt.Stringer, error) {
			return Once{Cluster: c, Label: "once", Rounds: 2, Clients: 32, Down: short, Patience: patience}.Run(ctx)
		}},
		{"outbox", func() (fmt.Stringer, error) {
			return Outbox{Cluster: c, Label: "outbox", Transactions: 300, Clients: 8, KillEvery: 2 * time.Second, Down: short, Patience: patience}.Run(ctx)
		}},
		{"triggers", func() (fmt.Stringer, error) {
			return Triggers{Cluster: c, Label: "triggers", Changes: 400, Clients: 8, Failing: 20, KillEvery: 2 * time.Second, Down: short, Patience: patience}.Run(ctx)
		}},
		{"shares", func() (fmt.Stringer, error) {
			return Shares{Cluster: c, Label: "shares", Messages: 40, Work: 5 * time.Millisecond, KillEvery: time.Second, Down: short, Patience: patience}.Run(ctx)
		}},
		{"hostile", func() (fmt.Stringer, error) {
			return Hostile{Cluster: c, Resolver: resolver, Label: "hostile", Messages: 5, Good: 40, Patience: patience, MostGrown: 1 << 30}.Run(ctx)
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

type lines []FlowResult

func (l lines) String() string { return fmt.Sprint([]FlowResult(l)) }
