package scheduler

import (
	"context"
	"time"

	"trireme/fsm/queue"
)

const (
	// finishers is how many entries with results are under way at once.
	finishers = 2
	// packResults and packBytes bound what goes into one entry.
	packResults = 512
	packBytes   = 4 << 20
	// finishTime bounds one try to hand in a pack.
	finishTime = 5 * time.Second
	// giveUp is how long a result is worth handing in: after its lease its attempt is
	// somebody else's.
	giveUp = (queue.Lease + queue.LeaseMargin) * time.Millisecond
)

// finished is a result and whose claim it ends.
type finished struct {
	queue.Result
	claims *claims
	at     time.Time
}

func (f *finished) size() int { return 200 + len(f.Response.Body) + 64*len(f.Response.Header) }

// handIn gathers results and puts them into the log, as many as have come while the
// entry before was under way, until there are no more.
func (s *Scheduler) handIn() {
	for one := range s.results {
		s.finish(s.gather(one))
	}
}

// gather takes the results that wait.
func (s *Scheduler) gather(first finished) []finished {
	pack, bytes := []finished{first}, first.size()
	for len(pack) < packResults && bytes < packBytes {
		select {
		case one, more := <-s.results:
			if !more {
				return pack
			}
			pack, bytes = append(pack, one), bytes+one.size()
		default:
			return pack
		}
	}
	return pack
}

// finish proposes a pack until it is in the log, for as long as that has a meaning. A
// result is judged by its attempt's number, so proposing one again is harmless.
func (s *Scheduler) finish(pack []finished) {
	n := queue.Results{Items: make([]queue.Result, len(pack))}
	for i := range pack {
		n.Items[i] = pack[i].Result
	}
	for {
		err := s.propose(n)
		if err == nil {
			break
		}
		s.Log.Debug("results were not handed in", "count", len(pack), "error", err)
		if s.drains() || time.Since(pack[0].at) > giveUp {
			s.sent.lost.Add(float64(len(pack)))
			break
		}
		time.Sleep(retryPace)
	}
	free(pack)
}

// free gives the senders of a pack back, those of one term together.
func free(pack []finished) {
	var refs []queue.AttemptRef
	for i := range pack {
		refs = append(refs, pack[i].AttemptRef)
		if i+1 == len(pack) || pack[i+1].claims != pack[i].claims {
			pack[i].claims.remove(refs...)
			refs = refs[:0]
		}
	}
}

// propose gives one try the time in which the node finds a new leader.
func (s *Scheduler) propose(n queue.Results) error {
	ctx, cancel := context.WithTimeout(context.Background(), finishTime)
	defer cancel()
	return s.Engine.Finish(ctx, n)
}
