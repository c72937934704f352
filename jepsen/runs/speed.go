package runs

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"trireme/clients/endpoint"
	"trireme/jepsen/lab"
)

// Speed measures workflows of three empty steps, without an SDK in the way.
type Speed struct {
	Cluster *lab.Cluster
	Label   string
	// Runs in all, AtOnce under way at a time.
	Runs, AtOnce int
}

// SpeedResult is what came of a Speed.
type SpeedResult struct {
	Runs, AtOnce int
	// PerSecond is how many runs ended in a second; P50 and P99 are the times from the
	// trigger of a run to its acknowledged end.
	PerSecond float64
	P50, P99  time.Duration
}

// String is a line for people.
func (s SpeedResult) String() string {
	return fmt.Sprintf("%d runs of three empty steps, %d at once: %.0f runs/s, p50 %v, p99 %v", s.Runs, s.AtOnce, s.PerSecond, s.P50.Round(10*time.Microsecond), s.P99.Round(10*time.Microsecond))
}

// ends lets those who started runs wait for their ends.
type ends struct {
	mu sync.Mutex
	by map[string]chan struct{}
}

func (e *ends) of(run string) chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.by[run] == nil {
		e.by[run] = make(chan struct{}, 8) // one end, and those of repeated deliveries
	}
	return e.by[run]
}

func (e *ends) ended(run string) {
	select {
	case e.of(run) <- struct{}{}:
	default: // it is known already
	}
}

func empty(*App) map[string]endpoint.Workflow {
	nothing := func() any { return nil }
	return map[string]endpoint.Workflow{"empty": func(c *endpoint.Context) any {
		for _, name := range []string{"one", "two", "three"} {
			c.Do(endpoint.Run(name, nothing))
		}
		return nil
	}}
}

// Run measures.
func (s Speed) Run(ctx context.Context) (out SpeedResult, err error) {
	a, err := NewApp(s.Cluster, empty)
	if err != nil {
		return out, err
	}
	defer a.Close()
	over := &ends{by: map[string]chan struct{}{}}
	a.Options.Ended = over.ended
	took := make([]time.Duration, s.Runs)
	began := time.Now()
	err = all(ctx, s.AtOnce, func(ctx context.Context, client int) error {
		for n := client; n < s.Runs; n += s.AtOnce {
			id := fmt.Sprintf("wfr_%s_%d", s.Label, n)
			done, start := over.of(id), time.Now()
			if err := a.Start(ctx, "empty", id, "", nil); err != nil {
				return err
			}
			select {
			case <-done:
			case <-time.After(patience):
				return fmt.Errorf("run %s has not ended after %v\n%s", id, patience, a.explain(ctx, id))
			}
			took[n] = time.Since(start)
		}
		return nil
	})
	slices.Sort(took)
	out = SpeedResult{Runs: s.Runs, AtOnce: s.AtOnce, PerSecond: float64(s.Runs) / time.Since(began).Seconds(), P50: took[len(took)/2], P99: took[len(took)*99/100]}
	return out, err
}
