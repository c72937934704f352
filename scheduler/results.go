package scheduler

import (
	"context"
	"time"

	"github.com/trireme-dev/trireme/fsm/queue"
)

const (
	// recorders is the largest number of entries with results under way at a time.
	recorders = 2
	// maxBatchResults and maxBatchBytes bound one entry.
	maxBatchResults = 512
	maxBatchBytes   = 4 << 20
	// recordTimeout bounds one proposal of results.
	recordTimeout = 5 * time.Second
	// resultLifetime is the time in which a result is proposed: after its lease the attempt
	// may be claimed by another leader.
	resultLifetime = (queue.Lease + queue.LeaseMargin) * time.Millisecond
)

// attemptResult is a result and the claims from which it removes its attempt.
type attemptResult struct {
	queue.Result
	attempt *queue.Attempt
	claims  *claims
	at      time.Time
}

func (ar *attemptResult) size() int { return 200 + len(ar.Response.Body) + 64*len(ar.Response.Header) }

// flushResults records results until the channel is closed, in each entry as many as have come
// while the entry before was under way.
func (s *Scheduler) flushResults() {
	for one := range s.results {
		s.record(s.takeResults(one))
	}
}

// takeResults returns first and the results that wait, as many as one entry may hold.
func (s *Scheduler) takeResults(first attemptResult) []attemptResult {
	list, bytes := []attemptResult{first}, first.size()
	for len(list) < maxBatchResults && bytes < maxBatchBytes {
		select {
		case one, more := <-s.results:
			if !more {
				return list
			}
			list, bytes = append(list, one), bytes+one.size()
		default:
			return list
		}
	}
	return list
}

// record proposes results until they are in the log, at most for resultLifetime. The state machine
// ignores a result whose attempt is over, so proposing one again is harmless.
func (s *Scheduler) record(results []attemptResult) {
	n := queue.Results{Items: make([]queue.Result, len(results))}
	for i := range results {
		n.Items[i] = results[i].Result
	}
	var dispositions queue.Dispositions
	for {
		var err error
		if dispositions, err = s.propose(n); err == nil {
			break
		}
		s.Log.Debug("results were not recorded", "count", len(results), "error", err)
		if s.isDraining() || time.Since(results[0].at) > resultLifetime {
			s.sent.lost.Add(float64(len(results)))
			break
		}
		time.Sleep(retryInterval)
	}
	s.notifyDispositions(results, dispositions.Items)
	releaseClaims(results)
}

// notifyDispositions passes the results and the new states of their messages to Options.Observe.
func (s *Scheduler) notifyDispositions(results []attemptResult, dispositions []queue.Disposition) {
	if s.Observe == nil {
		return
	}
	for i := range results {
		d := queue.Disposition{Stale: true}
		if i < len(dispositions) {
			d = dispositions[i]
		}
		if one := &results[i]; !one.Lost {
			s.Observe(one.attempt, &one.Result, d)
		}
	}
}

// releaseClaims frees the senders of the results, those of one term together.
func releaseClaims(results []attemptResult) {
	var refs []queue.AttemptRef
	for i := range results {
		refs = append(refs, results[i].AttemptRef)
		if i+1 == len(results) || results[i+1].claims != results[i].claims {
			results[i].claims.remove(refs...)
			refs = refs[:0]
		}
	}
}

// propose allows one proposal as long as the node needs to find a new leader.
func (s *Scheduler) propose(n queue.Results) (queue.Dispositions, error) {
	ctx, cancel := context.WithTimeout(context.Background(), recordTimeout)
	defer cancel()
	return s.Claimer.Finish(ctx, n)
}
