package workflow

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// The prices of operations on runs: what they do is computed from their arguments and the state before.

const (
	// entryWork is the work, in steps, of appending an entry with its message, or ending either.
	entryWork = 60
	// lookWork is the work of testing a run against a filter.
	lookWork = 5
	// indexWork is the work of a place in an index.
	indexWork = 10
	// operation is the work of an operation that finds little to do.
	operation = 10
	// entryFrame is the most bytes of the JSON of a step that the store makes itself, without its texts.
	entryFrame = 120
	// idSize is the length of an id that the store makes.
	idSize = 32
)

func bytesWork(n int64) int64 { return n / env.BytesPerWork }

// countedOf returns the bytes of a body of n bytes that count as memory.
func countedOf(n int64) int64 { return n - payload.Uncounted(int(n)) }

// entryGrowth is the growth by an entry with a body of that length, and by the message that delivers it.
func entryGrowth(o *queue.Options, body int64, texts ...string) int64 {
	n := entryCost + queue.MessageGrowth(o, texts...) + countedOf(body)
	if o != nil {
		n += optionsSize(o)
	}
	for _, t := range texts {
		n += int64(len(t))
	}
	return n
}

// reserve returns the bytes that the end of a run may add: a dead letter, the call of its failure callback, and the entry of
// the run that has invoked it. They count from the run's start on, so that an end never has to be refused.
func (co *Config) reserve() int64 {
	n := int64(600)
	if f := co.Failure; f != nil {
		n += queue.MessageGrowth(&f.Options, f.URL, co.CallerIP)
	}
	if v := co.Invoker; v != nil {
		n += entryGrowth(&v.Options, entryFrame+2*int64(len(v.Open)), v.URL, v.Step.Name)
	}
	return n
}

// reserve returns the bytes that the timeout of a wait may add beyond those that the waiter counts.
func (w *Waiter) reserve() int64 {
	return 340 + int64(len(w.TimeoutText)+2*len(w.TimeoutURL)) + 2*optionsSize(&w.TimeoutOptions)
}

// reserveOfCall returns the bytes that the answer to a call may add without its body and header.
func reserveOfCall(o *queue.Options) int64 {
	n := entryGrowth(nil, 0) + 100 + int64(len(noRoom))
	if back := o.Callback; back != nil {
		n += 2*optionsSize(&back.Options) + 2*int64(len(back.URL))
	}
	return n
}

// SubmitPrice returns the price of Submit.
func (s *Store) SubmitPrice(_ *env.Env, n *Submissions, limit int64) env.Price {
	return env.Sum(n.Items, limit, s.submission)
}

func (s *Store) submission(n *Submission) env.Price {
	var end env.Price
	if n.End != nil {
		end = s.EndPrice(nil, &Ending{n.RunID, n.End.Result, n.End.HasResult})
	}
	if n.Kind == EndSubmission {
		end.Work += operation
		return end
	}
	own, body := n.Options, int64(len(n.Body))
	var r *Run
	if n.Kind == StepSubmission { // what the run says is kept with the run
		if r = s.Find(n.RunID, 0); r != nil {
			own = pickOptions(&own, own.Given&^queue.GivenHeader)
		}
	}
	p := env.Price{Work: entryWork + 3*bytesWork(body), Growth: entryGrowth(&own, body, n.URL, n.Step.Name, n.CallerIP)}
	work, told := tellPrice(n)
	switch n.Kind {
	case CallSubmission:
		p.Growth += reserveOfCall(&n.Options)
	case StepSubmission:
		if len(own.Header) < len(n.Options.Header) {
			p.Growth += s.headerGrowth(n)
		}
		p.Add(s.followPrice(r))
		p.Growth += told
	case InitSubmission:
		c := Config{URL: n.URL, Options: n.Options, CallerIP: n.CallerIP, Invoker: n.Invoker, Keep: n.Keep, KeepValues: n.KeepValues}
		r := Run{ID: n.RunID, Config: &c, Deployment: s.deploymentFor(n)}
		r.Reserved = c.reserve()
		p.Growth = r.size() + declaredSize(n.Updates) + idSize + entryGrowth(firstMessageOptions(&n.Options), body, n.URL, n.CallerIP) + 160
		p.Work += 2*bytesWork(r.size()) + s.ReplacedWork(n.URL, &n.Options) + indexWork*int64(len(n.Keep))
	}
	p.Work += work + 2*bytesWork(p.Growth)
	p.Add(end)
	return p
}

// firstMessageOptions are the options of a run that its first message carries.
func firstMessageOptions(o *queue.Options) *queue.Options {
	out := pickOptions(o, messageOptions|queue.GivenDelay|queue.GivenNotBefore)
	return &out
}

// headerGrowth is the growth by the fields of a step's header that its run does not have.
func (s *Store) headerGrowth(n *Submission) (bytes int64) {
	r := s.Find(n.RunID, 0)
	run := queue.Set(r.Header)
	for _, h := range n.Options.Header {
		if _, same := run[h]; !same {
			bytes += int64(len(h.Name)+len(h.Value)) + 8
		}
	}
	return bytes
}

// AwaitPrice returns the price of Await.
func (s *Store) AwaitPrice(_ *env.Env, n *Await) env.Price {
	w := Waiter{EventID: n.EventID, Open: n.Open, URL: n.URL, Options: n.Options, TimeoutURL: n.TimeoutURL, TimeoutOptions: n.TimeoutOptions,
		TimeoutBody: n.TimeoutBody, TimeoutText: n.TimeoutText}
	w.Reserved = w.reserve()
	size, saved := w.size(), int64(0)
	if r := s.Find(n.RunID, 0); r != nil {
		saved = int64(r.saved)
	}
	return env.Price{Work: entryWork + saved + 3*bytesWork(size), Growth: size}
}

// NotifyPrice returns the price of Notify: in pieces, of which each wakes as many waiters as a request may. Notify, which follows, wakes that many.
func (s *Store) NotifyPrice(_ *env.Env, n *Notification, limit int64) env.Price {
	cost := env.Price{Work: operation}
	if n.RunID != "" || n.Hook {
		r := s.Find(n.RunID, 0)
		if r == nil {
			return cost
		}
		if n.Update {
			return s.updatePrice(r, n)
		}
		waits := 0
		for _, w := range s.WaitersOf(r.No) {
			if w.EventID == n.EventID {
				cost.Add(s.wakePrice(w, n.Body))
				waits++
			}
		}
		if cost.Work += int64(waits); waits == 0 {
			v := Saved{EventID: n.EventID, Body: n.Body}
			cost.Add(env.Price{Work: entryWork + bytesWork(v.size()), Growth: v.size()})
		}
		return cost
	}
	s.wakes = 0
	s.eachRecipient(n, maxWoken, &cost, func(one env.Price) bool {
		if s.wakes > 0 && cost.Work+one.Work > limit/2 {
			return false
		}
		cost.Add(one)
		s.wakes++
		return true
	})
	return cost
}

// eachRecipient adds to cost the work of finding whom a notification reaches, at most so many, and visits the price of each.
func (s *Store) eachRecipient(n *Notification, most int, cost *env.Price, visit func(env.Price) bool) {
	to := s.recipientsOf(n, most)
	cost.Work += int64(to.looked)
	for _, r := range to.keepers {
		if !visit(s.bringPrice(r, n)) {
			return
		}
	}
	for _, w := range to.waiters {
		if !visit(s.wakePrice(w, n.Body)) {
			return
		}
	}
}

// NotifyAllPrice returns the price of Notify after WakeAll: of all waiters, or of so many that it is above the limit.
func (s *Store) NotifyAllPrice(e *env.Env, n *Notification, limit int64) env.Price {
	if n.RunID != "" || n.Hook {
		return s.NotifyPrice(e, n, limit)
	}
	cost := env.Price{Work: operation}
	most := int(min(limit/entryWork, math.MaxInt32)) + 1 // each of them costs as much at least
	s.eachRecipient(n, most, &cost, func(one env.Price) bool {
		cost.Add(one)
		return cost.Work <= limit
	})
	return cost
}

// WakeAll has the next Notify wake all waiters, for a command, of which nobody goes on. What NotifyPrice has found for an entry
// before must not say how many: a node that was started since does not know it.
func (s *Store) WakeAll() { s.wakes = 0 }

// maxWoken is the most waiters that one entry wakes.
const maxWoken = 1_000

// wakePrice is the price of waking a waiter, which no longer counts then, and of moving its run if a rule does.
func (s *Store) wakePrice(w *Waiter, body []byte) env.Price {
	size := int64(len(w.Open)+len(w.EventID)+len(w.TimeoutText)+4*len(body)/3) + entryFrame
	grown := entryGrowth(&w.Options, size, w.URL, w.Step.Name) - w.size()
	r, _ := s.runs.Get(w.Run)
	move := s.followPrice(r)
	return env.Price{Work: 2*entryWork + 3*bytesWork(size) + move.Work, Growth: max(0, grown+move.Growth)}
}

// held counts the records of a run that its end has to go through: open deliveries, waits, and kept notifications.
func (s *Store) held(r *Run) int {
	return s.openOf(r.No) + s.waiting.RankHead(r.No+1) - s.waiting.RankHead(r.No) + r.saved
}

// openOf is the number of entries of a run that are still to be delivered.
func (s *Store) openOf(run uint64) int { return s.open.RankHead(run+1) - s.open.RankHead(run) }

// EndPrice returns the price of End.
func (s *Store) EndPrice(_ *env.Env, n *Ending) env.Price {
	r := s.Find(n.RunID, 0)
	if r == nil || !r.Active() {
		return env.Price{Work: operation}
	}
	size := int64(len(n.Result))
	cost := env.Price{Work: entryWork*int64(1+s.held(r)) + indexWork*int64(len(r.Keep)), Growth: countedOf(size)}
	if r.Invoker != nil && size > 0 {
		cost.Growth += countedOf(4 * size)
		cost.Work += 10 * bytesWork(size)
	}
	if r.Invoker != nil {
		parent, _ := s.runs.Get(r.Invoker.Run)
		cost.Add(s.followPrice(parent))
	}
	cost.Work += 3 * bytesWork(size)
	return cost
}

// FailPrice returns the price of the end, or the pause, of a run by the last attempt of a message that ref names: nothing if it names none, or
// if the failure of the message is none of the run.
func (s *Store) FailPrice(ref []byte) env.Price {
	of, ok := ParseRef(ref)
	r, found := s.runs.Get(of.Run)
	if !ok || !found || !r.Active() {
		return env.Price{}
	}
	cost := env.Price{Work: entryWork*int64(1+s.held(r)) + indexWork*int64(len(r.Keep))}
	if r.Invoker != nil {
		parent, _ := s.runs.Get(r.Invoker.Run)
		cost.Add(s.followPrice(parent))
	}
	return cost
}

// CancelPrice returns the price of Cancel: in pieces.
func (s *Store) CancelPrice(_ *env.Env, n *Cancellation) env.Price {
	return s.scanPrice(&n.Filter, s.runs.Len(), maxCancel)
}

// BulkPrice returns the price of BulkCancel: in pieces.
func (s *Store) BulkPrice(_ *env.Env, n *BulkCancellation) env.Price {
	switch b := s.bulk.Find(n.ID); {
	case n.Act == queue.BulkStart:
		cost := s.scanPrice(&n.Filter, min(s.runs.Len(), bulkScan), maxCancel)
		cost.Growth = queue.BulkGrowth(n.Filter.coded())
		cost.Work += 3 * bytesWork(cost.Growth)
		return cost
	case b != nil && n.Act == queue.BulkStep:
		f := filterOf(b)
		return s.scanPrice(&f, min(s.runs.Len(), bulkScan), maxCancel)
	}
	return env.Price{Work: operation}
}

// coded is at least what the filter takes when it is coded.
func (f *Filter) coded() int64 {
	n := 96 + 24*int64(len(f.Messages)) + 4*int64(len(f.States))
	for _, l := range [...][]string{f.RunIDs, f.URLs, f.Labels, f.CallerIPs, f.FlowKeys, f.Hosts, f.Paths, f.Deployments} {
		for _, t := range l {
			n += 4 + int64(len(t))
		}
	}
	for _, r := range f.Exact {
		n += 24 + int64(len(r.ID))
	}
	return n
}

// scanPrice returns the price of holding a filter against n runs, up to MaxScan, and of ending limit of them, with at most maxHeld of what
// they hold.
func (s *Store) scanPrice(f *Filter, n, limit int) env.Price {
	look := int64(min(n, MaxScan))
	for _, e := range f.Exact { // an id may be that of many runs
		look += int64(s.runsOf(e.ID))
	}
	holds := int64(min(s.open.Len()+s.waiters.Len()+s.saved.Len(), maxHeld))
	keeps := int64(min(s.events.keeps(), queue.MaxKept*min(n, limit)))
	return env.Price{Work: operation + 3*f.size() + lookWork*look + entryWork/2*(int64(min(n, limit))+holds) + indexWork*keeps}
}

// runsOf is the number of runs with an id.
func (s *Store) runsOf(id string) int {
	from, _ := s.names.Rank(name{id, 0})
	to, _ := s.names.Rank(name{id, math.MaxUint64})
	return to - from
}

// DeleteDeadPrice returns the price of DeleteDead: in pieces.
func (s *Store) DeleteDeadPrice(_ *env.Env, n *DeadSelection) env.Price {
	if len(n.IDs) > 0 || n.None {
		return env.Price{Work: operation + entryWork*int64(len(n.IDs))}
	}
	cost := s.scanPrice(&n.Filter.Filter, s.dead.Len(), MaxRevived)
	cost.Work += int64(len(n.Filter.Statuses) + len(n.Filter.Callbacks))
	return cost
}

// RevivePrice returns the price of Revive: in pieces, of which each makes as many runs as a request may. It sets n.Limit to that number if n
// has no ids.
func (s *Store) RevivePrice(_ *env.Env, n *Revival, limit int64) env.Price {
	cost := s.DeleteDeadPrice(nil, &n.DeadSelection)
	list, _, _, err := s.selectDead(&n.DeadSelection)
	if err != nil {
		return cost
	}
	for i, r := range list {
		one := s.revivalPrice(r, n)
		if i > 0 && len(n.IDs) == 0 && cost.Work+one.Work > limit {
			n.Limit = i
			break
		}
		cost.Add(one)
	}
	return cost
}

// revivalPrice is the price of a new run with the log or the payload of another.
func (s *Store) revivalPrice(r *Run, n *Revival) env.Price {
	c := *r.Config
	c.Options = pickOptions(&n.Options, revivable).Over(c.Options)
	c.Invoker = nil
	again := Run{ID: n.RunID, Config: &c, Deployment: r.Deployment}
	if n.Deployment != "" {
		again.Deployment = n.Deployment
	}
	again.Reserved = c.reserve()
	if !n.Restart {
		again.Data = r.Data
	}
	message := queue.MessageGrowth(&c.Options, r.URL, r.CallerIP)
	p := env.Price{Work: entryWork + indexWork*int64(len(r.Keep)), Growth: again.size() + idSize}
	s.Log(r.No, func(pos uint32, e *Entry) bool {
		p.Work += entryWork / 2
		p.Growth += e.size() - e.Body.Uncounted()
		if e.State != Delivered || pos == 0 && n.Restart {
			p.Work, p.Growth = p.Work+entryWork, p.Growth+message+optionsSize(&n.Options)
		}
		return !n.Restart
	})
	return p
}

// CallbackPrice returns the price of ChangeCallback.
func (s *Store) CallbackPrice(_ *env.Env, n *CallbackChange) env.Price {
	cost := env.Price{Work: operation + entryWork}
	if r, ok := s.DeadRun(n.Dead); ok && !n.Cancel {
		if to := s.FailureCallback(r); to != nil {
			o := pickOptions(&to.Options, messageOptions).Over(pickOptions(&r.Options, messageOptions))
			cost.Growth = queue.MessageGrowth(&o, to.URL, r.CallerIP)
		}
	}
	return cost
}
