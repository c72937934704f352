package scheduler

import "sync/atomic"

// maxIdle is the largest number of goroutines that wait for the next attempt.
const maxIdle = 128

// workers are goroutines that run attempts, one at a time each. An attempt needs a stack of several kilobytes, which a
// new goroutine gets by growing and copying it (4 % of what a leader that only delivers computed); one that has run an
// attempt before has it.
type workers struct {
	jobs chan func()
	idle atomic.Int32
}

// work runs an attempt in the background, which is counted in running.
func (s *Scheduler) work(attempt func()) {
	s.running.Add(1)
	select {
	case s.workers.jobs <- attempt: // to one that waits
	default:
		s.wg.Go(func() { s.serve(attempt) })
	}
}

// serve runs an attempt and those that come afterwards, until there are enough others that wait or Close ends them.
func (s *Scheduler) serve(attempt func()) {
	for attempt != nil {
		attempt()
		s.running.Done()
		if s.workers.idle.Add(1) <= maxIdle {
			attempt = <-s.workers.jobs
		} else {
			attempt = nil
		}
		s.workers.idle.Add(-1)
	}
}
