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
	if earlier := s.previousRun(r); s.isOfEarlierRun(q, r, 0, 0) && earlier != nil {
		r = earlier
	}
	if r.Active() {
		r = s.succeed(e, q, r, n.Result, n.HasResult)
		s.trim(e, q)
	}
	return RunRef{ownedText(r.ID), r.Created, r.State}, nil
}

// succeed ends an active run with its result, and returns what it is then.
func (s *Store) succeed(e *env.Env, q *queue.Store, r *Run, result []byte, has bool) *Run {
	k := s.edit(e, q, r)
	k.count(int64(len(result)))
	k.r.Result, k.r.HasResult = s.stored(result), has
	k.addUncounted(k.r.Result.Uncounted())
	k.finish(Succeeded)
	k.store()
	k.notifyInvoker()
	return k.r
}

// finish brings a run to a final state: nothing of it is delivered any more, and nothing waits.
func (wo *work) finish(state RunState) {
	s, r := wo.s, wo.r
	wo.endPauseBefore(state)
	wo.unreserve()
	s.liveBytes -= r.bytes
	s.doneBytes += r.bytes
	r.State, r.Completed = state, wo.e.Now
	r.touch(wo.e.Now)
	wo.close(state)
	for _, w := range s.WaitersOf(r.No) {
		wo.forgetWaiter(w)
		if state == Canceled {
			wo.leaveWait(w)
		}
	}
	wo.dropSaved()
	wo.leaveKey()
	s.forgetEvents(r)
	s.leaveDeployment(r)
	if state != Failed {
		s.ended.Set(queue.Stamp{At: r.Completed, Seq: r.No}, r.No)
	}
}

// unreserve has the run count no more what its end may add: it ends now.
func (wo *work) unreserve() {
	wo.count(-wo.r.Reserved)
	wo.r.Reserved = 0
}

// close ends the deliveries of the run. At success one that is under way is that which has ended the run.
func (wo *work) close(state RunState) {
	var open []place
	wo.s.open.AscendHead(wo.r.No, func(p place, _ struct{}) bool {
		if p.run == wo.r.No {
			open = append(open, p)
		}
		return p.run == wo.r.No
	})
	for _, at := range open {
		old, _ := wo.s.entries.Get(at)
		n := *old
		n.State, n.Next = Dropped, 0
		if wo.q.Drop(wo.e, n.ID) && state == Succeeded && n.Kind != CallEntry {
			n.State = Delivered
		}
		wo.set(at, old, &n)
	}
}

// fail ends a run that can't go on: it becomes a dead letter, and its failure callback is called.
func (wo *work) fail(f *Fault) {
	wo.unreserve()
	before := wo.r.size()
	if !wo.s.fits(int64(len(f.Response.Body)) + 64*int64(len(f.Response.Header))) {
		f.Response = queue.Response{Status: f.Response.Status}
	}
	wo.r.Fault = detached(f)
	wo.r.Dead = queue.Stamp{At: wo.e.Now, Seq: wo.r.No}
	wo.finish(Failed)
	wo.s.dead.Set(wo.r.Dead, wo.r.No)
	wo.callFailure()
	wo.count(wo.r.size() - before)
	wo.store()
	wo.notifyInvoker()
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
func (wo *work) callFailure() {
	to := wo.s.FailureCallback(wo.r)
	if to == nil {
		return
	}
	o := pickOptions(&to.Options, messageOptions).Over(pickOptions(&wo.r.Options, messageOptions)).InTrace(wo.r.Trace)
	c := &queue.Content{URL: wo.s.failureURL(wo.r, to), Options: o, CallerIP: wo.r.CallerIP, Run: Ref{DeliverFailure, wo.r.No, 0}.Bytes()}
	wo.r.Callback = &Callback{Message: wo.q.Dispatch(wo.e, c), State: CallbackInProgress, Retries: c.Retries}
}

// applyFailureReport records how the delivery of a failure callback went.
func (s *Store) applyFailureReport(e *env.Env, q *queue.Store, r *Run, t *queue.DeliveryReport) {
	if r.Callback == nil || r.Callback.Message != t.ID || r.Callback.State != CallbackInProgress {
		return
	}
	k := s.edit(e, q, r)
	c := *r.Callback
	c.Next, t.Claimed = t.Next, 0
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
func (wo *work) notifyInvoker() {
	v := wo.r.Invoker
	if v == nil {
		return
	}
	parent, ok := wo.s.runs.Get(v.Run)
	if !ok || parent.State != Started && parent.State != Failed {
		return
	}
	if _, done := wo.s.marks.Get(mark{parent.No, markResult, v.Step.Number()}); done {
		return
	}
	p := wo.s.edit(wo.e, wo.q, parent)
	n := &Entry{Kind: StepEntry, Step: result(v.Step), Body: payload.New(outcome(v.Open, wo.r), wo.s.keeper)}
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
	out := object{b: append(make([]byte, 0, len(open)+2*len(in.b)), open...), nonEmpty: true}
	out.text("out", string(in.b))
	out.close()
	return out.b
}
