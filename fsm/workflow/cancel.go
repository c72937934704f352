package workflow

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// maxCancel is the most runs that one entry cancels: what the lock is held for.
const maxCancel = 500

// Cancel cancels active runs: those that a filter chooses, or all. From this entry on nothing of them is delivered and no
// result is accepted.
func (s *Store) Cancel(e *env.Env, q *queue.Store, n Cancellation) (Cancelled, error) {
	if n.Strict {
		for _, id := range n.RunIDs {
			if s.Find(id, 0) == nil {
				return Cancelled{}, notFound("workflow run %s not found", id)
			}
		}
	}
	limit := maxCancel
	if n.Limit > 0 {
		limit = min(limit, n.Limit)
	}
	out := s.cancelSome(e, q, &n.Filter, n.After, MaxScan, limit)
	s.trim(e, q)
	return out, nil
}

// cancelSome cancels active runs that a filter chooses, the newest first, of those below a number that is not 0: it looks
// at scan and cancels limit at most.
func (s *Store) cancelSome(e *env.Env, q *queue.Store, f *Filter, below uint64, scan, limit int) (out Cancelled) {
	var chosen []*Run
	held := 0
	looked, filter := 0, s.chooser(f)
	s.candidates(f, below, func(r *Run) bool {
		if looked == scan || len(chosen) == limit {
			out.More = true
			return false
		}
		looked++
		before := out.Cursor
		out.Cursor = r.No
		if r.Active() && filter.match(r, r.Created) {
			if held += s.held(r); held > maxHeld && len(chosen) > 0 {
				out.More, out.Cursor = true, before
				return false
			}
			chosen = append(chosen, r)
		}
		return true
	})
	for _, r := range chosen {
		if now, _ := s.runs.Get(r.No); now.Active() { // the same run may have been named twice
			s.cancel(e, q, now)
			out.Count++
		}
	}
	return out
}

func (s *Store) cancel(e *env.Env, q *queue.Store, r *Run) {
	k := s.edit(e, q, r)
	k.finish(Canceled)
	k.store()
	k.notifyInvoker()
}
