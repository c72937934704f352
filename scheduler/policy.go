package scheduler

import (
	"context"
	"time"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// Policy holds the decisions of one leadership without its goroutines: how many attempts it claims
// and to which hosts, the times of schedules, and how long claimed attempts may run. Times are
// arguments, so that the simulation runs the same code as the product.
type Policy struct {
	senders, share int
	began          time.Time
	claims         *claims
	ticker         ticker
	limiters       *hostLimiters
}

// NewPolicy returns the policy of a leadership that begins now. senders bounds the attempts under
// way, hostShare those to one host.
func NewPolicy(senders, hostShare int, now time.Time) *Policy {
	return newPolicy(senders, hostShare, newHostLimiters(hostShare), now)
}

func newPolicy(senders, share int, p *hostLimiters, now time.Time) *Policy {
	return &Policy{senders: senders, share: share, began: now, claims: newClaims(senders), limiters: p}
}

// Free returns the number of attempts that may still be claimed now.
func (p *Policy) Free(now time.Time) int {
	return min(p.allowed(now.Sub(p.began))-p.claims.count(), queue.MaxClaims)
}

// allowed grows from a fifth of the senders to all of them.
func (p *Policy) allowed(since time.Duration) int {
	all := p.senders
	part := all/5 + int(float64(all)*float64(since)/float64(rampTime))
	return min(all, max(part, rampMinimum))
}

// Demand returns the demand of the next Advance; due are the schedules that have a tick by then, at the times in at.
func (p *Policy) Demand(now time.Time, at env.Time, due []queue.Schedule) queue.Demand {
	return queue.Demand{
		Claims: max(p.Free(now), 0), HostShare: p.share, Ticks: p.ticker.ticks(due, at),
		Hosts: p.limiters.limits(now), KeepSendersFree: p.share < p.senders,
	}
}

// Committed notes that an Advance with that demand is in the log.
func (p *Policy) Committed(d queue.Demand) { p.limiters.forget(d.Hosts) }

// Claimed notes an attempt that was claimed by an Advance proposed at the time asked. cancel ends
// the attempt.
func (p *Policy) Claimed(a *queue.Attempt, cancel context.CancelFunc, asked time.Time) {
	p.claims.add(a.Ref(), a.DB, cancel, asked)
}

// Running returns the attempts that are claimed and whose results are not recorded, in no order.
func (p *Policy) Running() queue.Renewal { return p.claims.renewal() }

// Renewed extends the leases of attempts by a renewal proposed at the time asked, and ends the
// attempts that are lost.
func (p *Policy) Renewed(refs, lost []queue.AttemptRef, asked time.Time) {
	p.claims.renewed(refs, lost, asked)
}

// EndOverdue ends the attempts whose leases are nearly over.
func (p *Policy) EndOverdue(now time.Time) { p.claims.endOverdue(now) }

// Outcome notes how an attempt to a host went.
func (p *Policy) Outcome(host string, answered bool, now time.Time) {
	p.limiters.outcome(host, answered, now)
}

// ResultsRecorded notes that attempts have their results in the log, or never will.
func (p *Policy) ResultsRecorded(refs ...queue.AttemptRef) { p.claims.remove(refs...) }
