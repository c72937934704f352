package workflow

import "github.com/trireme-dev/trireme/fsm/queue"

// SweepAt returns the time from which on Sweep or SweepBulk has something to do, in unix milliseconds: NextSweep, or 0 if there is
// more than the settings keep. Before it they change nothing.
func (s *Store) SweepAt(q *queue.Store) (unixms int64, ok bool) {
	n := &s.settings
	history := s.ended.Len()+s.dead.Len() > 0 || s.past.Oldest() != nil
	if s.trimmable != 0 || n.EndedBytes > 0 && s.history() > n.EndedBytes && history {
		return 0, true
	}
	unixms, ok = s.NextSweep(q)
	if s.past.on { // the next run that is looked at once nothing of it can be under way
		from := s.past.late
		from.Seq++
		s.ended.Ascend(from, func(t queue.Stamp, _ uint64) bool {
			if at := t.At + late(q); !ok || at < unixms {
				unixms, ok = at, true
			}
			return false
		})
	}
	return unixms, ok
}

// Trims reports whether the next Advance trims the history although no wait is over.
func (s *Store) Trims() bool { return s.trimmable != 0 }

// Sub takes the counts of another store away.
func (co *Counts) Sub(m Counts) {
	co.Runs, co.Active, co.Dead, co.Waiters = co.Runs-m.Runs, co.Active-m.Active, co.Dead-m.Dead, co.Waiters-m.Waiters
}
