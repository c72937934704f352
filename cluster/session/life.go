package session

import (
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
