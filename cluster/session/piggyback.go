package session

import (
	"github.com/trireme-dev/trireme/fsm"
)

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
