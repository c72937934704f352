package scheduler

import (
	"context"
	"log/slog"
	"time"

	"github.com/trireme-dev/trireme/fsm/env"
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
	// DueSchedules are the schedules whose next tick has come or has to be computed, at the times that are returned too.
	DueSchedules(now int64) ([]queue.Schedule, env.Time)
	// Advance, Renew and Finish are those of package queue. Advance is asked in the name
	// of the term that this node leads.
	Advance(context.Context, queue.Demand) ([]queue.Attempt, error)
	Renew(context.Context, queue.Renewal) (queue.Renewed, error)
	Finish(context.Context, queue.Results) (queue.Dispositions, error)
	// Commit is Finish for one attempt with the commands of its answer. A refusal is a *queue.Error or an *fsm.Error: nothing is recorded.
	Commit(context.Context, queue.Answer) (queue.Dispositions, error)
}

// Deliverer sends attempts. ok is false if ctx ended before the outcome was known.
type Deliverer interface {
	Send(ctx context.Context, a *queue.Attempt) (n queue.Answer, ok bool)
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
