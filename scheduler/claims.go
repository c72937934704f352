package scheduler

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/internal/failpoint"
)

const (
	// renewEvery is the time between two renewals of all leases : a third of the lease.
	renewEvery = 3 * time.Second
	// watchEvery is the time between two checks for attempts whose leases could not be renewed.
	watchEvery = 250 * time.Millisecond
	// leaseTime is the life of a claim for its sender, from its request on. It is shorter than for
	// the state machine.
	leaseTime = (queue.Lease - queue.LeaseMargin) * time.Millisecond
)

// claims are the attempts of a term that are claimed and whose results are not recorded yet.
type claims struct {
	// released receives when there is a claim less.
	released chan struct{}

	mu  sync.Mutex
	all map[queue.AttemptRef]*claim
}

// claim is an attempt under way.
type claim struct {
	db     string
	cancel context.CancelFunc
	until  time.Time
}

func newClaims(size int) *claims {
	return &claims{released: make(chan struct{}, 1), all: make(map[queue.AttemptRef]*claim, size)}
}

func (c *claims) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.all)
}

func (c *claims) add(ref queue.AttemptRef, db string, cancel context.CancelFunc, asked time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[ref] = &claim{db, cancel, asked.Add(leaseTime)}
}

// remove removes several at once, so that the loop claims as many by one Advance.
func (c *claims) remove(refs ...queue.AttemptRef) {
	c.mu.Lock()
	for _, ref := range refs {
		delete(c.all, ref)
	}
	c.mu.Unlock()
	select {
	case c.released <- struct{}{}:
	default:
	}
}

// renewal asks for all of them.
func (c *claims) renewal() (n queue.Renewal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	others := false
	for ref, one := range c.all {
		n.Running, n.DBs = append(n.Running, ref), append(n.DBs, one.db)
		others = others || one.db != ""
	}
	if !others {
		n.DBs = nil // which says the same
	}
	return n
}

// renewed extends the leases of attempts, counted from the request, and ends those that are lost.
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
	running := t.Running()
	if len(running.Running) == 0 {
		return
	}
	asked := time.Now()
	n, err := t.s.Claimer.Renew(ctx, running)
	if err != nil {
		t.s.Log.Debug("leases were not renewed", "error", err)
		return
	}
	t.Renewed(running.Running, n.Lost, asked)
}

// start runs an attempt in the background. asked is the time at which its claim was proposed.
func (t *term) start(ctx context.Context, a *queue.Attempt, asked time.Time) {
	ctx, cancel := context.WithCancel(ctx)
	t.Claimed(a, cancel, asked)
	t.attempts.Add(1)
	t.s.work(func() {
		defer t.attempts.Done()
		defer cancel()
		failpoint.Eval(failpoint.AfterClaim)
		n, ok := t.send(ctx, a)
		failpoint.Eval(failpoint.AfterAnswer)
		if !ok {
			// Its outcome is unknown, but it has ended: the next one need not wait for the lease.
			n = queue.Result{AttemptRef: a.Ref(), Lost: true}
			t.s.sent.lost.Inc()
		} else {
			t.s.count(&n)
			t.Outcome(a.Content.Host(), n.Response.Status != 0, time.Now())
		}
		t.s.logAttempt(a, &n)
		n.DB = a.DB
		t.s.results <- attemptResult{Result: n, attempt: a, claims: t.claims, at: time.Now()}
	})
}

// send turns a panic into a failed attempt: one message must not end the node.
func (t *term) send(ctx context.Context, a *queue.Attempt) (n queue.Result, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			t.s.Log.Error("sending a message panicked", append(t.s.traceIDs(a), "message", a.ID.String(), "attempt", a.Number, "panic", p)...)
			n, ok = queue.Result{AttemptRef: a.Ref(), Error: fmt.Sprintf("internal error: %v", p), RetryDelay: queue.MaxRetryDelay / 24}, true
		}
	}()
	whole := a.Loaded()
	return t.s.Deliverer.Send(ctx, &whole)
}
