package session

import (
	"slices"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

// Cancel ends the wait for a call and returns its outcome as far as it is known.
func (t *Tracker) Cancel(c *Call) Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case r := <-c.done:
		return r
	default:
	}
	return t.expireCall(c)
}

// expireCall returns the outcome of a call whose caller has stopped waiting: it was never sent, or
// its outcome is unknown. The lock is held.
func (t *Tracker) expireCall(c *Call) Result {
	delete(t.pending, c.seq)
	if c.attempts > 0 {
		return Result{nil, fsm.ErrUnknown}
	}
	if c.held && t.since.IsZero() {
		return Result{nil, fsm.ErrShare}
	}
	return Result{nil, fsm.ErrNoLeader} // it is still in the queue, where Take steps over it
}

// Overdue ends the calls whose deadline has passed. Deadlines rise with the sequence,
// so a periodic scan costs less than a timer for each call.
func (t *Tracker) Overdue(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for seq := t.lowest(); seq < t.seq; seq++ {
		c := t.pending[seq]
		if c == nil {
			continue
		}
		if now.Before(c.deadline) {
			return
		}
		c.done <- t.expireCall(c)
	}
}

// Lead records since when there is no leader.
func (t *Tracker) Lead(known bool) {
	t.mu.Lock()
	if known {
		t.since = time.Time{}
	} else if t.since.IsZero() {
		t.since = t.now()
	}
	t.mu.Unlock()
}

// Expire refuses what was never sent when there is no leader for too long.
func (t *Tracker) Expire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.since.IsZero() || t.now().Sub(t.since) < Leaderless {
		return
	}
	t.queue = slices.DeleteFunc(t.queue, func(c *Call) bool {
		if t.pending[c.seq] != c {
			return true
		}
		if c.attempts == 0 {
			t.settle(c, Result{nil, fsm.ErrNoLeader})
		}
		return c.attempts == 0
	})
}
