package workflow

import "github.com/trireme-dev/trireme/fsm/queue"

// Reach says how far back runs that have ended can be listed, by the times of their ends.
func (s *Store) Reach(now int64) queue.Reach {
	r := queue.Reach{Age: s.settings.EndedAge, Bytes: s.settings.EndedBytes, Used: s.doneBytes + s.past.Size()}
	if t, _, ok := s.ended.Min(); ok {
		r.Oldest = t.At
	}
	if v := s.past.Oldest(); v != nil && (r.Oldest == 0 || v.From < r.Oldest) {
		r.Oldest = v.From
	}
	r.Judge(now)
	return r
}
