package workflow

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// A run that was started with queue.Pause is paused where another one fails: it lives, no attempt of it begins, and its Fault says why.
// Resumed, it goes on from there with all its retries.

// pausesAtEnd reports whether the run is paused when the retries of a delivery are used up.
func (wo *work) pausesAtEnd() bool { return wo.r.Active() && wo.r.OnFailure == queue.Pause }

// pause pauses the run, because of a delivery that has failed, and has the failure callback called.
func (wo *work) pause(f *Fault) {
	before := wo.r.size()
	if !wo.s.fits(int64(len(f.Response.Body)) + 64*int64(len(f.Response.Header))) {
		f.Response = queue.Response{Status: f.Response.Status}
	}
	wo.r.Fault, wo.r.Hold = detached(f), HeldPaused
	wo.s.paused.Set(wo.r.No, struct{}{})
	for _, at := range wo.openPlaces() {
		old, _ := wo.s.entries.Get(at)
		if n := *old; old.State != Held && wo.withhold(&n) {
			wo.set(at, old, &n)
		}
	}
	wo.callFailure()
	wo.count(wo.r.size() - before)
}

// withhold holds an open entry of a paused run until the run is resumed, or if it is not due by then, until it is. It reports whether it
// did: calls, and attempts that are under way, are let go on.
func (wo *work) withhold(n *Entry) bool {
	if n.Kind == CallEntry || !wo.q.Withdraw(wo.e, n.ID) {
		return false
	}
	if n.State != Pending || n.Next <= wo.e.Now {
		n.Next = 0
	}
	n.State = Held
	return true
}

// endPause forgets why the run was paused. A failure callback that is still being called is given up.
func (wo *work) endPause() {
	if wo.r.Hold != HeldPaused {
		return
	}
	before := wo.r.size()
	if c := wo.r.Callback; c != nil {
		wo.q.Drop(wo.e, c.Message)
	}
	wo.r.Callback, wo.r.Fault, wo.r.Hold = nil, nil, NotHeld
	wo.s.paused.Delete(wo.r.No)
	wo.count(wo.r.size() - before)
}

// endPauseBefore ends the pause of a run that comes to its end. One that fails has a new cause already.
func (wo *work) endPauseBefore(state RunState) {
	if state != Failed {
		wo.endPause()
	}
	wo.s.paused.Delete(wo.r.No)
}

// RunChange is the argument of the operation ResumeRun: a paused run goes on.
type RunChange struct {
	RunID string
	// Created tells apart runs of one id; 0 is the newest.
	Created int64
}

// Fields codes the value in its wire format. Decoded texts alias the input.
func (rc *RunChange) Fields(c *wire.Codec) {
	c.Text(&rc.RunID)
	c.Varint(&rc.Created)
}

// Resume has a paused run go on where it stopped, with all its retries. A failure callback that is still being called is given up.
//
// The errors are ErrNotFound for an unknown run, and ErrConflict for one that is not paused.
func (s *Store) Resume(e *env.Env, q *queue.Store, n RunChange) (RunRef, error) {
	r := s.Find(n.RunID, n.Created)
	switch {
	case r == nil:
		return RunRef{}, notFound("workflow run %s not found", n.RunID)
	case !r.Active() || r.Hold != HeldPaused:
		return RunRef{}, refusal(ErrConflict, "workflow run %s is not paused", n.RunID)
	}
	k := s.edit(e, q, r)
	k.endPause()
	k.release()
	k.store()
	s.trim(e, q)
	return RunRef{ownedText(r.ID), r.Created, k.r.State}, nil
}

// ResumePrice returns the price of Resume.
func (s *Store) ResumePrice(_ *env.Env, n *RunChange) env.Price {
	r := s.Find(n.RunID, n.Created)
	if r == nil || r.Hold != HeldPaused {
		return env.Price{Work: operation}
	}
	held := int64(s.openOf(r.No))
	message := queue.MessageGrowth(&r.Options, r.URL, r.CallerIP)
	return env.Price{Work: operation + entryWork*(1+held), Growth: message * held}
}

// Paused lists the runs that are paused, the oldest first, up to a number of them, and counts all.
func (s *Store) Paused(limit int) (list []*Run, all int) {
	s.paused.All(func(no uint64, _ struct{}) bool {
		if len(list) == limit {
			return false
		}
		r, _ := s.runs.Get(no)
		list = append(list, r)
		return true
	})
	return list, s.paused.Len()
}
