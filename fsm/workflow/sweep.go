package workflow

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// rounding makes records fall due together, so that an idle cluster needs few entries to forget them, in milliseconds.
const rounding = 10_000

func roundUp(at int64) int64 { return (at + rounding - 1) / rounding * rounding }

// trim forgets what is older, or more, than the settings keep: two records for each entry appended since the last call,
// so that an entry's work is bounded by what it adds. Runs that ended long ago go into volumes.
func (s *Store) trim(e *env.Env, q *queue.Store) {
	n := s.trimmable
	s.trimmable = 0
	s.sweep(e.Now, n)
	s.seal(e, q)
}

// Sweep forgets what need not be kept any longer, at most limit records, and returns how many.
func (s *Store) Sweep(e *env.Env, q *queue.Store, limit int) int {
	s.trimmable = 0
	done := s.sweep(e.Now, limit)
	if done < limit && s.seal(e, q) {
		done++
	}
	return done
}

func (s *Store) sweep(now int64, limit int) (done int) {
	for done < limit {
		switch {
		case s.deletedRuns.Len() > 0:
			done += s.clear(limit - done)
		case s.dropEnded(now), s.dropDead(now):
			done++
		default:
			return done
		}
	}
	return done
}

// dropEnded forgets the oldest run that is over, or the oldest volume of them, if its time has come or there are too many.
func (s *Store) dropEnded(now int64) bool {
	t, no, ok := s.ended.Min()
	v := s.past.Oldest()
	n := &s.settings
	over := func(at int64) bool {
		return n.EndedAge > 0 && roundUp(at+n.EndedAge) <= now || n.EndedBytes > 0 && s.history() > n.EndedBytes
	}
	switch {
	case v != nil && (!ok || v.To <= t.At) && over(v.To):
		s.past.DropOldest()
		s.uncounted -= v.Size() - v.Counted()
	case ok && over(t.At):
		r, _ := s.runs.Get(no)
		s.forgetEnded(r)
	default:
		return false
	}
	return true
}

// forgetEnded removes a run that is over. Its log goes in pieces.
func (s *Store) forgetEnded(r *Run) {
	s.ended.Delete(queue.Stamp{At: r.Completed, Seq: r.No})
	s.runs.Delete(r.No)
	s.names.Delete(name{r.ID, r.No})
	s.doneBytes -= r.bytes
	s.uncounted -= r.spared
	s.deletedRuns.Set(r.No, struct{}{})
}

// dropDead removes the oldest dead letter if its time has come, or if runs that are over take too much room and there is
// nothing else to forget.
func (s *Store) dropDead(now int64) bool {
	t, no, ok := s.dead.Min()
	n := &s.settings
	if !ok || !(n.DeadAge > 0 && roundUp(t.At+n.DeadAge) <= now || n.EndedBytes > 0 && s.history() > n.EndedBytes) {
		return false
	}
	r, _ := s.runs.Get(no)
	s.removeDeadLetter(r)
	return true
}

// clear removes the log and the marks of a forgotten run, at most limit records.
func (s *Store) clear(limit int) (done int) {
	no, _, _ := s.deletedRuns.Min()
	for done < limit {
		p, e, ok := firstOf(s, no)
		if !ok {
			break
		}
		s.entries.Delete(p)
		s.ids.Delete(e.ID.Seq)
		done++
	}
	for done < limit {
		var m mark
		found := false
		s.marks.AscendHead(no, func(k mark, _ uint64) bool {
			m, found = k, k.run == no
			return false
		})
		if !found {
			s.deletedRuns.Delete(no)
			return done + 1
		}
		s.marks.Delete(m)
		done++
	}
	return done
}

// firstOf is the first entry of a run's log that is there.
func firstOf(s *Store, no uint64) (p place, e *Entry, ok bool) {
	s.entries.AscendHead(no, func(at place, n *Entry) bool {
		p, e, ok = at, n, at.run == no
		return false
	})
	return p, e, ok
}

// NextSweep returns the time at which the next record is to be forgotten, or to go into a volume, in unix milliseconds.
func (s *Store) NextSweep(q *queue.Store) (unixms int64, ok bool) {
	soonest := func(at int64, found bool) {
		if found && (!ok || at < unixms) {
			unixms, ok = at, true
		}
	}
	soonest(0, s.deletedRuns.Len() > 0)
	soonest(s.bulk.NextSweep())
	t, _, found := s.ended.Min()
	soonest(roundUp(t.At+s.settings.EndedAge), found && s.settings.EndedAge > 0)
	if v := s.past.Oldest(); v != nil && s.settings.EndedAge > 0 {
		soonest(roundUp(v.To+s.settings.EndedAge), true)
	}
	if s.past.on {
		soonest(s.sealable(q))
	}
	t, _, found = s.dead.Min()
	soonest(roundUp(t.At+s.settings.DeadAge), found && s.settings.DeadAge > 0)
	return unixms, ok
}
