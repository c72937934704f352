package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/internal/failpoint"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// Scheduler runs attempts while this node leads. Close it.
type Scheduler struct {
	Options
	results  chan attemptResult
	draining chan struct{}   // closed: nothing more is claimed
	ending   context.Context // ends attempts and the recording of results
	end      context.CancelFunc
	wg       sync.WaitGroup // recorders and workers
	workers  workers

	sent     counters
	limiters *hostLimiters

	mu      sync.Mutex
	running sync.WaitGroup // terms and attempts
}

// New returns a scheduler. It starts the goroutines that record results.
func New(o Options) *Scheduler {
	if o.Senders <= 0 {
		o.Senders = DefaultSenders
	}
	if o.HostShare <= 0 {
		o.HostShare = max(o.Senders/hostFraction, 1)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Scheduler{Options: o, results: make(chan attemptResult), draining: make(chan struct{}), sent: newCounters(), limiters: newHostLimiters(o.HostShare), workers: workers{jobs: make(chan func())}}
	s.ending, s.end = context.WithCancel(context.Background())
	for range recorders {
		s.wg.Go(s.flushResults)
	}
	return s
}

// Close claims nothing more, waits for running attempts until ctx ends, ends the others, and
// records the results that are known. Call it while the node still serves.
func (s *Scheduler) Close(ctx context.Context) {
	s.mu.Lock()
	close(s.draining)
	s.mu.Unlock()
	stop := context.AfterFunc(ctx, s.end)
	s.running.Wait()
	close(s.results)
	close(s.workers.jobs)
	s.wg.Wait()
	stop()
	s.end()
}

// Run claims and sends until ctx ends with this node's leadership, and returns at once
// then: attempts that still run are ended, and results that are known are recorded through the
// next leader.
func (s *Scheduler) Run(ctx context.Context) {
	s.mu.Lock()
	select {
	case <-s.draining:
		s.mu.Unlock()
		return
	default:
	}
	s.running.Add(1)
	s.mu.Unlock()
	defer s.running.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ending, cancel)()
	t := &term{s: s, Policy: newPolicy(s.Senders, s.HostShare, s.limiters, time.Now())}
	s.running.Go(func() { t.keepLeases(ctx) })
	t.claimAttempts(ctx)
	t.drain(ctx)
}

// term is one leadership of this node.
type term struct {
	*Policy
	s        *Scheduler
	pending  pendingPiggyback
	attempts sync.WaitGroup
}

// drain waits for the attempts that run, for as long as they may.
func (t *term) drain(ctx context.Context) {
	over := make(chan struct{})
	t.s.running.Go(func() { t.attempts.Wait(); close(over) })
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// The intervals of the loop.
const (
	// retryInterval is between two Advances of which the first has failed.
	retryInterval = 50 * time.Millisecond
	// idleInterval is the least time between two Advances that claim nothing, so that what is
	// due but held back by a limit doesn't fill the log.
	idleInterval = 20 * time.Millisecond
	// fullInterval is the time between two Advances while all senders are busy.
	fullInterval = time.Second
)

// claimAttempts is the loop. It begins with an Advance whatever is due: it takes over
// the claims of the terms before.
func (t *term) claimAttempts(ctx context.Context) {
	e, wait, opened := t.s.Claimer, time.Duration(0), false
	defer t.awaitPiggyback(ctx)
	for ctx.Err() == nil && !t.s.isDraining() {
		changed := e.Changed() // before looking, or a change in between is missed
		now := e.Now()
		due, found := e.Due()
		free := t.Free(time.Now())
		switch {
		case opened && !found:
			t.waitForWork(ctx, changed, time.Hour, free)
		case opened && due > now:
			t.waitForWork(ctx, changed, time.Duration(due-now)*time.Millisecond, free)
		case t.awaitPiggyback(ctx): // what is due may be under way by now
		case opened && free <= 0 && wait < fullInterval:
			wait = fullInterval
			t.sleep(ctx, nil, fullInterval)
		default:
			wait = 0
			pause, ok := t.advance(ctx, now)
			opened = opened || ok
			t.sleep(ctx, nil, pause)
		}
	}
}

// advance claims and starts attempts. It returns how long to wait before the next Advance and
// whether this one is in the log.
func (t *term) advance(ctx context.Context, now int64) (pause time.Duration, ok bool) {
	begin := time.Now()
	due, at := t.s.Claimer.DueSchedules(now)
	d := t.Demand(begin, at, due)
	attempts, err := t.s.Claimer.Advance(ctx, d)
	if err != nil {
		t.s.Log.Debug("no attempts were claimed", "error", err)
		return retryInterval, false
	}
	t.Committed(d)
	if len(attempts) == 0 { // ticks alone too: the state may refuse one as often as it is proposed
		return idleInterval, true
	}
	for i := range attempts {
		t.start(ctx, &attempts[i], begin)
	}
	return 0, true
}

// waitForWork waits while nothing is due, with an Advance attached to the entry that changes that.
func (t *term) waitForWork(ctx context.Context, changed <-chan struct{}, d time.Duration, free int) {
	t.attach(free)
	t.sleep(ctx, changed, d)
	select {
	case <-t.attached():
		t.awaitPiggyback(ctx)
	default:
	}
}

// sleep waits for a change, a free sender, the time, or the end.
func (t *term) sleep(ctx context.Context, changed <-chan struct{}, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-changed:
	case <-t.claims.released:
	case <-t.attached():
	case <-timer.C:
	case <-t.s.draining:
	case <-ctx.Done():
	}
}

func (s *Scheduler) isDraining() bool {
	select {
	case <-s.draining:
		return true
	default:
		return false
	}
}

// start runs an attempt in the background. asked is the time at which its claim was proposed.
func (t *term) start(ctx context.Context, a *queue.Attempt, asked time.Time) {
	ctx, cancel := context.WithCancel(ctx)
	t.Claimed(a, cancel, asked)
	t.attempts.Add(1)
	t.s.work(func() {
		defer t.attempts.Done()
		defer cancel()
		failpoint.Eval(failpoint.AfterClaim)
		n, ok := t.send(ctx, a)
		failpoint.Eval(failpoint.AfterAnswer)
		if !ok {
			// Its outcome is unknown, but it has ended: the next one need not wait for the lease.
			n = queue.Answer{Result: queue.Result{AttemptRef: a.Ref(), Lost: true}}
			t.s.sent.lost.Inc()
		} else {
			if len(n.Commit) == 0 { // else it is not known yet whether it counts
				t.s.count(&n.Result)
			}
			t.Outcome(a.Content.Host(), n.Response.Status != 0, time.Now())
		}
		t.s.logAttempt(a, &n.Result)
		n.DB = a.DB
		one := attemptResult{Result: n.Result, attempt: a, claims: t.claims, at: time.Now()}
		if len(n.Commit) > 0 && t.s.commit(&one, n.Commit) {
			return
		}
		t.s.results <- one
	})
}

// send turns a panic into a failed attempt: one message must not end the node.
func (t *term) send(ctx context.Context, a *queue.Attempt) (n queue.Answer, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			t.s.Log.Error("sending a message panicked", append(t.s.traceIDs(a), "message", a.ID.String(), "attempt", a.Number, "panic", p)...)
			n, ok = queue.Answer{Result: queue.Result{AttemptRef: a.Ref(), Error: fmt.Sprintf("internal error: %v", p), RetryDelay: queue.MaxRetryDelay / 24}}, true
		}
	}()
	whole := a.Loaded()
	return t.s.Deliverer.Send(ctx, &whole)
}

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
	_, err := s.propose(results, func(ctx context.Context) (queue.Dispositions, error) { return s.Claimer.Finish(ctx, n) })
	if err != nil {
		s.Log.Error("results were refused", "count", len(results), "error", err)
		s.lose(results)
	}
}

// propose proposes results, releases their claims, and returns once they are in the log or known to be lost. The error is a
// refusal: nothing is recorded or released.
func (s *Scheduler) propose(results []attemptResult, try func(context.Context) (queue.Dispositions, error)) (dispositions []queue.Disposition, err error) {
	for {
		out, err := once(try)
		if err == nil {
			dispositions = out.Items
			break
		}
		var refusal interface{ RefusalCode() string }
		if errors.As(err, &refusal) {
			return nil, err
		}
		s.Log.Debug("results were not recorded", "count", len(results), "error", err)
		if s.isDraining() || time.Since(results[0].at) > resultLifetime {
			s.lose(results)
			return nil, nil
		}
		time.Sleep(retryInterval)
	}
	s.notifyDispositions(results, dispositions)
	releaseClaims(results)
	return dispositions, nil
}

// lose gives up results that can't be recorded.
func (s *Scheduler) lose(results []attemptResult) {
	s.sent.lost.Add(float64(len(results)))
	s.notifyDispositions(results, nil)
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

// once allows one proposal as long as the node needs to find a new leader.
func once(try func(context.Context) (queue.Dispositions, error)) (queue.Dispositions, error) {
	ctx, cancel := context.WithTimeout(context.Background(), recordTimeout)
	defer cancel()
	return try(ctx)
}
