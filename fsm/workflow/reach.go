package workflow

import "github.com/trireme-dev/trireme/fsm/queue"

// Crowded reports whether runs that have ended take the bytes that they may, about.
func (s *Store) Crowded() bool {
	r := queue.Reach{Bytes: s.settings.EndedBytes, Used: s.history()}
	return r.Full()
}

// history is the bytes that all runs that have ended take.
func (s *Store) history() int64 { return s.doneBytes + s.past.Size() }

// Reach says how far back runs that have ended can be listed, by the times of their ends.
func (s *Store) Reach(now int64) queue.Reach {
	r := queue.Reach{Age: s.settings.EndedAge, Bytes: s.settings.EndedBytes, Used: s.history()}
	if t, _, ok := s.ended.Min(); ok {
		r.Oldest = t.At
	}
	if v := s.past.Oldest(); v != nil && (r.Oldest == 0 || v.From < r.Oldest) {
		r.Oldest = v.From
	}
	r.Judge(now)
	return r
}
