package workload

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/check"
	"github.com/trireme-dev/trireme/jepsen/history"
)

// countersPerRun is small, so that every counter is contended from all nodes.
const countersPerRun = 4

// Counter adds to a few counters and reads them.
type Counter struct {
	Settings
	rec             *history.Recorder
	requests, again atomic.Int64
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
		if c.rng.IntN(5) == 0 {
			w.once(ctx, c)
			return
		}
		op := history.Op{Key: counterKey(c.rng.IntN(countersPerRun)), Kind: history.Read}
		if c.rng.IntN(4) > 0 {
			op.Kind, op.Delta = history.Add, c.rng.Int64N(5)+1
		}
		c.run(op)
	})
}

// exactKey is a counter whose additions are sent again under their request ids until
// they are answered, so that its value is exact.
const exactKey = "counter:exact"

// once adds exactly once, however often it has to be sent. Only an addition that is still
// unanswered after that is of unknown outcome.
func (w *Counter) once(ctx context.Context, c *client) {
	op := history.Op{Client: c.id, Key: exactKey, Kind: history.Add, Delta: c.rng.Int64N(5) + 1, Request: fmt.Sprintf("%d-%d", w.Seed, w.requests.Add(1))}
	began, again := w.rec.Now(), false
	for end := time.Now().Add(w.Persist); ; w.again.Add(1) {
		op.Node = c.rng.IntN(c.target.Size())
		op = attempt(c.target, w.rec, op)
		if op.Known() || time.Now().After(end) {
			break
		}
		again = true
		time.Sleep(afterFailure)
	}
	op.Call = began
	if again {
		op.Place = history.Place{} // the answer may be that of an earlier attempt
	}
	if !op.Known() {
		op.Outcome = history.Unknown // an earlier attempt may have been applied
	}
	w.rec.Add(op)
	c.rest(op)
}

// Final reads every counter through every node.
func (w *Counter) Final(ctx context.Context, t Target) error {
	for i := range countersPerRun {
		if err := finalReads(ctx, t, w.rec, counterKey(i), everyNode(t)); err != nil {
			return err
		}
	}
	return finalReads(ctx, t, w.rec, exactKey, everyNode(t))
}

func counterKey(i int) string { return fmt.Sprintf("counter:%d", i) }
