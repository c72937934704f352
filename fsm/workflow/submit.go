package workflow

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

const runPrefix = "wfr"

// Submit takes in what SDKs and clients send with workflow headers. A refused item changes nothing; the others are not
// affected.
func (s *Store) Submit(e *env.Env, q *queue.Store, n Submissions) (Receipts, error) {
	out := Receipts{Items: make([]Receipt, len(n.Items))}
	for i := range n.Items {
		if n.Broken(i, out.Items) {
			out.Items[i] = out.Items[i-1]
			continue
		}
		out.Items[i] = s.submit(e, q, &n.Items[i])
	}
	s.trim(e, q)
	return out, nil
}

// maxHeld limits the records of a run that may be under way at once: open deliveries, waits, and kept notifications.
// Its end goes through all of it in one piece.
const maxHeld = 10_000

func heldLimitError(run string) *queue.Error {
	return refusal(ErrRefused, "workflow run %s has %d steps and waits under way, which is the most that a run may have", run, maxHeld)
}

func (s *Store) submit(e *env.Env, q *queue.Store, n *Submission) Receipt {
	switch n.Kind {
	case InitSubmission:
		return s.start(e, q, n)
	case EndSubmission:
		return s.endInline(e, q, n)
	}
	r := s.Find(n.RunID, 0)
	if r == nil || r.State != Started && r.State != Failed {
		return Receipt{Refused: runOverError(n.RunID)}
	}
	if n.Step.Number() == 0 {
		return Receipt{Refused: refusal(ErrRefused, "the step has no stepId")}
	}
	if s.isOfEarlierRun(q, r, n.Step.Number(), n.Created) {
		return Receipt{Refused: runOverError(n.RunID)}
	}
	if won, ok := s.earlierEntry(r, n); ok {
		out := Receipt{ID: won.ID, Deduplicated: true, RunID: ownedText(r.ID), Created: r.Created, Inline: s.wentOn(q, r, n, won)}
		s.endAfter(e, q, n, &out)
		return out
	}
	if n.URL == "" && n.Attempt != (queue.AttemptRef{}) {
		n.URL = r.URL
	}
	if err := q.CheckPublication(&queue.Publication{URL: n.URL, Body: n.Body, Options: n.Options}, e.Now); err != nil {
		return Receipt{Refused: refusal(ErrRefused, "%s", err.Text)}
	}
	if n := s.held(r); n >= maxHeld {
		return Receipt{Refused: heldLimitError(r.ID)}
	}
	says, wrong := readTold(n)
	if wrong != nil {
		return Receipt{Refused: wrong}
	}
	k := s.edit(e, q, r)
	k.attempt = n.Attempt
	added := k.append(k.entry(n))
	k.tell(n, says)
	k.store()
	out := Receipt{ID: added.ID, RunID: ownedText(r.ID), Created: r.Created, Inline: added.isOf(n.Attempt)}
	s.endAfter(e, q, n, &out)
	return out
}

// CommitsAs returns the user with whose rights the commands of a step run, empty if they do not count: the run has not asked for
// it, or is over, or the step is in its log already. hops is that of the run.
func (s *Store) CommitsAs(n *Submission) (user string, hops uint8) {
	if n.Kind != StepSubmission {
		return "", 0
	}
	r := s.Find(n.RunID, 0)
	if r == nil || r.State != Started && r.State != Failed {
		return "", 0
	}
	if _, done := s.earlierEntry(r, n); done {
		return "", 0
	}
	return r.CommitAs, r.Hops
}

// earlierEntry returns the entry that came first, if the step is not new.
func (s *Store) earlierEntry(r *Run, n *Submission) (won *Entry, ok bool) {
	classes := []class{markResult}
	switch {
	case n.Kind == CallSubmission:
		classes = []class{markCall, markResult}
	case n.Step.plan():
		classes = []class{markPlan}
	}
	for _, c := range classes {
		if pos, found := s.marks.Get(mark{r.No, c, n.Step.Number()}); found {
			return s.entries.Get(place{r.No, uint32(pos)})
		}
	}
	return nil, false
}

// entry returns the entry that a submission adds to the log.
func (wo *work) entry(n *Submission) *Entry {
	out := &Entry{Kind: StepEntry, Step: n.Step, Body: wo.s.stored(n.Body)}
	out.Name = ownedText(n.Step.Name)
	if n.Kind == CallSubmission {
		out.Kind, out.URL, out.Own = CallEntry, ownedText(n.URL), detached(&n.Options)
		out.Reserved = reserveOfCall(out.Own)
		return out
	}
	out.Own = wo.own(&n.Options, n.Features)
	if n.URL != wo.r.URL {
		out.URL = ownedText(n.URL)
	}
	return out
}

// own returns the options of a message to the endpoint beyond those of the run, nil if there are none. The configuration
// of a message counts if its SDK does not leave that to the run.
func (wo *work) own(o *queue.Options, f Features) *queue.Options {
	given := queue.GivenDelay | queue.GivenNotBefore
	if f&TriggerOnConfig == 0 {
		given |= messageOptions | queue.GivenFailure
	}
	out := pickOptions(o, given)
	run := queue.Set(wo.r.Header)
	for _, h := range o.Header {
		if _, same := run[h]; !same {
			out.Header, out.Given = append(out.Header, h), out.Given|queue.GivenHeader
		}
	}
	out.Given &^= wo.same(&out)
	out = pickOptions(&out, out.Given)
	if out.Given == 0 {
		return nil
	}
	return detached(&out)
}

// same are the options of o that are those of the run.
func (wo *work) same(o *queue.Options) (same queue.Option) {
	run := &wo.r.Options
	add := func(g queue.Option, equal bool) {
		if equal && run.Given&g != 0 {
			same |= g
		}
	}
	add(queue.GivenRetries, o.Retries == run.Retries)
	add(queue.GivenRetryDelay, o.RetryDelay == run.RetryDelay)
	add(queue.GivenTimeout, o.Timeout == run.Timeout)
	add(queue.GivenFlow, sameFlow(o.Flow, run.Flow))
	add(queue.GivenPrecedence, o.Precedence != nil && run.Precedence != nil && *o.Precedence == *run.Precedence)
	add(queue.GivenFailure, o.Failure != nil && run.Failure != nil && o.Failure.URL == run.Failure.URL)
	return same
}

// sameFlow reports whether a message repeats the flow control of its run. SDKs know no bursts, and leave them out.
func sameFlow(own, run *queue.FlowControl) bool {
	if own == nil || run == nil {
		return false
	}
	n := *own
	if n.Burst == 0 {
		n.Burst = run.Burst
	}
	return n == *run
}

// start starts a run.
func (s *Store) start(e *env.Env, q *queue.Store, n *Submission) Receipt {
	p := queue.Publication{URL: n.URL, Body: n.Body, Options: n.Options, DedupID: n.DedupID, ContentDedup: n.ContentDedup}
	err := q.CheckPublication(&p, e.Now)
	if err == nil {
		err = q.CheckShare(&p.Options)
	}
	if err != nil {
		return Receipt{Refused: err}
	}
	if err := n.checkRunOptions(); err != nil {
		return Receipt{Refused: err}
	}
	var parent *Run
	if n.Invoker != nil {
		won, err := Receipt{}, (*queue.Error)(nil)
		if parent, won, err = s.findInvoker(n); err != nil {
			return Receipt{Refused: err}
		} else if won.Deduplicated {
			return won
		}
	}
	if old := s.Find(n.RunID, 0); old != nil && n.RunID != "" && !(s.mayReuseID(old) && !n.Again) {
		if _, started := q.StartedRun(p, e.Now); !started && s.refusesID(n, old) {
			return Receipt{Refused: refusal(ErrExists, "%s: %s", ErrExists.Text, n.RunID)}
		}
		return s.startAgain(e, q, n, old)
	}
	if id, started := q.StartedRun(p, e.Now); started {
		if r, _, kept := s.EntryOf(id); kept {
			return Receipt{ID: id, Deduplicated: true, RunID: ownedText(r.ID), Created: r.Created}
		}
	}
	if err := s.resolveDeployment(n, parent); err != nil {
		return Receipt{Refused: err}
	}
	if n.Gather != nil {
		if won, done := s.join(e, q, n, parent); done {
			if won.Debounced {
				q.RememberRun(p, won.ID, e.Now)
			}
			return won
		}
		parent = s.again(parent)
	}
	r := &Run{No: s.next(), ID: ownedText(n.RunID), Created: e.Now, Config: detached(n.config(e, parent)), Deployment: n.Deployment}
	if r.ID == "" {
		r.ID = e.NewID(runPrefix)
	}
	r.Reserved = r.reserve()
	s.enterKey(r)
	s.enterDeployment(r)
	k := &work{s: s, e: e, q: q, r: r}
	s.names.Set(name{r.ID, r.No}, struct{}{})
	k.count(r.size())
	s.findByEvents(r)
	first := k.append(k.first(n))
	k.store()
	q.RememberRun(p, first.ID, e.Now)
	if parent != nil {
		s.marks.Set(mark{parent.No, markInvoke, n.Invoker.Step.Number()}, r.No)
		up := s.edit(e, q, parent)
		up.r.touch(e.Now)
		up.store()
	}
	return Receipt{ID: first.ID, RunID: ownedText(r.ID), Created: r.Created}
}

// first is the entry that a run begins with.
func (wo *work) first(n *Submission) *Entry {
	o := pickOptions(&n.Options, queue.GivenDelay|queue.GivenNotBefore)
	if g := n.Gather; g != nil && g.Mode == queue.Debounce {
		o.Delay, o.Given = wo.debounced(g), o.Given|queue.GivenDelay
	}
	out := &Entry{Step: Step{Type: Initial, Concurrent: 1}, Body: wo.s.stored(n.Body)}
	if o.Given != 0 {
		out.Own = detached(&o)
	}
	return out
}

// checkRunOptions refuses the start of a run that asks for what can't be.
func (s *Submission) checkRunOptions() *queue.Error {
	if len(s.Keep) > 0 {
		if wrong := queue.WrongKept(s.Keep); wrong != "" {
			return invalid("invalid keep-events: %s", wrong)
		}
	}
	if len(s.KeepValues) > 0 {
		if wrong := queue.WrongKept(s.KeepValues); wrong != "" {
			return invalid("invalid keep-values: %s", wrong)
		}
	}
	if len(s.Updates) > 0 {
		if _, wrong := ReadUpdates(s.Updates); wrong != nil {
			return wrong
		}
	}
	return nil
}

// config returns the configuration of the run that a submission starts.
func (s *Submission) config(e *env.Env, parent *Run) *Config {
	c := &Config{URL: s.URL, Options: s.Options, Features: s.Features, Origin: s.Origin, CallerIP: s.CallerIP, Keep: s.Keep,
		KeepValues: s.KeepValues}
	if len(s.Updates) > 0 {
		c.Updates, _ = ReadUpdates(s.Updates) // which were checked
	}
	c.Given &^= queue.GivenDelay | queue.GivenNotBefore | queue.GivenCallback | queue.GivenQueue
	c.Options = pickOptions(&c.Options, c.Given)
	c.SaltRedaction(e)
	if parent != nil {
		v := *s.Invoker
		v.Run = parent.No
		c.Invoker = &v
		if c.Trace.IsZero() {
			c.Options = c.InTrace(parent.Trace)
		}
	}
	return c
}

// startAgain answers an id that is taken: the second half of the handshake replaces what the run was started with, as long as
// nothing has happened in it; anything else is a duplicate. A step that invokes would wait for a run that knows nothing
// of it, so that is refused.
func (s *Store) startAgain(e *env.Env, q *queue.Store, n *Submission, old *Run) Receipt {
	entry, _ := s.entries.Get(place{old.No, 0})
	if n.Invoker != nil {
		return Receipt{Refused: refusal(ErrRefused, "workflow run id %s is already in use", n.RunID)}
	}
	if !n.Again || !old.Active() || old.Entries > 1 {
		return Receipt{ID: entry.ID, Deduplicated: true, RunID: ownedText(old.ID), Created: old.Created}
	}
	if err := s.resolveDeployment(n, nil); err != nil {
		return Receipt{Refused: err}
	}
	k := s.edit(e, q, old)
	k.count(-old.size() - entry.size())
	k.addUncounted(-entry.Body.Uncounted())
	s.forgetEvents(old)
	q.Drop(e, entry.ID)
	k.r.Config = detached(n.config(e, nil))
	k.r.Config.Invoker = old.Invoker
	if n.Deployment != "" {
		k.pin(n.Deployment)
	}
	if elsewhere(old, n.URL) == "" { // an SDK starts it at the URL of the deployment
		k.r.Config.URL = old.URL
	}
	k.r.Config.Options = k.r.InTrace(old.Trace)
	k.r.Hops = max(k.r.Hops, old.Hops)
	if k.r.Given&queue.GivenPrecedence == 0 {
		k.r.Precedence, k.r.Given = old.Precedence, k.r.Given|old.Given&queue.GivenPrecedence
	}
	if sameFlow(k.r.Flow, old.Flow) {
		k.r.Flow = old.Flow
	}
	if k.r.CommitAs == "" {
		k.r.CommitAs, k.r.Given = old.CommitAs, k.r.Given|old.Given&queue.GivenCommit
	}
	k.r.Gather, k.r.Given = old.Gather, k.r.Given&^queue.GivenGather|old.Given&queue.GivenGather
	if len(k.r.Keep) == 0 {
		k.r.Keep = old.Keep
	}
	if len(k.r.KeepValues) == 0 {
		k.r.KeepValues = old.KeepValues
	}
	if len(n.Updates) == 0 {
		k.r.Config.Updates = old.Config.Updates
	}
	s.findByEvents(k.r)
	k.count(k.r.size())
	first := k.first(n)
	first.ID, first.Created = entry.ID, entry.Created
	k.dispatch(place{old.No, 0}, first)
	k.count(first.size())
	k.addUncounted(first.Body.Uncounted())
	k.store()
	return Receipt{ID: first.ID, RunID: ownedText(old.ID), Created: old.Created}
}

// findInvoker finds the run whose step invokes another one. The same step again is answered with the run that it has
// invoked before, whatever id it asks for now.
func (s *Store) findInvoker(n *Submission) (parent *Run, won Receipt, err *queue.Error) {
	v := n.Invoker
	parent = s.Find(v.RunID, v.Created)
	if parent == nil || !parent.Active() {
		return nil, won, runOverError(v.RunID)
	}
	if limit := s.settings.MaxDepth; limit > 0 && n.Depth > limit {
		return nil, won, refusal(ErrRefused, "workflow runs invoke one another more than %d deep", limit)
	}
	if v.Step.Number() == 0 {
		return nil, won, refusal(ErrRefused, "the step that invokes has no stepId")
	}
	if child := s.Child(parent.No, v.Step.Number()); child != nil {
		entry, _ := s.entries.Get(place{child.No, 0})
		return parent, Receipt{ID: entry.ID, Deduplicated: true, RunID: ownedText(child.ID), Created: child.Created}, nil
	}
	if won, done := s.earlierEntry(parent, &Submission{Kind: StepSubmission, Step: Step{ID: v.Step.Number()}}); done {
		return parent, Receipt{ID: won.ID, Deduplicated: true}, nil
	}
	return parent, won, nil
}
