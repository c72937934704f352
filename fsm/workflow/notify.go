package workflow

import (
	"cmp"
	"slices"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// Notify wakes the waiters of an event: all of them, or with a RunID those of that run, for which the notification is
// kept if there are none. It is also kept for runs that keep the event and do not wait for it.
func (s *Store) Notify(e *env.Env, q *queue.Store, n Notification) (Notified, error) {
	if n.EventID == "" {
		return Notified{}, invalid("an event id is needed")
	}
	switch {
	case n.Update:
		return s.update(e, q, &n)
	case n.RunID == "" && !n.Hook:
		return s.notifyAll(e, q, &n), nil
	}
	r := s.Find(n.RunID, 0)
	if r == nil || !r.Active() {
		return Notified{}, notFound("workflow run %s is over or not known", n.RunID)
	}
	list := s.waitersFor(r, &n)
	if n.Hook && len(list) > 1 { // each call of a webhook is for one wait
		list = list[:1]
	}
	if len(list) > 0 {
		return Notified{Woken: s.wakeAll(e, q, list, n.Body)}, nil
	}
	return Notified{Stored: true}, s.save(e, q, r, &n)
}

// waitersFor returns the waiters of a run that a notification is for, in the order in which they began to wait.
func (s *Store) waitersFor(r *Run, n *Notification) (list []*Waiter) {
	for _, w := range s.WaitersOf(r.No) { // of which there are fewer than others may wait for the event
		if w.EventID == n.EventID && (!n.Hook || w.Step.Type == WaitForWebhook) {
			list = append(list, w)
		}
	}
	return list
}

// notifyAll brings an event to as many runs as its price has counted, of those that kept it or began to wait before it was notified.
func (s *Store) notifyAll(e *env.Env, q *queue.Store, n *Notification) (out Notified) {
	until := s.untilOf(n)
	to := s.recipientsOf(n, s.wakes)
	for _, r := range to.keepers {
		s.bring(e, q, r.No, n, &out)
	}
	out.Woken = append(out.Woken, s.wakeAll(e, q, to.waiters, n.Body)...)
	if len(to.keepers) > 0 {
		slices.SortFunc(out.Woken, func(a, b Woken) int { return cmp.Compare(a.Waiter.No, b.Waiter.No) })
	}
	if to.more {
		out.More, out.Until, out.After = true, until, to.after
	}
	return out
}

// eachWaiter visits those of an event, in the order in which they began to wait.
func (s *Store) eachWaiter(event string, visit func(*Waiter) bool) {
	s.events.waiters.Ascend(name{text: event}, func(n name, _ struct{}) bool { return n.text == event && visit(s.waiter(n.no)) })
}

func (s *Store) wakeAll(e *env.Env, q *queue.Store, list []*Waiter, body []byte) (woken []Woken) {
	for _, w := range list {
		r, _ := s.runs.Get(w.Run)
		k := s.edit(e, q, r)
		k.forgetWaiter(w)
		id := k.wake(w, body, false)
		k.store()
		woken = append(woken, Woken{Waiter: w, Message: id, RunID: r.ID, Created: r.Created})
	}
	s.trim(e, q)
	return woken
}

// save keeps a notification for a run.
func (s *Store) save(e *env.Env, q *queue.Store, r *Run, n *Notification) error {
	v := &Saved{Run: r.No, EventID: ownedText(n.EventID), Body: owned(n.Body), At: e.Now, Hook: n.Hook}
	limit := &s.settings
	if limit.MaxSaved > 0 && r.saved >= limit.MaxSaved || limit.SavedBytes > 0 && r.kept+v.size() > limit.SavedBytes {
		return refusal(ErrFull, "workflow run %s has as many stored notifications as it may have: %d of %d bytes", r.ID, limit.MaxSaved, limit.SavedBytes)
	}
	k := s.edit(e, q, r)
	s.saved.Set(runKey{r.No, s.next()}, v)
	k.r.saved++
	k.r.kept += v.size()
	k.count(v.size())
	k.store()
	return nil
}

// savedFor is the oldest notification that is kept for a waiter, nil if there is none.
func (s *Store) savedFor(w *Waiter) (at runKey, found *Saved) {
	s.saved.AscendHead(w.Run, func(p runKey, n *Saved) bool {
		if p.run != w.Run {
			return false
		}
		if n.EventID == w.EventID && (!n.Hook || w.Step.Type == WaitForWebhook) {
			at, found = p, n
		}
		return found == nil
	})
	return at, found
}

// takeSaved takes a notification out.
func (wo *work) takeSaved(at runKey, n *Saved) {
	wo.s.saved.Delete(at)
	wo.r.saved--
	wo.r.kept -= n.size()
	wo.count(-n.size())
}

// dropSaved takes out all that is kept for the run.
func (wo *work) dropSaved() {
	for wo.r.saved > 0 {
		var at runKey
		var n *Saved
		wo.s.saved.AscendHead(wo.r.No, func(p runKey, v *Saved) bool {
			at, n = p, v
			return false
		})
		wo.takeSaved(at, n)
	}
}
