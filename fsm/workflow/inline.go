package workflow

import (
	"bytes"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// An endpoint may run several steps by one delivery, and record each before it begins the next. Then the message goes along with the
// run: what it has delivered so far counts as delivered, and it delivers the recorded step from now on, by the attempt that is under
// way. If that fails, or its outcome is lost, the message is attempted again with the log up to that step. See docs/design/workflows.md.

// carry has the attempt that records an entry deliver it, if that attempt may go on, and stores the entry.
func (wo *work) carry(at place, n *Entry) bool {
	from, ok := wo.goesOn(n)
	if !ok {
		return false
	}
	began, ok := wo.q.Carry(wo.e, wo.attempt, Ref{DeliverEntry, at.run, at.pos}.Bytes())
	if !ok {
		return false
	}
	old, _ := wo.s.entries.Get(from)
	done := *old
	done.State, done.Next, done.Claimed = Delivered, 0, began
	wo.set(from, old, &done)
	n.ID, n.State, n.Retries, n.FirstAt, n.Next = old.ID, Pending, old.Retries, wo.e.Now, wo.e.Now
	wo.s.entries.Set(at, n)
	wo.s.ids.Set(n.ID.Seq, at)
	wo.s.open.Set(at, struct{}{})
	return true
}

// goesOn returns the entry that the attempt has delivered so far; false if it may not go on with n. An entry that is delivered in its own
// way, at another time, or beside others needs a message of its own.
func (wo *work) goesOn(n *Entry) (from place, ok bool) {
	r := wo.r
	if wo.attempt == (queue.AttemptRef{}) || r.Features&Inline == 0 || !r.Active() || r.Hold != NotHeld || r.Origin == FromUnknown {
		return place{}, false
	}
	if n.Kind != StepEntry || n.plan() || n.Concurrent > 1 || n.Own != nil || n.URL != "" {
		return place{}, false
	}
	return wo.s.deliveredBy(wo.q, r, wo.attempt)
}

// deliveredBy returns the entry that an attempt under way delivers to the endpoint of a run; false if there is none.
func (s *Store) deliveredBy(q *queue.Store, r *Run, attempt queue.AttemptRef) (place, bool) {
	ref, ok := ParseRef(q.RunOfAttempt(attempt))
	if !ok || ref.Kind != DeliverEntry || ref.Run != r.No {
		return place{}, false
	}
	at := place{ref.Run, ref.Pos}
	e, found := s.entries.Get(at)
	return at, found && e.Kind == StepEntry && e.State.Open()
}

// isOf reports whether an attempt delivers the entry.
func (e *Entry) isOf(attempt queue.AttemptRef) bool {
	return attempt != queue.AttemptRef{} && e.ID == attempt.ID
}

// wentOn reports whether a step that is in the log was recorded by the same message with the same result, so that an endpoint whose attempt
// is under way may continue: only the answer was lost. A large result may be on the disk, and is not compared: the attempt fails, and the
// next one reads it.
func (s *Store) wentOn(q *queue.Store, r *Run, n *Submission, of *Entry) bool {
	if _, ok := s.deliveredBy(q, r, n.Attempt); !ok || n.Kind != StepSubmission || n.Step.plan() || !of.isOf(n.Attempt) {
		return false
	}
	return len(n.Body) < payload.Apart && of.Body.Len() == len(n.Body) && bytes.Equal(of.Body.Bytes(), n.Body)
}

// endInline ends a run by the attempt that has seen or recorded its last step. Any other attempt ends nothing: it may have seen other
// results.
func (s *Store) endInline(e *env.Env, q *queue.Store, n *Submission) Receipt {
	r := s.Find(n.RunID, 0)
	if r == nil || r.State != Started || n.Created != 0 && n.Created != r.Created {
		return Receipt{Refused: runOverError(n.RunID)}
	}
	out := Receipt{ID: n.Attempt.ID, RunID: ownedText(r.ID), Created: r.Created, Inline: s.isAt(q, r, n)}
	s.endAfter(e, q, n, &out)
	return out
}

// isAt reports whether the step of a submission is the last one that its attempt has seen or recorded.
func (s *Store) isAt(q *queue.Store, r *Run, n *Submission) bool {
	at, ok := s.deliveredBy(q, r, n.Attempt)
	if !ok {
		return false
	}
	last, _ := s.entries.Get(at)
	return last.Step.Number() == n.Step.Number()
}

// endAfter ends the run after the step that was recorded, if the attempt continues and has recorded no other after it.
func (s *Store) endAfter(e *env.Env, q *queue.Store, n *Submission, p *Receipt) {
	if n.End == nil || !p.Inline {
		return
	}
	if r := s.Find(n.RunID, p.Created); r != nil && r.Active() && s.isAt(q, r, n) {
		s.succeed(e, q, r, n.End.Result, n.End.HasResult)
		p.Ended = true
	}
}
