package workflow

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// End ends a run with success. One that is over stays what it is.
func (s *Store) End(e *env.Env, q *queue.Store, n Ending) (RunRef, error) {
	r := s.Find(n.RunID, 0)
	if r == nil {
		return RunRef{}, notFound("workflow run %s not found", n.RunID)
	}
	if earlier := s.before(r); s.stray(q, r, 0, 0) && earlier != nil {
		r = earlier
	}
	if r.Active() {
		k := s.edit(e, q, r)
		k.count(int64(len(n.Result)))
		k.r.Result, k.r.HasResult = s.stored(n.Result), n.HasResult
		k.spare(k.r.Result.Uncounted())
		k.finish(Succeeded)
		k.store()
		k.notifyInvoker()
		s.trim(e.Now)
		r = k.r
	}
	return RunRef{ownedText(r.ID), r.Created, r.State}, nil
}

// finish brings a run to a final state: nothing of it is delivered any more, and nothing waits.
func (k *work) finish(state RunState) {
	s, r := k.s, k.r
	k.unreserve()
	s.liveBytes -= r.bytes
	s.doneBytes += r.bytes
	r.State, r.Completed = state, k.e.Now
	r.touch(k.e.Now)
	k.close(state)
	for _, w := range s.WaitersOf(r.No) {
		k.forgetWaiter(w)
		if state == Canceled {
			k.leaveWait(w)
		}
	}
	k.dropSaved()
	if state != Failed {
		s.ended.Set(queue.Stamp{At: r.Completed, Seq: r.No}, r.No)
	}
}

// unreserve has the run count no more what its end may add: it ends now.
func (k *work) unreserve() {
	k.count(-k.r.Reserved)
	k.r.Reserved = 0
}

// close ends the deliveries of the run. At success one that is under way is that which has ended the run.
func (k *work) close(state RunState) {
	var open []place
	k.s.open.AscendHead(k.r.No, func(p place, _ struct{}) bool {
		if p.run == k.r.No {
			open = append(open, p)
		}
		return p.run == k.r.No
	})
	for _, at := range open {
		old, _ := k.s.entries.Get(at)
		n := *old
		n.State, n.Next = Dropped, 0
		if k.q.Drop(k.e, n.ID) && state == Succeeded && n.Kind != CallEntry {
			n.State = Delivered
		}
		k.set(at, old, &n)
	}
}

// fail ends a run that can't go on: it becomes a dead letter, and its failure callback is called.
func (k *work) fail(f *Fault) {
	k.unreserve()
	before := k.r.size()
	if !k.s.fits(int64(len(f.Response.Body)) + 64*int64(len(f.Response.Header))) {
		f.Response = queue.Response{Status: f.Response.Status}
	}
	k.r.Fault = detached(f)
	k.r.Dead = queue.Stamp{At: k.e.Now, Seq: k.r.No}
	k.finish(Failed)
	k.s.dead.Set(k.r.Dead, k.r.No)
	k.callFailure()
	k.count(k.r.size() - before)
	k.store()
	k.notifyInvoker()
}

// FailureCallback is the URL that gets the failure of a run: what the run says, or, of SDKs that say it with each message, the
// message that failed; nil for nowhere.
func (s *Store) FailureCallback(r *Run) *queue.Callback {
	if r.Failure != nil || r.Fault == nil {
		return r.Failure
	}
	if n, ok := s.entries.Get(place{r.No, r.Fault.Entry}); ok && n.Own != nil {
		return n.Own.Failure
	}
	return nil
}

// callFailure has the failure callback called, if there is one.
func (k *work) callFailure() {
	to := k.s.FailureCallback(k.r)
	if to == nil {
		return
	}
	o := only(&to.Options, messageOptions).Over(only(&k.r.Options, messageOptions)).InTrace(k.r.Trace)
	c := &queue.Content{URL: to.URL, Options: o, CallerIP: k.r.CallerIP, Run: Ref{DeliverFailure, k.r.No, 0}.Bytes()}
	k.r.Callback = &Callback{Message: k.q.Dispatch(k.e, c), State: CallbackInProgress, Retries: c.Retries}
}

// applyFailureReport records how the delivery of a failure callback went.
func (s *Store) applyFailureReport(e *env.Env, q *queue.Store, r *Run, t *queue.DeliveryReport) {
	if r.Callback == nil || r.Callback.Message != t.ID || r.Callback.State != CallbackInProgress {
		return
	}
	k := s.edit(e, q, r)
	c := *r.Callback
	c.Next = t.Next
	if t.State == queue.Delivered {
		c.State = CallbackSuccess
		c.NotFound = queue.Value(t.Response.Header, "Upstash-Workflow-Failure-Callback-Notfound") == "true" ||
			queue.Value(t.Response.Header, "Svc-Workflow-Failure-Callback-Notfound") == "true"
	} else {
		c.Errors = s.noteAttempt(c.Errors, t, e.Now)
		if t.State == queue.Failed {
			c.State = CallbackFail
		}
	}
	if t.Response.Status != 0 && s.fits(attemptGrowth(t)) {
		p := detachedAttempt(&t.Response, "", 0).Response
		c.Response = &p
	}
	before := k.r.size()
	k.r.Callback = &c
	k.count(k.r.size() - before)
	k.store()
}

// notifyInvoker appends the outcome of a run to the run that has invoked it, once.
func (k *work) notifyInvoker() {
	v := k.r.Invoker
	if v == nil {
		return
	}
	parent, ok := k.s.runs.Get(v.Run)
	if !ok || parent.State != Started && parent.State != Failed {
		return
	}
	if _, done := k.s.marks.Get(mark{parent.No, markResult, v.Step.Number()}); done {
		return
	}
	p := k.s.edit(k.e, k.q, parent)
	n := &Entry{Kind: StepEntry, Step: result(v.Step), Body: payload.New(outcome(v.Open, k.r), k.s.keeper)}
	n.Own = p.own(&v.Options, TriggerOnConfig)
	if v.URL != "" && v.URL != parent.URL {
		n.URL = v.URL
	}
	p.append(n)
	p.store()
}

// result is the step of which s was the plan or the beginning.
func result(s Step) Step {
	s.ID, s.Target = s.Number(), 0
	return s
}

// outcome is the JSON of a step that has invoked r.
func outcome(open []byte, r *Run) []byte {
	var in object
	in.open()
	if r.State == Succeeded && r.HasResult {
		in.text("body", string(r.Result.Bytes()))
	}
	in.truth("isFailed", r.State == Failed)
	in.truth("isCanceled", r.State == Canceled)
	in.close()
	out := object{b: append(make([]byte, 0, len(open)+2*len(in.b)), open...), some: true}
	out.text("out", string(in.b))
	out.close()
	return out.b
}
