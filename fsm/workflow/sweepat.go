package workflow

// SweepAt returns the time from which on Sweep or SweepBulk has something to do, in unix milliseconds: NextSweep, or 0 if there is
// more than the settings keep. Before it they change nothing.
func (s *Store) SweepAt() (unixms int64, ok bool) {
	if n := &s.settings; s.trimmable != 0 || n.EndedBytes > 0 && s.doneBytes > n.EndedBytes && s.ended.Len()+s.dead.Len() > 0 {
		return 0, true
	}
	return s.NextSweep()
}

// Untrimmed reports whether the next Advance trims the history although no wait is over.
func (s *Store) Untrimmed() bool { return s.trimmable != 0 }

// Sub takes the counts of another store away.
func (co *Counts) Sub(m Counts) {
	co.Runs, co.Active, co.Dead, co.Waiters = co.Runs-m.Runs, co.Active-m.Active, co.Dead-m.Dead, co.Waiters-m.Waiters
}
