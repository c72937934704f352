package workflow

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// ApplyReports records what has happened to messages of runs.
func (s *Store) ApplyReports(e *env.Env, q *queue.Store, list []queue.DeliveryReport) {
	for i := range list {
		t := &list[i]
		if e.Level < env.Files { // states have no place for it
			t.Claimed = 0
		}
		ref, ok := ParseRef(t.Run)
		r, found := s.runs.Get(ref.Run)
		switch {
		case !ok || !found:
		case ref.Kind == DeliverFailure:
			s.applyFailureReport(e, q, r, t)
		default:
			s.applyEntryReport(e, q, r, place{ref.Run, ref.Pos}, t)
		}
	}
	s.trim(e, q)
}

// applyEntryReport records how the delivery of an entry went. A report on a message that has been replaced changes
// nothing.
func (s *Store) applyEntryReport(e *env.Env, q *queue.Store, r *Run, at place, t *queue.DeliveryReport) {
	old, ok := s.entries.Get(at)
	if !ok || old.ID != t.ID || !old.State.Open() {
		return
	}
	k := s.edit(e, q, r)
	n := *old
	n.Retried, n.Claimed = uint32(t.Retried), t.Claimed
	switch {
	case t.State == queue.Delivered:
		n.State, n.Next = Delivered, 0
	case n.Kind != CallEntry && s.superseded(r, old):
		q.Drop(e, t.ID)
		n.State, n.Next = Delivered, 0
	case t.State == queue.Retry:
		n.State, n.Next = Retrying, t.Next
		n.Errors = s.noteAttempt(n.Errors, t, e.Now)
		if r.Hold == HeldPaused {
			k.withhold(&n)
		}
	case n.Kind == CallEntry: // a call that fails is a result too
		n.State, n.Next = Delivered, 0
		n.Errors = s.noteAttempt(n.Errors, t, e.Now)
	case k.pausesAtEnd():
		n.State, n.Next = Held, 0
		n.Errors = s.noteAttempt(n.Errors, t, e.Now)
	default:
		n.State, n.Next = Undeliverable, 0
		n.Errors = s.noteAttempt(n.Errors, t, e.Now)
	}
	if len(n.Errors) > 0 {
		k.r.touch(n.Errors[len(n.Errors)-1].At)
	}
	if !n.State.Open() {
		n.Reserved = 0
	}
	k.set(at, old, &n)
	fault := &Fault{Entry: at.pos, Message: n.ID, Response: t.Response, Error: t.Error, Retried: t.Retried, Retries: t.Retries}
	switch {
	case n.State == Undeliverable:
		k.fail(fault)
	case n.State == Retrying:
		k.follow()
	case n.State == Held && k.r.Hold == NotHeld:
		k.pause(fault)
	case n.State == Delivered && n.Kind == CallEntry:
		k.answer(at.pos, &n, t)
	case n.State == Delivered && at.pos == 0 && t.State == queue.Delivered:
		k.firstAnswer(&n, t)
	}
	k.store()
}

// attemptGrowth is the logical size of an attempt that is remembered.
func attemptGrowth(t *queue.DeliveryReport) int64 {
	return 120 + int64(min(len(t.Response.Body), maxErrorBody)+len(t.Error)) + 64*int64(len(t.Response.Header))
}

// noteAttempt adds a failed attempt to a list, of which the oldest goes when there are too many. One for which there is no room is
// left out.
func (s *Store) noteAttempt(list []Attempt, t *queue.DeliveryReport, now int64) []Attempt {
	if !s.fits(attemptGrowth(t)) {
		return list
	}
	kept := list[max(len(list)-maxErrors+1, 0):]
	out := make([]Attempt, 0, len(kept)+1)
	n := detachedAttempt(&t.Response, t.Error, now)
	n.Claimed = t.Claimed
	return append(append(out, kept...), n)
}

// superseded reports whether what the delivery of an entry was to bring about is in the log, or on its way: the endpoint has done
// its work, and only its answer was lost.
func (s *Store) superseded(r *Run, n *Entry) bool { return n.superseded(s.marksOf(r.No)) }

// marked reports whether something of a class has happened to a step of a run.
type marked func(c class, step uint32) bool

// marksOf tells of a run in the trees.
func (s *Store) marksOf(run uint64) marked {
	return func(c class, step uint32) bool {
		_, done := s.marks.Get(mark{run, c, step})
		return done
	}
}

func (e *Entry) superseded(done marked) bool {
	step := e.Target
	switch {
	case e.Kind == AnswerEntry:
		return done(markResult, e.Number())
	case e.plan():
	case e.Concurrent > 1: // only the last result of a block is followed by something, and that is judged by itself
		return false
	default:
		if step = e.Step.ID + 1; done(markPlan, step) {
			return true
		}
	}
	return done(markResult, step) || done(markCall, step) || done(markWait, step) || done(markInvoke, step)
}

// answer appends the answer of a third party, and delivers it to the endpoint. A call that failed says that it was retried as
// often as it may be, or the SDK would wait for more.
func (wo *work) answer(pos uint32, call *Entry, t *queue.DeliveryReport) {
	if !wo.r.Active() {
		return
	}
	a := &Answer{Call: pos, Response: t.Response, Error: t.Error, Retried: uint32(t.Retried), Retries: uint32(t.Retries)}
	if t.State != queue.Delivered {
		a.Retried = a.Retries
	}
	if a.Status == 0 {
		a.Status, a.Body = unreachable, []byte(t.Error)
	}
	if !wo.s.fits(entryGrowth(nil, 0) + 200 + int64(len(a.Body)) + 64*int64(len(a.Header))) { // the step learns it, instead of a result that is not the call's
		a.Response, a.Error = queue.Response{Status: insufficient, Body: []byte(noRoom)}, ""
	}
	n := &Entry{Kind: AnswerEntry, Step: call.Step, Answer: detached(a)}
	if back := call.Own.Callback; back != nil {
		n.URL = back.URL
		o := pickOptions(&back.Options, messageOptions|queue.GivenHeader)
		n.Own = &o
	}
	wo.append(n)
}

// unreachable is the status of a call that had no answer, insufficient of one whose answer there is no room for.
const (
	unreachable  = 502
	insufficient = 507
	noRoom       = "memory limit reached: the answer to the call was not kept"
)

// The headers by which an SDK shows itself in its answers.
var (
	versionHeaders = []string{"Upstash-Workflow-Sdk-Version", "Svc-Workflow-Sdk-Version"}
	releaseHeaders = []string{"Upstash-Workflow-Sdk", "Svc-Workflow-Sdk"}
)

// The texts are known to clients.
const (
	noWorkflow     = "detected a non-workflow destination for trigger/invoke. make sure you are sending the request to the correct endpoint"
	unsupportedSDK = "trigger rest api is only usable with sdk versions after v1.0.0 major version"
	noStart        = "the endpoint has answered the handshake, but has not started the run"
)

// firstAnswer judges the first 2xx answer to a run: it has to be that of a workflow.
func (wo *work) firstAnswer(n *Entry, t *queue.DeliveryReport) {
	has := func(names []string) bool {
		for _, name := range names {
			if strings.TrimSpace(queue.Value(t.Response.Header, name)) != "" {
				return true
			}
		}
		return false
	}
	why := ""
	switch {
	case !wo.r.Active():
		return
	case wo.r.Origin != FromSDK && !has(releaseHeaders):
		why = unsupportedSDK
	case wo.r.Features&DetectTrigger != 0 && !has(versionHeaders):
		why = noWorkflow
	case wo.r.Origin == FromUnknown:
		why = noStart
	default:
		return
	}
	at := place{wo.r.No, 0}
	bad := *n
	bad.State = Undeliverable
	bad.Errors = wo.s.noteAttempt(n.Errors, &queue.DeliveryReport{Response: t.Response, Error: why, Claimed: t.Claimed}, wo.e.Now)
	wo.set(at, n, &bad)
	wo.fail(&Fault{Message: n.ID, Response: t.Response, Error: why, Retried: t.Retried, Retries: t.Retries})
}
