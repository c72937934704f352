package session

import (
	"slices"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

// Session returns the session of this process, 0 while it has none.
func (t *Tracker) Session() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.session
}

// Register notes the session that this process was given.
func (t *Tracker) Register(session uint64) {
	t.mu.Lock()
	t.session = session
	t.mu.Unlock()
}

// Pending returns the number of requests that have no outcome yet.
func (t *Tracker) Pending() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending)
}

// Restored gives up on what a snapshot has jumped over: it was applied, but no node saw
// its outcome. awaits reports whether a request of a session may still be applied.
func (t *Tracker) Restored(awaits func(session, seq uint64) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for seq, c := range t.pending { // unordered: each is judged alone
		if c.attempts > 0 && !awaits(t.session, seq) {
			t.settle(c, Result{nil, fsm.ErrUnknown})
		}
	}
}

// End fails everything that waits, and refuses what comes: the node stops.
func (t *Tracker) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopping = true
	for _, c := range t.pending { // unordered: each is answered alone
		err := fsm.ErrStopping
		if c.attempts > 0 {
			err = fsm.ErrUnknown
		}
		t.settle(c, Result{nil, err})
	}
	t.queue = nil
}

// Idle reports whether there is nothing to send now: no request waits, or as many batches are in flight as are allowed.
func (t *Tracker) Idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return (t.inFlight >= maxInFlight || len(t.queue) == 0) && !t.heldReady()
}

// Paused reports, once, that a batch has failed, so that the next try should wait a moment.
func (t *Tracker) Paused() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.pause
	t.pause = false
	return was
}

// Waiting returns the number of requests that are in no batch.
func (t *Tracker) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.queue)
}

// SessionLost ends the session, because the state does not have it any more: a backup was restored.
func (t *Tracker) SessionLost() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop()
	t.wake()
}

// drop ends the session: what was ever sent under it is unknown, the rest moves to the
// next one.
func (t *Tracker) drop() {
	t.session = 0
	for _, c := range t.pending { // unordered: each is answered alone
		if c.attempts > 0 {
			t.settle(c, Result{nil, fsm.ErrUnknown})
		}
	}
	t.resend()
}

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

// TakeMore does what Take does, but may exceed the limit of batches in flight, for a batch that goes along with one of
// them. It returns nil while none is in flight, or while a try has failed.
func (t *Tracker) TakeMore() *Batch {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.session == 0 || t.pause || t.stopping || t.inFlight == 0 && !t.heldInFlight {
		return nil
	}
	return t.take(true)
}

// AttachRequest gives a request an identity and a batch of its own, which is sent along with those of
// others; nil while there is no session. FinishPiggyback must be told what became of it.
func (t *Tracker) AttachRequest(code uint16, body []byte) (*Call, *Batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.session == 0 || t.stopping {
		return nil, nil
	}
	c := t.enter(code, body, t.now())
	c.attempts = 1
	return c, &Batch{Requests: []fsm.Request{{Session: t.session, Seq: c.seq, Code: code, Body: body}}}
}

// FinishPiggyback processes the answer to a batch of AttachRequest. Without an outcome its request is
// proposed like any other.
func (t *Tracker) FinishPiggyback(b *Batch, outcomes []fsm.Outcome, err error, sure bool) {
	t.Resolve(outcomes)
	q := &b.Requests[0]
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.pending[q.Seq]
	if c == nil || q.Session != t.session {
		return
	}
	status := fsm.Refused
	if err == nil {
		status = outcomes[0].Status
	}
	if status == fsm.Refused && (err == nil || sure) {
		c.attempts--
	}
	if status == fsm.SessionExpired {
		t.drop()
	} else {
		t.resend()
	}
	t.wake()
}
