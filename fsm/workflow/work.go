package workflow

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// work changes one run. It holds a copy; store puts it in place of the run.
type work struct {
	s *Store
	e *env.Env
	q *queue.Store
	r *Run
	// attempt is the one that records an entry and continues, zero if none does.
	attempt queue.AttemptRef
}

// edit returns a copy of a run to be changed.
func (s *Store) edit(e *env.Env, q *queue.Store, r *Run) *work {
	c := *r
	return &work{s: s, e: e, q: q, r: &c}
}

// store puts the changed run in place.
func (wo *work) store() { wo.s.runs.Set(wo.r.No, wo.r) }

// The logical overhead of a run and of an entry, with their places in the indices, in bytes.
const (
	runCost   = 900
	entryCost = 420
)

func (r *Run) size() int64 {
	n := r.Reserved + int64(runCost+len(r.ID)+r.Result.Len())
	n += optionsSize(&r.Options) + keptSize(r.Keep) + keptSize(r.KeepValues) + rulesSize(r.Config.Updates) + r.Data.size() + pinSize(r.Deployment)
	if f := r.ForkOf; f != nil {
		n += forkCost + int64(len(f.RunID))
	}
	if f := r.Fault; f != nil {
		n += int64(200+len(f.Response.Body)+len(f.Error)) + 64*int64(len(f.Response.Header))
	}
	if c := r.Callback; c != nil {
		n += 200 + attemptsSize(c.Errors)
		if c.Response != nil {
			n += int64(len(c.Response.Body)) + 64*int64(len(c.Response.Header))
		}
	}
	if v := r.Invoker; v != nil {
		n += int64(200+len(v.Open)) + optionsSize(&v.Options)
	}
	return n
}

func (e *Entry) size() int64 {
	n := e.Reserved + int64(entryCost+e.Body.Len()+len(e.URL)+len(e.Name)) + optionsSize(e.Own) + attemptsSize(e.Errors)
	if a := e.Answer; a != nil {
		n += int64(100+len(a.Body)+len(a.Error)) + 64*int64(len(a.Header))
	}
	return n
}

func attemptsSize(list []Attempt) (n int64) {
	for i := range list {
		n += int64(120+len(list[i].Body)+len(list[i].Error)) + 64*int64(len(list[i].Header))
	}
	return n
}

// count adds to the logical memory of the run.
func (wo *work) count(bytes int64) {
	wo.r.bytes += bytes
	if wo.r.Active() {
		wo.s.liveBytes += bytes
	} else {
		wo.s.doneBytes += bytes
	}
}

// addUncounted adds to the bytes of the run that do not count as memory.
func (wo *work) addUncounted(bytes int64) {
	wo.r.spared += bytes
	wo.s.uncounted += bytes
}

// append adds an entry to the log, and has it delivered unless it is to be Kept. n.Own and n.Body must be the store's
// own. The entry is the answer to what asked for it.
func (wo *work) append(n *Entry) *Entry {
	s, at := wo.s, place{wo.r.No, wo.r.Entries}
	wo.r.Entries++
	n.Created = wo.e.Now
	if n.Kind != CallEntry {
		n.URL = elsewhere(wo.r, n.URL)
	}
	wo.r.touch(wo.e.Now)
	switch {
	case wo.carry(at, n):
	case wo.r.Active():
		wo.dispatch(at, n)
	default:
		n.ID, n.State, n.FirstAt = wo.q.NewID(wo.e), Kept, wo.e.Now
		s.entries.Set(at, n)
		s.ids.Set(n.ID.Seq, at)
	}
	if m, ok := markOf(wo.r.No, n); ok {
		s.marks.Set(m, uint64(at.pos))
		if m.class == markResult {
			wo.stopWaiting(m.step)
			wo.dropAnswerBody(m.step)
		}
	}
	wo.count(n.size())
	wo.addUncounted(n.Body.Uncounted())
	s.trimmable += 2
	return n
}

// stopWaiting removes the waiter of a step that has a result, so that there is no second result.
func (wo *work) stopWaiting(step uint32) {
	no, waited := wo.s.marks.Get(mark{wo.r.No, markWait, step})
	if w, found := wo.s.waiters.Get(no); waited && found {
		wo.forgetWaiter(w)
	}
}

// dropAnswerBody drops the body of the answer to a step's call: the step's result, which is in the log now, was made of it.
func (wo *work) dropAnswerBody(step uint32) {
	pos, called := wo.s.marks.Get(mark{wo.r.No, markAnswer, step})
	if !called {
		return
	}
	at := place{wo.r.No, uint32(pos)}
	old, _ := wo.s.entries.Get(at)
	n, a := *old, *old.Answer
	a.Body, a.Superseded = nil, true
	n.Answer = &a
	wo.set(at, old, &n)
}

// markOf is the mark that an entry sets; false if it sets none.
func markOf(run uint64, n *Entry) (mark, bool) {
	switch {
	case n.Kind == CallEntry:
		return mark{run, markCall, n.Number()}, true
	case n.Kind == AnswerEntry:
		return mark{run, markAnswer, n.Number()}, true
	case n.plan():
		return mark{run, markPlan, n.Target}, true
	}
	return mark{run, markResult, n.Step.ID}, n.Type != Initial
}

// dispatch publishes the message that delivers an entry, under a new id, and stores the entry. A sleep is an entry whose
// message has a delay or a time: it ends when queue.Store.Advance claims that message.
func (wo *work) dispatch(at place, n *Entry) {
	if n.ID != (queue.ID{}) {
		wo.s.ids.Delete(n.ID.Seq)
	}
	if wo.r.Hold != NotHeld {
		wo.hold(at, n)
		return
	}
	wo.follow()
	o := wo.settings(n).InTrace(wo.r.Trace)
	if n.State == Held && n.Next > 0 { // its delay has begun before the run was paused
		o.Given, o.NotBefore = o.Given|queue.GivenNotBefore, n.Next
	}
	c := &queue.Content{URL: wo.s.urlOf(wo.r, n), Options: o, CallerIP: wo.r.CallerIP, Run: Ref{DeliverEntry, at.run, at.pos}.Bytes()}
	n.ID = wo.q.Dispatch(wo.e, c)
	n.State, n.Retried, n.Retries, n.FirstAt, n.Next, n.Claimed = Pending, 0, uint32(c.Retries), c.FirstAt, c.FirstAt, 0
	wo.s.entries.Set(at, n)
	wo.s.ids.Set(n.ID.Seq, at)
	wo.s.open.Set(at, struct{}{})
}

// hold keeps an entry until its run is held no more.
func (wo *work) hold(at place, n *Entry) {
	n.ID, n.State, n.Retried, n.FirstAt, n.Next, n.Claimed = wo.q.NewID(wo.e), Held, 0, wo.e.Now, 0, 0
	wo.s.entries.Set(at, n)
	wo.s.ids.Set(n.ID.Seq, at)
	wo.s.open.Set(at, struct{}{})
}

// messageOptions are those of a run that its messages carry; times of the first delivery belong to one message.
const messageOptions = queue.GivenRetries | queue.GivenRetryDelay | queue.GivenTimeout | queue.GivenFlow | queue.GivenPrecedence

// settings are the options of an entry's message: its own before those of the run. A call has none of the run.
func (wo *work) settings(n *Entry) queue.Options {
	var own queue.Options
	if n.Own != nil {
		own = pickOptions(n.Own, messageOptions|queue.GivenDelay|queue.GivenNotBefore)
	}
	if n.Kind == CallEntry {
		return own
	}
	return own.Over(pickOptions(&wo.r.Options, messageOptions))
}

// pickOptions returns the given options of o, and the defaults of all others.
func pickOptions(o *queue.Options, given queue.Option) queue.Options {
	out := *o
	out.Given &= given
	return out.Over(queue.Options{})
}

// set is an entry's new form in place of its old one.
func (wo *work) set(at place, old, n *Entry) {
	wo.s.entries.Set(at, n)
	if !n.State.Open() {
		wo.s.open.Delete(at)
	}
	wo.count(n.size() - old.size())
}

// owned is a copy of a body that does not alias the log.
func owned(b []byte) []byte { return append([]byte(nil), b...) }

// stored is a copy of a body in the care of the store's keeper.
func (s *Store) stored(b []byte) payload.Payload { return payload.New(owned(b), s.keeper) }

func ownedText(s string) string { return strings.Clone(s) }
