package workflow

import (
	"cmp"
	"slices"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// selectDead returns the dead letters of a selection, oldest first.
func (s *Store) selectDead(n *DeadSelection) (list []*Run, cursor queue.Stamp, more bool, err error) {
	if n.Strict {
		for _, t := range n.IDs {
			if _, ok := s.dead.Get(t); !ok {
				return nil, cursor, false, notFound("dlq message %s not found", t)
			}
		}
	}
	limit := n.Limit
	if limit <= 0 || limit > MaxRevived {
		limit = MaxRevived
	}
	switch {
	case n.None:
	case len(n.IDs) == 0:
		list, cursor, more = s.DeadRuns(nil, &n.Filter, queue.Page{After: n.After, Limit: limit})
	default:
		list, cursor, more = s.selectNamed(n, limit)
	}
	return list, cursor, more, nil
}

// selectNamed returns those of the named dead letters that exist, oldest first, after the cursor.
func (s *Store) selectNamed(n *DeadSelection, limit int) (list []*Run, cursor queue.Stamp, more bool) {
	ids := slices.SortedFunc(slices.Values(n.IDs), compareStamps)
	for _, t := range slices.Compact(ids) {
		r, found := s.DeadRun(t)
		if !found || compareStamps(t, n.After) <= 0 {
			continue
		}
		if len(list) == limit {
			return list, cursor, true
		}
		list, cursor = append(list, r), t
	}
	return list, cursor, false
}

func compareStamps(a, b queue.Stamp) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Seq, b.Seq))
}

// Revive makes new runs of dead letters and removes these, in one piece: each becomes at most one run.
func (s *Store) Revive(e *env.Env, q *queue.Store, n Revival) (Revived, error) {
	if err := q.CheckPublication(&queue.Publication{URL: "-", Options: n.Options}, e.Now); err != nil {
		return Revived{}, err
	}
	list, cursor, more, err := s.selectDead(&n.DeadSelection)
	if err != nil {
		return Revived{}, err
	}
	if taken := s.Find(n.RunID, 0); n.RunID != "" && (len(list) != 1 || taken != nil && !s.mayReuseID(taken)) {
		return Revived{}, refusal(ErrConflict, "workflow run id %s is already in use, or meant for more than one run", n.RunID)
	}
	out := Revived{More: more}
	if err := s.checkDeployments(list, &n); err != nil {
		return Revived{}, err
	}
	for _, old := range list {
		r := s.revive(e, q, old, &n)
		s.removeDeadLetter(old)
		out.Runs = append(out.Runs, RunRef{ownedText(r.ID), r.Created, r.State})
	}
	if more {
		out.Cursor = cursor
	}
	s.trim(e, q)
	return out, nil
}

// revivable are the options that a revival may replace.
const revivable = messageOptions | queue.GivenLabels | queue.GivenFailure

// revive starts a run like one that has failed.
func (s *Store) revive(e *env.Env, q *queue.Store, old *Run, n *Revival) *Run {
	c := *old.Config
	c.Options = pickOptions(&n.Options, revivable).Over(c.Options)
	c.Invoker = nil // it has been notified
	if g := c.Gather; g != nil && !g.IsSingleton() {
		c.Gather, c.Given = nil, c.Given&^queue.GivenGather
	}
	again := &Run{ID: n.RunID, Config: &c, RanAs: old.No, Deployment: old.Deployment, Moves: old.Moves}
	if n.Deployment != "" {
		again.Deployment = n.Deployment
	}
	k := s.begin(e, q, again)
	if n.Restart {
		k.restart(old, n)
	} else {
		k.resume(old, n)
	}
	k.store()
	return k.r
}

// begin puts a run in place that is made of another one, without its log. It gets an id if it has none.
func (s *Store) begin(e *env.Env, q *queue.Store, r *Run) *work {
	r.No, r.ID, r.Created, r.Config, r.latest = s.next(), ownedText(r.ID), e.Now, detached(r.Config), e.Now
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
	return k
}

// restart takes the payload alone.
func (wo *work) restart(old *Run, n *Revival) {
	first, _ := wo.s.entries.Get(place{old.No, 0})
	wo.append(&Entry{Step: first.Step, Body: first.Body, Own: withFirstDelivery(nil, &n.Options)})
}

// withFirstDelivery returns an entry's own options with the time of the first delivery that a revival asks for, if any.
func withFirstDelivery(own *queue.Options, asked *queue.Options) *queue.Options {
	const times = queue.GivenDelay | queue.GivenNotBefore
	var o queue.Options
	if own != nil {
		o = pickOptions(own, own.Given)
	}
	if asked.Given&times != 0 {
		o = pickOptions(asked, times).Over(o)
	}
	if o.Given == 0 {
		return nil
	}
	return detached(&o)
}

// resume takes the whole log, and what its steps have said of the run. What was delivered stays so; the rest is delivered again, and so are plans of which nothing
// is under way that could bring their result.
func (wo *work) resume(old *Run, n *Revival) {
	if old.Data != nil {
		wo.change(func(d *Data) {
			*d = *old.Data
			d.Accepted = nil // they are gone with what was kept
		})
	}
	list := wo.s.log(old.No)
	passed := passedBlocks(list)
	wo.take(list)
	wo.adopt(old)
	wo.redeliver(&n.Options, func(_ uint32, c *Entry) bool {
		return c.State != Delivered && !wo.s.settled(wo.r, c) && !passed(c) || c.State == Delivered && c.plan() && !wo.s.superseded(wo.r, c)
	})
}

// take copies entries of another run, which become the log.
func (wo *work) take(list []*Entry) {
	s, no := wo.s, wo.r.No
	for pos, from := range list {
		c := *from
		if c.Kind != CallEntry {
			c.URL = elsewhere(wo.r, c.URL)
		}
		c.ID, c.Errors, c.Reserved = wo.q.NewID(wo.e), nil, 0
		if c.Kind == CallEntry && c.State != Delivered {
			c.Reserved = reserveOfCall(c.Own)
		}
		c.Own = ownOptions(from, wo.e)
		if c.State != Delivered {
			c.State = Dropped
		}
		at := place{no, uint32(pos)}
		s.entries.Set(at, &c)
		s.ids.Set(c.ID.Seq, at)
		if m, ok := markOf(no, &c); ok {
			s.marks.Set(m, uint64(pos))
		}
		wo.count(c.size())
		wo.addUncounted(c.Body.Uncounted())
	}
	wo.r.Entries = uint32(len(list))
}

// log is a run's log as a list, for those who change the tree that Log walks.
func (s *Store) log(run uint64) (list []*Entry) {
	s.Log(run, func(_ uint32, e *Entry) bool {
		list = append(list, e)
		return true
	})
	return list
}

// ownOptions returns an entry's own options, without a time of its first delivery that has passed. What is left of a delay stays
// one, from the level env.Files on.
func ownOptions(n *Entry, e *env.Env) *queue.Options {
	const times = queue.GivenDelay | queue.GivenNotBefore
	if n.Own == nil || n.Own.Given&times == 0 {
		return n.Own
	}
	o := pickOptions(n.Own, n.Own.Given&^times)
	byWall, before := n.Own.Given&queue.GivenNotBefore != 0, n.Own.NotBefore
	_, ahead := e.Until(before)
	switch {
	case n.FirstAt > e.Now && !byWall && e.Level >= env.Files:
		o.Delay, o.Given = n.FirstAt-e.Now, o.Given|queue.GivenDelay
	case n.FirstAt > e.Now:
		o.NotBefore, o.Given = n.FirstAt, o.Given|queue.GivenNotBefore
	case byWall && n.FirstAt >= before && (before > e.Wall || ahead): // wall time waits for the clocks; RunNow has not set FirstAt
		o.NotBefore, o.Given = before, o.Given|queue.GivenNotBefore
	}
	if o.Given == 0 && n.Kind != CallEntry {
		return nil
	}
	return &o
}

// adopt makes the new run the invoker of the runs that the old one has invoked and that have not ended.
func (wo *work) adopt(old *Run) {
	s := wo.s
	var list []mark
	s.marks.AscendHead(old.No, func(m mark, _ uint64) bool {
		if m.run == old.No && m.class == markInvoke {
			list = append(list, m)
		}
		return m.run == old.No
	})
	for _, m := range list {
		child := s.Child(old.No, m.step)
		if child == nil || !child.Active() || child.Invoker == nil {
			continue
		}
		c := *child
		config, v := *child.Config, *child.Invoker
		v.Run, v.RunID, v.Created = wo.r.No, wo.r.ID, wo.r.Created
		config.Invoker = &v
		c.Config = &config
		s.runs.Set(c.No, &c)
		s.marks.Set(mark{wo.r.No, markInvoke, m.step}, c.No)
	}
}

// redeliver has those entries delivered that are wanted, and takes the others for delivered.
func (wo *work) redeliver(o *queue.Options, wanted func(pos uint32, c *Entry) bool) {
	s := wo.s
	var again []uint32
	s.Log(wo.r.No, func(pos uint32, c *Entry) bool {
		if wanted(pos, c) {
			again = append(again, pos)
		}
		return true
	})
	for pos := range wo.r.Entries {
		at := place{wo.r.No, pos}
		before, _ := s.entries.Get(at)
		c := *before
		if len(again) > 0 && again[0] == pos {
			again = again[1:]
			c.Own = withFirstDelivery(c.Own, o)
			if c.Kind == CallEntry {
				if c.Own == nil {
					c.Own = &queue.Options{}
				}
				c.Reserved = reserveOfCall(c.Own)
			}
			wo.dispatch(at, &c)
			wo.count(c.size() - before.size())
		} else if c.State != Delivered {
			c.State = Delivered
			wo.set(at, before, &c)
		}
	}
}

// settled reports whether there is nothing to gain from delivering an entry once more.
func (s *Store) settled(r *Run, n *Entry) bool { return n.settled(s.marksOf(r.No)) }

func (e *Entry) settled(done marked) bool {
	if e.Kind != CallEntry {
		return e.superseded(done)
	}
	return done(markAnswer, e.Number()) || done(markResult, e.Number())
}

// removeDeadLetter removes the dead letter of a run, which is kept as long as other runs that are over.
func (s *Store) removeDeadLetter(r *Run) {
	s.dead.Delete(r.Dead)
	c := *r
	c.Dead = queue.Stamp{}
	s.runs.Set(c.No, &c)
	at := queue.Stamp{At: c.Completed, Seq: c.No}
	s.ended.Set(at, c.No)
	s.sealAgain(at)
}

// DeleteDead deletes dead letters.
func (s *Store) DeleteDead(e *env.Env, q *queue.Store, n DeadSelection) (DeadDeleted, error) {
	list, cursor, more, err := s.selectDead(&n)
	if err != nil {
		return DeadDeleted{}, err
	}
	for _, r := range list {
		s.removeDeadLetter(r)
	}
	out := DeadDeleted{Count: len(list), More: more}
	if more {
		out.Cursor = cursor
	}
	s.trim(e, q)
	return out, nil
}

// ChangeCallback calls a failure callback that has failed once more, or cancels one that is being called.
func (s *Store) ChangeCallback(e *env.Env, q *queue.Store, n CallbackChange) (RunRef, error) {
	r, ok := s.DeadRun(n.Dead)
	if !ok {
		return RunRef{}, notFound("dlq message %s not found", n.Dead)
	}
	out := RunRef{ownedText(r.ID), r.Created, r.State}
	want := CallbackFail
	if n.Cancel {
		want = CallbackInProgress
	}
	if r.Callback == nil || r.Callback.State != want {
		return RunRef{}, refusal(ErrConflict, "the failure callback of %s is not in the state %s", n.Dead, want)
	}
	k := s.edit(e, q, r)
	before := k.r.size()
	if n.Cancel {
		c := *r.Callback
		q.Drop(e, c.Message)
		c.State, c.Next = CallbackCanceled, 0
		k.r.Callback = &c
	} else {
		k.callFailure()
	}
	k.count(k.r.size() - before)
	k.store()
	return out, nil
}

// Configure replaces the limits; sweeps remove the surplus records step by step.
func (s *Store) Configure(_ *env.Env, n Settings) (Settings, error) {
	for _, v := range n.numbers() {
		if *v < 0 {
			return s.settings, invalid("a limit must not be negative")
		}
	}
	for _, v := range n.counts() {
		if *v < 0 {
			return s.settings, invalid("a limit must not be negative")
		}
	}
	s.settings = n
	return n, nil
}
