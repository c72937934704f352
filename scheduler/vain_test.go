package scheduler

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// vain is an engine in which something is always due and comes to nothing.
type vain struct {
	schedules []queue.Schedule
	err       error
	asked     *atomic.Int64
	enough    context.CancelFunc // called when asked is beyond all bounds
}

// most is more often than any loop with a pause asks in a second.
const most = 1000

func (v *vain) ask() error {
	if v.asked.Add(1) >= most {
		v.enough()
	}
	return v.err
}

func (v *vain) Changed() <-chan struct{} { return nil }
func (v *vain) Now() int64               { return time.Now().UnixMilli() }
func (v *vain) Due() (int64, bool)       { return v.Now() - 1000, true }
func (v *vain) DueSchedules(now int64) ([]queue.Schedule, env.Time) {
	return v.schedules, env.At(now)
}
func (v *vain) Advance(context.Context, queue.Demand) ([]queue.Attempt, error) {
	return nil, v.ask()
}

func (v *vain) Renew(context.Context, queue.Renewal) (queue.Renewed, error) {
	return queue.Renewed{}, v.ask()
}

func (v *vain) Commit(ctx context.Context, n queue.Answer) (queue.Dispositions, error) {
	return v.Finish(ctx, queue.Results{Items: []queue.Result{n.Result}})
}

func (v *vain) Finish(context.Context, queue.Results) (queue.Dispositions, error) {
	return queue.Dispositions{}, v.ask()
}

// TestNothingIsAskedWithoutPause has each request of a scheduler come to nothing for a second: an Advance whose ticks
// are refused, one of what is due and held back, each request while there is no leader. The scheduler pauses
// between two, and does not stop asking.
func TestNothingIsAskedWithoutPause(t *testing.T) {
	tick := []queue.Schedule{{ID: "s", Cron: "@every 1s", Every: 1000}}
	result := func(s *Scheduler, ctx context.Context) {
		s.results <- attemptResult{claims: newClaims(1), at: time.Now()}
		<-ctx.Done()
	}
	for name, c := range map[string]struct {
		engine vain
		do     func(*Scheduler, context.Context)
	}{
		"ticks are refused":          {vain{schedules: tick}, (*Scheduler).Run},
		"what is due is held back":   {vain{}, (*Scheduler).Run},
		"no leader takes an Advance": {vain{err: errNoLeader}, (*Scheduler).Run},
		"no leader takes ticks":      {vain{schedules: tick, err: errNoLeader}, (*Scheduler).Run},
		"no leader takes a result":   {vain{err: errNoLeader}, result},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				c.engine.enough, c.engine.asked = cancel, new(atomic.Int64)
				s := New(Options{Claimer: &c.engine, Senders: 4})
				c.do(s, ctx)
				if n := c.engine.asked.Load(); n < 2 || n >= most {
					t.Errorf("asked %d times in a second", n)
				}
				over, end := context.WithCancel(context.Background())
				end()
				s.Close(over)
			})
		})
	}
}
