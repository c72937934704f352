package scheduler

import (
	"context"
	"fmt"
	"sync"
	"time"

	"trireme/failpoint"
	"trireme/fsm/queue"
)

const (
	// renewEvery is the time between two renewals of all leases (decisions 20).
	renewEvery = 3 * time.Second
	// watchEvery is how often attempts are looked at whose leases could not be renewed.
	watchEvery = 250 * time.Millisecond
	// leaseTime is how long after it was asked for a claim lasts for its sender: less
	// than for everybody else.
	leaseTime = (queue.Lease - queue.LeaseMargin) * time.Millisecond
)

// claims are the attempts of a term that are claimed and not handed in yet.
type claims struct {
	// freed gets a token when there is one less.
	freed chan struct{}

	mu  sync.Mutex
	all map[queue.AttemptRef]*claim
}

// claim is an attempt under way.
type claim struct {
	cancel context.CancelFunc
	until  time.Time
}

func newClaims(size int) *claims {
	return &claims{freed: make(chan struct{}, 1), all: make(map[queue.AttemptRef]*claim, size)}
}

func (c *claims) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.all)
}

func (c *claims) add(ref queue.AttemptRef, cancel context.CancelFunc, asked time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[ref] = &claim{cancel, asked.Add(leaseTime)}
}

// remove takes several at once, so that the loop claims as many anew by one Advance.
func (c *claims) remove(refs ...queue.AttemptRef) {
	c.mu.Lock()
	for _, ref := range refs {
		delete(c.all, ref)
	}
	c.mu.Unlock()
	select {
	case c.freed <- struct{}{}:
	default:
	}
}

func (c *claims) refs() []queue.AttemptRef {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]queue.AttemptRef, 0, len(c.all))
	for ref := range c.all {
		all = append(all, ref)
	}
	return all
}

// renewed prolongs the leases of attempts, counted from when that was asked for, and
// ends those that are lost.
func (c *claims) renewed(refs, lost []queue.AttemptRef, asked time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ref := range refs {
		if one := c.all[ref]; one != nil {
			one.until = asked.Add(leaseTime)
		}
	}
	for _, ref := range lost {
		if one := c.all[ref]; one != nil {
			one.cancel()
		}
	}
}

// endOverdue ends the attempts whose leases are nearly over.
func (c *claims) endOverdue(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.all {
		if !now.Before(one.until) {
			one.cancel()
		}
	}
}

// keepLeases renews the leases of all that runs, until ctx ends.
func (t *term) keepLeases(ctx context.Context) {
	watch := time.NewTicker(watchEvery)
	defer watch.Stop()
	renewals := make(chan struct{}, 1)
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-watch.C:
		}
		t.EndOverdue(time.Now())
		if time.Since(last) < renewEvery {
			continue
		}
		select {
		case renewals <- struct{}{}: // one at a time, and none holds up the watch
			last = time.Now()
			t.s.running.Go(func() { t.renew(ctx); <-renewals })
		default:
		}
	}
}

func (t *term) renew(ctx context.Context) {
	refs := t.Running()
	if len(refs) == 0 {
		return
	}
	asked := time.Now()
	n, err := t.s.Engine.Renew(ctx, queue.Renewal{Running: refs})
	if err != nil {
		t.s.Log.Debug("leases were not renewed", "error", err)
		return
	}
	t.Renewed(refs, n.Lost, asked)
}

// start runs an attempt in the background. asked is when its claim was asked for.
func (t *term) start(ctx context.Context, a *queue.Attempt, asked time.Time) {
	ctx, cancel := context.WithCancel(ctx)
	t.Claimed(a.Ref(), cancel, asked)
	t.attempts.Add(1)
	t.s.running.Go(func() {
		defer t.attempts.Done()
		defer cancel()
		failpoint.Eval(failpoint.AfterClaim)
		n, ok := t.send(ctx, a)
		failpoint.Eval(failpoint.AfterAnswer)
		if !ok {
			// It has ended, so that nobody needs to wait for its lease's end.
			n = queue.Result{AttemptRef: a.Ref(), Lost: true}
			t.s.sent.lost.Inc()
		} else {
			t.s.count(&n)
			t.Outcome(a.Content.Host(), n.Response.Status != 0, time.Now())
		}
		t.s.results <- finished{n, t.claims, time.Now()}
	})
}

// send makes a failed attempt of a panic: one message must not end the node (reliability
// D8).
func (t *term) send(ctx context.Context, a *queue.Attempt) (n queue.Result, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			t.s.Log.Error("sending a message panicked", "message", a.ID.String(), "panic", p)
			n, ok = queue.Result{AttemptRef: a.Ref(), Error: fmt.Sprintf("internal error: %v", p), RetryDelay: queue.MaxRetryDelay / 24}, true
		}
	}()
	return t.s.Courier.Send(ctx, a)
}
