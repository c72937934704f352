package scheduler

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// Claimer claims, renews and finishes attempts for the scheduler. Its operations go through the log;
// their errors mean that the outcome is not known or that there is no leader.
type Claimer interface {
	// Changed is closed when the next entry is applied.
	Changed() <-chan struct{}
	// Now is cluster time in unix milliseconds.
	Now() int64
	// Due returns the time from which Advance has something to do, in unix milliseconds of cluster time.
	Due() (at int64, ok bool)
	// DueSchedules are the schedules whose next tick has come or has to be computed.
	DueSchedules(now int64) []queue.Schedule
	// Advance, Renew and Finish are those of package queue. Advance is asked in the name
	// of the term that this node leads.
	Advance(context.Context, queue.Demand) ([]queue.Attempt, error)
	Renew(context.Context, queue.Renewal) (queue.Renewed, error)
	Finish(context.Context, queue.Results) (queue.Dispositions, error)
}

// Deliverer sends attempts. ok is false if ctx ended before the outcome was known.
type Deliverer interface {
	Send(ctx context.Context, a *queue.Attempt) (n queue.Result, ok bool)
}

const (
	// DefaultSenders is the largest number of attempts that run at a time.
	DefaultSenders = 1024
	// hostFraction is the fraction of the senders that one host may have (a tenth), so that a host
	// that hangs does not stop deliveries to the others.
	hostFraction = 10
	// rampTime is the time after an election until all senders are used.
	rampTime = 5 * time.Second
	// rampMinimum is the number of senders used from the start.
	rampMinimum = 64
)

// Options say how a Scheduler works.
type Options struct {
	Claimer   Claimer
	Deliverer Deliverer
	// Senders bounds the attempts under way, HostShare those to one host (0 = default).
	Senders, HostShare int
	// Observe, if set, is called after each attempt whose outcome is known and recorded, with what became of its message,
	// from several goroutines. The message of an outcome that could not be recorded has become Stale.
	Observe func(*queue.Attempt, *queue.Result, queue.Disposition)
	// Trace returns the trace context of an attempt's own span, for the log; nil if there are no spans.
	Trace func(*queue.Attempt) queue.TraceContext
	Log   *slog.Logger
}

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
	d := t.Demand(begin, now, t.s.Claimer.DueSchedules(now))
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
