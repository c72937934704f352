package session

import (
	"cmp"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

// Batch holds what one node sends to the leader in one call: requests of its session, and the low-water mark below
// which it awaits no outcome.
type Batch struct {
	LowWater fsm.LowWater
	Requests []fsm.Request
	round    uint64
	// databases holds at i the database charged for request i, empty for none. It is nil if no request is charged to a database.
	databases []string
	held      bool // its requests waited for the shares of their databases
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

// Take returns the next batch, up to MaxBatchBytes; nil if there is none. Finish must be told
// what became of it.
func (t *Tracker) Take() *Batch {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.take(false)
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

// Waiting returns the number of requests that are in no batch.
func (t *Tracker) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.queue)
}

// take is Take, or TakeMore; the lock is held.
func (t *Tracker) take(more bool) *Batch {
	b := &Batch{LowWater: fsm.LowWater{Session: t.session, Below: t.lowest()}, round: t.round, Requests: make([]fsm.Request, 0, len(t.queue))}
	var now time.Time
	if t.ledger != nil {
		now = t.now()
	}
	if (more || t.inFlight < maxInFlight) && t.takeQueued(b, now) {
		t.inFlight++
		return b
	}
	if t.takeHeld(b, now) {
		return b
	}
	return nil
}

// takeQueued puts into a batch the requests that wait for nothing else, and reports whether there were any. The lock is held.
func (t *Tracker) takeQueued(b *Batch, now time.Time) bool {
	size, count := 0, 0
	for _, c := range t.queue {
		if t.pending[c.seq] != c { // given up by its client
			count++
			continue
		}
		n := len(c.body) + FrameCost
		if size+n > MaxBatchBytes && len(b.Requests) > 0 {
			break
		}
		count++
		if c.db != "" && !t.admit(c, now) {
			continue
		}
		size += n
		t.put(b, c)
	}
	if t.queue = slices.Delete(t.queue, 0, count); len(t.queue) == 0 && cap(t.queue) > keptQueue {
		t.queue = nil
	}
	return len(b.Requests) > 0
}

// put adds a request to a batch; the lock is held.
func (t *Tracker) put(b *Batch, c *Call) {
	c.attempts++
	b.Requests = append(b.Requests, fsm.Request{Session: t.session, Seq: c.seq, Code: c.code, Body: c.body})
	if c.db != "" && b.databases == nil {
		b.databases = make([]string, len(b.Requests)-1, cap(b.Requests))
	}
	if b.databases != nil {
		b.databases = append(b.databases, c.db)
	}
}

// keptQueue is the largest capacity, in requests, that an empty queue keeps.
const keptQueue = 1 << 12

// lowest returns the least sequence number that is still awaited; the lock is held.
func (t *Tracker) lowest() uint64 {
	for t.low < t.seq && t.pending[t.low] == nil {
		t.low++
	}
	return t.low
}

// Finish processes a batch's answer: its outcomes, or an error. sure says that this try has not applied and will not
// apply anything of the batch.
func (t *Tracker) Finish(b *Batch, outcomes []fsm.Outcome, err error, sure bool) {
	t.Resolve(outcomes)
	t.mu.Lock()
	defer t.mu.Unlock()
	again, expired, deferred := err != nil, false, false
	for i := range b.Requests {
		c := t.pending[b.Requests[i].Seq]
		if c == nil || b.LowWater.Session != t.session {
			continue
		}
		refused := i < len(outcomes) && outcomes[i].Status == fsm.Refused
		again = again || refused
		expired = expired || (i < len(outcomes) && outcomes[i].Status == fsm.SessionExpired)
		later := i < len(outcomes) && outcomes[i].Status == fsm.Deferred
		deferred = deferred || later
		if refused || later || (err != nil && sure) {
			c.attempts--
		}
	}
	if expired {
		t.drop()
	} else if b.round == t.round { // otherwise this try was given up meanwhile
		if b.held {
			t.heldInFlight = false
		} else {
			t.inFlight--
		}
		if b.databases != nil || deferred {
			t.settleShares(b, outcomes)
		}
		if again {
			t.resend()
		}
	}
	t.wake()
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

// resend queues everything without an outcome again, in sequence order before what is
// new.
func (t *Tracker) resend() {
	t.round++
	t.inFlight = 0
	t.pause = true
	t.queue = nil
	t.emptyHeld()
	for _, c := range t.pending { // unordered: sorted below
		t.queue = append(t.queue, c)
	}
	slices.SortFunc(t.queue, func(a, b *Call) int { return cmp.Compare(a.seq, b.seq) })
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
