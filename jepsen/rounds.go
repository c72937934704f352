package jepsen

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/check"
	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/workload"
	"github.com/trireme-dev/trireme/jepsen/workload/deliveries"
	"github.com/trireme-dev/trireme/jepsen/workload/runs"
)

// settleTime bounds the time from the last fault of a round until all its work is done.
const settleTime = 3 * time.Minute

// round is one of many: it publishes, waits until everything is done, and judges. It tells
// how many messages, ticks or runs came to their end.
type round func(ctx context.Context, c *testcluster.Cluster, label string) (out fmt.Stringer, done int, err error)

// The kinds of anomalies that rounds find.
const (
	brokenPromise = "broken promise"
	notDone       = "not done in time"
)

// scenarios are the workloads that come in rounds. The faults are those of the run.
var scenarios = map[string]round{
	"delivery": func(ctx context.Context, c *testcluster.Cluster, label string) (fmt.Stringer, int, error) {
		out, err := deliveries.Delivery{Cluster: c, Label: label, Messages: 200, Clients: 4, Retries: 3, Failing: 20, Patience: settleTime}.Run(ctx)
		return out, out.Delivered, err
	},
	"queue": func(ctx context.Context, c *testcluster.Cluster, label string) (fmt.Stringer, int, error) {
		out, err := deliveries.Queue{Cluster: c, Label: label, Messages: 40, Retries: 1, Failing: 10, Poison: 15, Work: 2 * time.Millisecond, Patience: settleTime}.Run(ctx)
		return out, out.Delivered, err
	},
	"wide-queue": func(ctx context.Context, c *testcluster.Cluster, label string) (fmt.Stringer, int, error) {
		out, err := deliveries.Queue{Cluster: c, Label: label, Parallelism: 3, Messages: 60, Retries: 1, Failing: 10, Poison: 15, Work: 2 * time.Millisecond, Patience: settleTime}.Run(ctx)
		return out, out.Delivered, err
	},
	"once": func(ctx context.Context, c *testcluster.Cluster, label string) (fmt.Stringer, int, error) {
		out, err := deliveries.Once{Cluster: c, Label: label, Rounds: 1, Clients: 8, Patience: settleTime}.Run(ctx)
		return out, out.Messages, err
	},
	"outbox": func(ctx context.Context, c *testcluster.Cluster, label string) (fmt.Stringer, int, error) {
		out, err := deliveries.Outbox{Cluster: c, Label: label, Transactions: 60, Clients: 2, Patience: settleTime}.Run(ctx)
		return out, out.Arrived, err
	},
	"triggers": func(ctx context.Context, c *testcluster.Cluster, label string) (fmt.Stringer, int, error) {
		out, err := deliveries.Triggers{Cluster: c, Label: label, Changes: 100, Clients: 4, Failing: 10, Patience: settleTime}.Run(ctx)
		return out, out.Told, err
	},
	"shares": func(ctx context.Context, c *testcluster.Cluster, label string) (fmt.Stringer, int, error) {
		out, err := deliveries.Shares{Cluster: c, Label: label, Messages: 12, Work: 2 * time.Millisecond, Patience: settleTime}.Run(ctx)
		return out, out.Messages, err
	},
	"schedules": func(ctx context.Context, c *testcluster.Cluster, label string) (fmt.Stringer, int, error) {
		out, err := deliveries.Timetables{Cluster: c, Label: label, Schedules: 7, KillEvery: 20 * time.Second}.Run(ctx)
		return out, out.Ticks, err
	},
	"waiters": func(ctx context.Context, c *testcluster.Cluster, label string) (fmt.Stringer, int, error) {
		out, err := runs.Race{Cluster: c, Label: label, Runs: 12, Group: 4, Timeout: 6 * time.Second, Patience: settleTime, Faults: true}.Run(ctx)
		return out, out.Notified + out.Late + out.Canceled, err
	},
	"commits": func(ctx context.Context, c *testcluster.Cluster, label string) (fmt.Stringer, int, error) {
		out, err := runs.Commits{Cluster: c, Label: label, Runs: 12, Failing: 10, Patience: settleTime}.Run(ctx)
		return out, out.Runs, err
	},
	"states": func(ctx context.Context, c *testcluster.Cluster, label string) (fmt.Stringer, int, error) {
		out, err := runs.States{Cluster: c, Label: label, Runs: 12, Failing: 10, Patience: settleTime}.Run(ctx)
		return out, out.Accepted, err
	},
	"versions": func(ctx context.Context, c *testcluster.Cluster, label string) (fmt.Stringer, int, error) {
		out, err := runs.Versions{Cluster: c, Label: label, Runs: 12, Failing: 10, Patience: settleTime}.Run(ctx)
		return out, out.Runs, err
	},
	"workflow": func(ctx context.Context, c *testcluster.Cluster, label string) (fmt.Stringer, int, error) {
		out, err := runs.Mixed{Cluster: c, Label: label, Runs: 6, Failing: 5, Patience: settleTime}.Run(ctx)
		return out, out.Runs, err
	},
}

// rounds is a workload that performs rounds until the run ends.
type rounds struct {
	workload.Settings
	name    string
	cluster *testcluster.Cluster
	play    round
	rec     *history.Recorder

	mu     sync.Mutex
	count  int
	done   int // messages, ticks or runs
	twice  int // deliveries that succeeded again, as they may once for each claim that was lost
	lines  []string
	failed []error
}

func newRounds(name string, s workload.Settings, c *testcluster.Cluster, p round) *rounds {
	return &rounds{Settings: s, name: name, cluster: c, play: p, rec: history.NewRecorder(s.Began)}
}

// Name implements Workload.
func (r *rounds) Name() string { return r.name }

// History implements Workload: a round is one operation.
func (r *rounds) History() []history.Op { return r.rec.Ops() }

// Done returns the number of messages, ticks or runs that ended.
func (r *rounds) Done() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

// Run performs one round after the other. The last one runs to its end, beyond that of
// the context: only then can it be judged.
func (r *rounds) Run(ctx context.Context, _ workload.Target) {
	for ctx.Err() == nil {
		r.count++
		label := fmt.Sprintf("%s-%d", r.name, r.count)
		op := history.Op{Key: label, Kind: history.Publish, Outcome: history.OK, Call: r.rec.Now()}
		out, done, err := r.play(context.WithoutCancel(ctx), r.cluster, label)
		op.Return = r.rec.Now()
		r.mu.Lock()
		r.done += done
		if d, ok := out.(deliveries.DeliveryResult); ok {
			r.twice += d.Repeats
		}
		r.lines = append(r.lines, fmt.Sprintf("%s: %v", label, out))
		if err != nil {
			op.Error = err.Error()
			r.failed = append(r.failed, fmt.Errorf("%s: %w", label, err))
		}
		r.mu.Unlock()
		r.rec.Add(op)
	}
}

// Final implements Workload; a round waits itself.
func (r *rounds) Final(context.Context, workload.Target) error { return nil }

// Check gives what the judges of the rounds found.
func (r *rounds) Check() check.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	report := check.Report{Ops: r.done, Keys: r.count}
	for _, err := range r.failed {
		kind := brokenPromise
		if errors.Is(err, deliveries.ErrUnsettled) {
			kind = notDone
		}
		report.Anomalies = append(report.Anomalies, check.Anomaly{Kind: kind, Key: r.name, Detail: err.Error()})
	}
	return report
}
