package workload

import (
	"context"
	"fmt"

	"trireme/jepsen/check"
	"trireme/jepsen/history"
)

// countersPerRun is small, so that every counter is contended from all nodes.
const countersPerRun = 4

// Counter adds to a few counters and reads them.
type Counter struct {
	Settings
	rec *history.Recorder
}

// NewCounter makes the workload; nothing runs yet.
func NewCounter(s Settings) *Counter {
	return &Counter{Settings: s, rec: history.NewRecorder(s.Began)}
}

// Name implements Workload.
func (w *Counter) Name() string { return "counter" }

// History implements Workload.
func (w *Counter) History() []history.Op { return w.rec.Ops() }

// Check implements Workload.
func (w *Counter) Check() check.Report { return check.Counters(w.rec.Ops()) }

// Run implements Workload.
func (w *Counter) Run(ctx context.Context, t Target) {
	runClients(ctx, t, w.rec, w.Settings, func(c *client) {
		op := history.Op{Key: counterKey(c.rng.IntN(countersPerRun)), Kind: history.Read}
		if c.rng.IntN(4) > 0 {
			op.Kind, op.Delta = history.Add, c.rng.Int64N(5)+1
		}
		c.run(op)
	})
}

// Final reads every counter through every node.
func (w *Counter) Final(ctx context.Context, t Target) error {
	for i := range countersPerRun {
		if err := finalReads(ctx, t, w.rec, counterKey(i), everyNode(t)); err != nil {
			return err
		}
	}
	return nil
}

func counterKey(i int) string { return fmt.Sprintf("counter:%d", i) }
