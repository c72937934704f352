package workflow

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// RanNow updates the time of the next attempt in a run's log after queue.RunNow has made the message due at once, such as
// that of a sleep. A message without a run changes nothing.
func (s *Store) RanNow(e *env.Env, q *queue.Store, id queue.ID) {
	if r, pos, ok := s.EntryOf(id); ok {
		s.entryRanNow(e, q, r, place{r.No, pos})
		return
	}
	ref, ok := ParseRef(q.RunOf(id))
	if r, found := s.runs.Get(ref.Run); ok && found && ref.Kind == DeliverFailure && r.Callback != nil && r.Callback.Message == id {
		k := s.edit(e, q, r)
		c := *r.Callback
		c.Next = min(c.Next, e.Now)
		k.r.Callback = &c
		k.store()
	}
}

func (s *Store) entryRanNow(e *env.Env, q *queue.Store, r *Run, at place) {
	old, _ := s.entries.Get(at)
	if !old.State.Open() || old.Next <= e.Now {
		return
	}
	k := s.edit(e, q, r)
	n := *old
	n.Next, n.FirstAt = e.Now, min(n.FirstAt, e.Now)
	k.set(at, old, &n)
	k.store()
}
