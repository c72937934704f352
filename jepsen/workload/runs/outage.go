package runs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/workload/deliveries"
)

// Outage kills all nodes at a random moment of a run's life and starts them again.
type Outage struct {
	Cluster *testcluster.Cluster
	Label   string
	// Runs are on their way at the moment.
	Runs     int
	Within   time.Duration // bounds the time from their start to the outage
	Patience time.Duration
}

// OutageResult is the result of an Outage.
type OutageResult struct {
	Runs int
	// At is the time of the outage after the start of the runs, Back the time that the nodes took to
	// be ready again, and Took the time of the whole experiment.
	At, Back, Took time.Duration
}

// String is a line for people.
func (r OutageResult) String() string {
	return fmt.Sprintf("%d runs, all nodes killed after %v and ready again after %v; all ended right after %v", r.Runs,
		r.At.Round(time.Millisecond), r.Back.Round(time.Millisecond), r.Took.Round(10*time.Millisecond))
}

// Run performs one outage.
func (o Outage) Run(ctx context.Context) (out OutageResult, err error) {
	a, err := NewApp(o.Cluster, mixed)
	if err != nil {
		return out, err
	}
	defer a.Close()
	began := time.Now()
	out = OutageResult{Runs: o.Runs, At: time.Duration(rand.Int64N(int64(o.Within)))}
	done := make(chan error, 1)
	go func() {
		done <- all(ctx, o.Runs, func(ctx context.Context, n int) error {
			return a.mixedRun(ctx, fmt.Sprintf("wfr_%s_%d", o.Label, n), nil, o.Patience)
		})
	}()
	deliveries.Sleep(ctx, out.At)
	out.Back, err = outage(context.WithoutCancel(ctx), o.Cluster)
	err = errors.Join(err, <-done, a.Problems())
	out.Took = time.Since(began)
	return out, err
}

// outage kills all nodes, one right after the other, and starts them again.
func outage(ctx context.Context, c *testcluster.Cluster) (back time.Duration, err error) {
	for _, n := range c.Nodes {
		err = errors.Join(err, n.Kill())
	}
	began := time.Now()
	if err := errors.Join(err, c.Start()); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err = c.WaitReady(ctx)
	return time.Since(began), err
}
