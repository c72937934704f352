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
func (co *Counter) Name() string { return "counter" }

// History implements Workload.
func (co *Counter) History() []history.Op { return co.rec.Ops() }

// Check implements Workload.
func (co *Counter) Check() check.Report { return check.Counters(co.rec.Ops()) }

// Run implements Workload.
func (co *Counter) Run(ctx context.Context, t Target) {
	runClients(ctx, t, co.rec, co.Settings, func(c *client) {
		if c.rng.IntN(5) == 0 {
			co.once(ctx, c)
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
func (co *Counter) once(ctx context.Context, c *client) {
	op := history.Op{Client: c.id, Key: exactKey, Kind: history.Add, Delta: c.rng.Int64N(5) + 1, Request: fmt.Sprintf("%d-%d", co.Seed, co.requests.Add(1))}
	began, again := co.rec.Now(), false
	for end := time.Now().Add(co.Persist); ; co.again.Add(1) {
		op.Node = c.rng.IntN(c.target.Size())
		op = attempt(c.target, co.rec, op)
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
	co.rec.Add(op)
	c.rest(op)
}

// Final reads every counter through every node.
func (co *Counter) Final(ctx context.Context, t Target) error {
	for i := range countersPerRun {
		if err := finalReads(ctx, t, co.rec, counterKey(i), everyNode(t)); err != nil {
			return err
		}
	}
	return finalReads(ctx, t, co.rec, exactKey, everyNode(t))
}

func counterKey(i int) string { return fmt.Sprintf("counter:%d", i) }
