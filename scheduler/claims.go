package scheduler

import (
	"context"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm/queue"
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
