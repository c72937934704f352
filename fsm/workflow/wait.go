package workflow

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// Await registers a waiter, unless a notification is kept for it, or the step has waited before. The message of the
// answer is zero while the step waits.
func (s *Store) Await(e *env.Env, q *queue.Store, n Await) (Receipt, error) {
	r := s.Find(n.RunID, 0)
	if r == nil || !r.Active() {
		return Receipt{}, runOverError(n.RunID)
	}
	if n.Step.Number() == 0 || n.EventID == "" || n.Timeout < 0 {
		return Receipt{}, refusal(ErrRefused, "a wait needs a step, an event id and a timeout")
	}
	if s.isOfEarlierRun(q, r, n.Step.Number(), 0) {
		return Receipt{}, runOverError(n.RunID)
	}
	out := Receipt{RunID: ownedText(r.ID), Created: r.Created, Deduplicated: true}
	if won, done := s.earlierEntry(r, &Submission{Kind: StepSubmission, Step: Step{ID: n.Step.Number()}}); done {
		out.ID = won.ID
		return out, nil
	}
	if _, waits := s.marks.Get(mark{r.No, markWait, n.Step.Number()}); waits {
		return out, nil
	}
	w := detached(&Waiter{
		No: s.next(), Run: r.No, RunID: r.ID, EventID: n.EventID, Step: n.Step, Open: n.Open, Deadline: deadline(e.Now, n.Timeout), Created: e.Now,
		TimeoutText: n.TimeoutText, URL: n.URL, Options: n.Options, TimeoutURL: n.TimeoutURL, TimeoutOptions: n.TimeoutOptions, TimeoutBody: n.TimeoutBody,
	})
	if s.held(r) >= maxHeld {
		return Receipt{}, heldLimitError(r.ID)
	}
	w.Reserved = w.reserve()
	out.Deduplicated = false
	k := s.edit(e, q, r)
	s.marks.Set(mark{r.No, markWait, n.Step.Number()}, w.No)
	if at, saved := s.savedFor(w); saved != nil {
		k.takeSaved(at, saved)
		out.ID = k.wake(w, saved.Body, false)
	} else {
		k.register(w)
	}
	k.store()
	s.trim(e, q)
	return out, nil
}

// maxDeadline keeps times in the range that clients can read.
const maxDeadline = 1 << 53

func deadline(now, timeout int64) int64 { return min(now+min(timeout, maxDeadline), maxDeadline) }

func (wo *work) register(w *Waiter) {
	s := wo.s
	s.waiters.Set(w.No, w)
	s.events.waiters.Set(name{w.EventID, w.No}, struct{}{})
	s.waiting.Set(runKey{w.Run, w.No}, struct{}{})
	s.ends.Set(queue.Stamp{At: w.Deadline, Seq: w.No}, w.No)
	wo.r.touch(w.Created)
	wo.count(w.size())
}

// forgetWaiter removes a waiter. The first cause removes it: notification, timeout, or end of the run.
func (wo *work) forgetWaiter(w *Waiter) {
	s := wo.s
	s.waiters.Delete(w.No)
	s.events.waiters.Delete(name{w.EventID, w.No})
	s.waiting.Delete(runKey{w.Run, w.No})
	s.ends.Delete(queue.Stamp{At: w.Deadline, Seq: w.No})
	wo.count(-w.size())
}

// wake ends a wait: it appends its result, which is the notification, or its timeout if late.
func (wo *work) wake(w *Waiter, body []byte, late bool) queue.ID {
	n := &Entry{Kind: StepEntry, Step: result(w.Step), Body: payload.New(w.result(body, late), wo.s.keeper)}
	url, o := w.URL, &w.Options
	if late {
		url, o = w.TimeoutURL, &w.TimeoutOptions
	}
	n.Own = wo.own(o, TriggerOnConfig)
	n.Since, n.Deadline = w.Created, w.Deadline
	if url != "" && url != wo.r.URL {
		n.URL = url
	}
	return wo.append(n).ID
}

// leaveWait records in the log what a cancelled run was waiting for. It is not a result.
func (wo *work) leaveWait(w *Waiter) {
	n := &Entry{Kind: StepEntry, Step: result(w.Step), Body: payload.New(w.unfinished(), wo.s.keeper), Created: wo.e.Now, FirstAt: wo.e.Now, State: Unfinished}
	n.ID, n.Name, n.Since, n.Deadline = wo.q.NewID(wo.e), ownedText(w.Step.Name), w.Created, w.Deadline
	at := place{wo.r.No, wo.r.Entries}
	wo.r.Entries++
	wo.s.entries.Set(at, n)
	wo.s.ids.Set(n.ID.Seq, at)
	wo.count(n.size())
	wo.addUncounted(n.Body.Uncounted())
	wo.s.trimmable += 2
}

// unfinished is the JSON of the step as far as it is known while it waits.
func (w *Waiter) unfinished() []byte {
	j := object{b: append(make([]byte, 0, len(w.Open)+len(w.EventID)+64), w.Open...), nonEmpty: true}
	j.text("waitEventId", w.EventID)
	j.text("timeout", w.TimeoutText)
	j.close()
	return j.b
}

// result is the JSON of the step that has waited.
func (w *Waiter) result(body []byte, late bool) []byte {
	j := object{b: append(make([]byte, 0, len(w.Open)+len(body)*4/3+len(w.EventID)+96), w.Open...), nonEmpty: true}
	j.text("waitEventId", w.EventID)
	j.text("timeout", w.TimeoutText)
	if late {
		j.truth("waitTimeout", true)
	} else {
		j.base64("out", body)
	}
	j.close()
	return j.b
}

// maxExpired is the most waiters that one Advance ends.
const maxExpired = 256

// Advance ends the waits whose timeout has passed. (A sleep is a message: it ends in queue.Store.Advance.)
func (s *Store) Advance(e *env.Env, q *queue.Store) {
	for range maxExpired {
		t, no, ok := s.ends.Min()
		if !ok || t.At > e.Now {
			break
		}
		w, _ := s.waiters.Get(no)
		r, _ := s.runs.Get(w.Run)
		k := s.edit(e, q, r)
		k.forgetWaiter(w)
		k.wake(w, nil, true)
		k.store()
	}
	s.trim(e, q)
}

// NextDue returns when the next timeout passes, in unix milliseconds; ok is false if there is none.
func (s *Store) NextDue() (unixms int64, ok bool) {
	t, _, ok := s.ends.Min()
	return t.At, ok
}
