package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/workload/deliveries"
	"github.com/trireme-dev/trireme/workflow"
)

// Race lets notifications, timeouts and cancellations meet at the deadlines of waits.
type Race struct {
	Cluster *testcluster.Cluster
	Label   string
	// Runs wait, Group of them for the same event.
	Runs, Group int
	// Timeout is the timeout of the waits. It must be long enough for all waits to begin.
	Timeout  time.Duration
	Patience time.Duration
	// Faults says that requests may go unanswered. What was asked then may have happened or
	// not, and the answer that nobody saw is not held against the logs; and where it takes
	// too long until all wait, nothing is raced.
	Faults bool
}

// RaceResult counts the outcomes of a Race, one for each waiter.
type RaceResult struct{ Notified, Late, Canceled int }

// String is a line for people.
func (r RaceResult) String() string {
	return fmt.Sprintf("%d waiters: %d notified, %d timed out, %d cancelled", r.Notified+r.Late+r.Canceled, r.Notified, r.Late, r.Canceled)
}

// raceSpread is the time around a deadline in which the notification and the cancellation come.
const raceSpread = 60 * time.Millisecond

// waiting is a workflow that waits and says what came of it.
func waiting(timeout time.Duration) func(*App) []workflow.Definition {
	return func(*App) []workflow.Definition {
		return []workflow.Definition{workflow.New("waiting", func(c *workflow.Context, event []byte) (late bool, err error) {
			_, err = workflow.Wait[[]byte](c, "wait", string(event), timeout)
			if late = errors.Is(err, workflow.ErrTimeout); late {
				err = nil
			}
			return late, err
		})}
	}
}

// racer is a waiter, and the replies to its notification and its cancellation.
type racer struct {
	id, event string
	deadline  time.Time
	canceled  bool
	unsure    bool // no answer said whether it was cancelled
	unheard   bool // no answer said who was notified
}

// Run starts the runs, lets everything meet, and judges.
func (r Race) Run(ctx context.Context) (out RaceResult, err error) {
	a, err := NewApp(r.Cluster, waiting(r.Timeout))
	if err != nil {
		return out, err
	}
	defer a.Close()
	racers := make([]racer, r.Runs)
	began := time.Now()
	if err := all(ctx, r.Runs, func(ctx context.Context, n int) (err error) {
		racers[n], err = r.begin(ctx, a, n)
		return err
	}); err != nil {
		return out, err
	}
	if took := time.Since(began); took > r.Timeout {
		if r.Faults {
			return out, nil
		}
		return out, fmt.Errorf("it took %v until all were waiting, longer than they wait (%v)", took, r.Timeout)
	}
	woken, err := r.meet(ctx, a, racers)
	if err != nil {
		return out, err
	}
	var mu sync.Mutex
	err = all(ctx, r.Runs, func(ctx context.Context, n int) error {
		l, err := a.Ended(ctx, racers[n].id, r.Patience)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		return out.judge(&racers[n], l, woken[racers[n].id])
	})
	return out, err
}

// begin starts a run and waits until it waits.
func (r Race) begin(ctx context.Context, a *App, n int) (racer, error) {
	x := racer{id: fmt.Sprintf("wfr_%s_%d", r.Label, n), event: fmt.Sprintf("%s-%d", r.Label, n/r.Group)}
	if err := a.Start(ctx, "waiting", x.id, x.event, nil); err != nil {
		return x, err
	}
	last := func(l *Log) Step {
		steps := l.Steps()
		return steps[len(steps)-1]
	}
	l, err := a.Until(ctx, x.id, r.Patience, func(l *Log) bool { return last(l).Type == "Wait" || l.State != "RUN_STARTED" })
	if err != nil {
		return x, err
	}
	x.deadline = time.UnixMilli(last(l).Deadline)
	return x, nil
}

// meet notifies each event at the deadline of one of its waiters, and cancels a third of
// the runs at theirs. It gives how often each run was told to be woken.
func (r Race) meet(ctx context.Context, a *App, racers []racer) (woken map[string]int, err error) {
	woken = map[string]int{}
	var mu sync.Mutex
	err = all(ctx, len(racers), func(ctx context.Context, n int) error {
		x := &racers[n]
		deliveries.Sleep(ctx, time.Until(x.deadline.Add(jitter())))
		switch {
		case n%r.Group == 0:
			var list []struct {
				ID string `json:"workflowRunId"`
			}
			err := a.once(ctx, http.MethodPost, "/v2/notify/"+x.event, []byte("now"), &list)
			if err != nil && !r.Faults {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for m := n; err != nil && m < min(n+r.Group, len(racers)); m++ {
				racers[m].unheard = true
			}
			for _, w := range list {
				woken[w.ID]++
			}
		case n%3 == 0:
			var answer struct{ Cancelled int }
			err := a.once(ctx, http.MethodDelete, "/v2/workflows/runs?workflowRunIds="+x.id, nil, &answer)
			if err != nil && !r.Faults {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			x.unsure, x.canceled = err != nil, answer.Cancelled == 1
		}
		return nil
	})
	return woken, err
}

// once asks once: what is asked twice has two answers.
func (a *App) once(ctx context.Context, method, path string, body []byte, v any) error {
	status, answer, err := a.Ask(ctx, method, path, nil, body)
	if err != nil || status/100 != 2 {
		return fmt.Errorf("%s %s: status %d: %.300s: %w", method, path, status, answer, err)
	}
	return json.Unmarshal(answer, v)
}

func jitter() time.Duration { return time.Duration(rand.Int64N(int64(2*raceSpread))) - raceSpread }

// judge holds a waiter to one outcome, and the answers to it.
func (r *RaceResult) judge(x *racer, l *Log, woken int) error {
	var wait *Step
	for _, s := range l.Steps() {
		if s.Type == "Wait" && s.State == "STEP_SUCCESS" {
			wait = &s
		}
	}
	notified := wait != nil && !wait.Late
	switch {
	case woken > 1, woken == 1 && !notified, woken == 0 && notified && !x.unheard:
		return fmt.Errorf("run %s: the answers to notify name it %d times, its log says %s", x.id, woken, show(l))
	case x.canceled != (l.State == "RUN_CANCELED") && !x.unsure:
		return fmt.Errorf("run %s: cancelled %t, its log says %s", x.id, x.canceled, show(l))
	case wait == nil && l.State != "RUN_CANCELED":
		return fmt.Errorf("run %s: its wait has no outcome: %s", x.id, show(l))
	case l.State != "RUN_CANCELED" && (l.Response == nil || *l.Response != fmt.Sprint(wait.Late)):
		return fmt.Errorf("run %s: it was told otherwise than its log: %s", x.id, show(l))
	}
	switch {
	case notified:
		r.Notified++
	case wait != nil:
		r.Late++
	default:
		r.Canceled++
	}
	return nil
}
