package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/workload/deliveries"
	"github.com/trireme-dev/trireme/workflow"
)

// mixedSteps is the number of steps of the mixed workflow.
const mixedSteps = 10

// mixed is a workflow of ten steps of mixed types. The notification of its wait is kept
// for it from the start.
func mixed(a *App) []workflow.Definition {
	child := workflow.New("child", func(c *workflow.Context, _ []byte) (string, error) { return a.Effect(c, "child"), nil })
	parent := workflow.New("mixed", func(c *workflow.Context, _ []byte) ([]string, error) {
		var all []string // the results of steps, as the log has them
		take := func(out string) { all = append(all, strconv.Quote(out)) }
		take(a.Effect(c, "first"))
		workflow.Sleep(c, "nap", time.Second)
		take("")
		left := a.Beside(c, "left")
		called := workflow.Go(c, func(c *workflow.Context) (string, error) {
			r, err := workflow.Call(c, "call", workflow.Request{URL: a.Base + "/out/" + c.RunID, Body: []byte("x"), Retries: 20, RetryDelay: "50"})
			return string(r.Body), err
		})
		right := a.Beside(c, "right")
		rested := workflow.Go(c, func(c *workflow.Context) (string, error) { workflow.Sleep(c, "rest", time.Second); return "", nil })
		block, err := workflow.All(left, called, right, rested)
		for _, out := range block {
			take(out)
		}
		take(a.Effect(c, "middle"))
		event, err2 := workflow.Wait[string](c, "wait", "go", time.Hour)
		take(event)
		o := settings(nil)
		invoked, err3 := workflow.Invoke(c, "invoke", child, []byte("{}"), &o)
		take(invoked)
		take(a.Effect(c, "last"))
		return all, errors.Join(err, err2, err3)
	})
	return []workflow.Definition{parent, child}
}

// Mixed is a run of many mixed workflows at once, while calls fail and leaders are killed. Every second one records several steps by one
// delivery where it can.
type Mixed struct {
	Cluster *testcluster.Cluster
	Label   string
	Runs    int
	// Failing is the part of calls that fail, in percent.
	Failing int
	// KillEvery is the time between two kills of leaders, Down how long a killed node
	// stays away.
	KillEvery, Down time.Duration
	// Patience bounds all runs together.
	Patience time.Duration
}

// MixedResult is the result of a Mixed.
type MixedResult struct {
	Runs, Kills       int
	Effects, Arrivals int
	Took              time.Duration
}

// String is a line for people.
func (r MixedResult) String() string {
	return fmt.Sprintf("%d runs of %d steps in %v, %d leaders killed: %d functions of steps ran in %d deliveries", r.Runs, mixedSteps, r.Took.Round(100*time.Millisecond), r.Kills, r.Effects, r.Arrivals)
}

// Run starts the runs, waits for their ends and judges them.
func (m Mixed) Run(ctx context.Context) (out MixedResult, err error) {
	a, err := NewApp(m.Cluster, mixed)
	if err != nil {
		return out, err
	}
	defer a.Close()
	a.Fail(m.Failing)
	killer := &deliveries.Killer{Cluster: m.Cluster, Down: m.Down}
	began := time.Now()
	err = whileKilling(ctx, killer, m.KillEvery, func(ctx context.Context) error {
		return all(ctx, m.Runs, func(ctx context.Context, n int) error {
			return a.mixedRun(ctx, fmt.Sprintf("wfr_%s_%d", m.Label, n), everySecond(n, nil), m.Patience)
		})
	})
	out = MixedResult{Runs: m.Runs, Kills: len(killer.Kills()), Took: time.Since(began)}
	out.Effects, out.Arrivals = a.Counts()
	return out, errors.Join(err, a.Problems())
}

// everySecond returns the headers of a trigger: that of every second run asks for several steps in one delivery too.
func everySecond(n int, own map[string]string) map[string]string {
	if n%2 == 0 {
		return own
	}
	inline := map[string]string{"svc-inline": "true"}
	maps.Copy(inline, own)
	return inline
}

// mixedRun is one run from its trigger to its judgement.
func (a *App) mixedRun(ctx context.Context, id string, own map[string]string, limit time.Duration) error {
	if err := a.Start(ctx, "mixed", id, "{}", own); err != nil {
		return err
	}
	if err := a.Wake(ctx, id); err != nil {
		return err
	}
	l, err := a.Ended(ctx, id, limit)
	if err != nil {
		return err
	}
	return a.judgeMixed(l)
}

// judgeMixed holds a log to one result for each step, and the run's result to those that
// later steps were shown.
func (a *App) judgeMixed(l *Log) error {
	if l.State != "RUN_SUCCESS" || l.Response == nil {
		return fmt.Errorf("run %s: %s", l.ID, show(l))
	}
	var outs []string
	if err := json.Unmarshal([]byte(*l.Response), &outs); err != nil || len(outs) != mixedSteps {
		return fmt.Errorf("run %s: result %s: %w", l.ID, *l.Response, err)
	}
	steps := l.Steps()
	ids := map[int]int{}
	for _, s := range steps {
		ids[s.ID]++
		if s.State != "STEP_SUCCESS" {
			return fmt.Errorf("run %s: step %d %q is %s", l.ID, s.ID, s.Name, s.State)
		}
	}
	for n := range mixedSteps + 1 {
		if ids[n] != 1 {
			return fmt.Errorf("run %s: step %d has %d results", l.ID, n, ids[n])
		}
	}
	for _, s := range steps {
		if s.Type == "Run" && (s.Out == nil || !slices.Contains(outs, *s.Out)) {
			return fmt.Errorf("run %s: the result of step %d is not what the end saw: %v, %v", l.ID, s.ID, s.Out, outs)
		}
		if s.Type == "Run" && a.Effects(l.ID, s.Name) == 0 {
			return fmt.Errorf("run %s: step %q has a result and never ran", l.ID, s.Name)
		}
	}
	return nil
}

// whileKilling runs work while leaders are killed; 0 kills none.
func whileKilling(ctx context.Context, k *deliveries.Killer, every time.Duration, work func(context.Context) error) error {
	if every == 0 {
		return work(ctx)
	}
	killing, stop := context.WithCancel(ctx)
	killed := make(chan error, 1)
	go func() { killed <- k.Every(killing, every) }()
	err := work(ctx)
	stop()
	return errors.Join(err, <-killed)
}

// all does work n times at once and returns the first few errors.
func all(ctx context.Context, n int, work func(context.Context, int) error) error {
	var mu sync.Mutex
	var problems []error
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			if err := work(ctx, i); err != nil {
				mu.Lock()
				defer mu.Unlock()
				if len(problems) < 5 {
					problems = append(problems, err)
				}
			}
		})
	}
	group.Wait()
	return errors.Join(problems...)
}
