package workflow

import (
	"github.com/trireme-dev/trireme/fsm/queue"
)

// An id names at most one run that lives. It is free again when that run has ended. Everything of a run is found by its
// number, so that nothing of an earlier run of the id reaches a later one, but for what endpoints say by the id alone: see
// isOfEarlierRun.

// mayReuseID reports whether the id of a run may name a new one.
func (s *Store) mayReuseID(r *Run) bool { return !r.Active() }

// refusesID reports whether a start is refused because old, of the same id, lives: if its client knows the refusal.
func (s *Store) refusesID(n *Submission, old *Run) bool {
	handshake := n.Again && old.Entries <= 1
	return n.Features&Singleton != 0 && n.Invoker == nil && old.Active() && !handshake
}

// previousRun returns the run of the same id before r, nil if there is none.
func (s *Store) previousRun(r *Run) *Run { return s.namedBelow(r.ID, r.No) }

// isOfEarlierRun reports whether a request for r, by its id, is meant for an earlier run of that id: a step that was running when that run
// was cancelled. An SDK may say by created which run it means. Most do not: then it is of an earlier run if r has not
// been called yet, or if it brings a step (0 = none) whose predecessor is not in the log of r.
func (s *Store) isOfEarlierRun(q *queue.Store, r *Run, step uint32, created int64) bool {
	switch {
	case created != 0:
		return created != r.Created
	case s.previousRun(r) == nil:
		return false
	}
	if first, ok := s.entries.Get(place{r.No, 0}); ok && (first.State == Held || first.State == Pending && !q.Attempted(first.ID)) {
		return true
	}
	return step > 1 && !s.known(r.No, step-1)
}

// known reports whether the log of a run has heard of a step.
func (s *Store) known(run uint64, step uint32) bool {
	for c := markResult; c < classes; c++ {
		if _, found := s.marks.Get(mark{run, c, step}); found {
			return true
		}
	}
	return false
}
