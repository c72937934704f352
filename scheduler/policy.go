package scheduler

import (
	"context"
	"time"

	"trireme/fsm/queue"
)

// Policy is what the scheduler of one leadership decides, without its goroutines: how
// many attempts it asks for and to which hosts, the times of schedules, and how long what
// was claimed may run. It learns the time from outside, so that the simulation runs the
// same code as the product.
type Policy struct {
	senders, share int
	began          time.Time
	claims         *claims
	ticker         ticker
	paces          *paces
}

// NewPolicy is the policy of a leadership that begins now, with so many senders, of which
// one host may have its share.
func NewPolicy(senders, hostShare int, now time.Time) *Policy {
	return newPolicy(senders, hostShare, newPaces(hostShare), now)
}

func newPolicy(senders, share int, p *paces, now time.Time) *Policy {
	return &Policy{senders: senders, share: share, began: now, claims: newClaims(senders), paces: p}
}

// Free is how many more attempts may be claimed now.
func (p *Policy) Free(now time.Time) int {
	return min(p.allowed(now.Sub(p.began))-p.claims.count(), queue.MaxClaims)
}

// allowed grows from a fifth of the senders to all of them.
func (p *Policy) allowed(since time.Duration) int {
	all := p.senders
	part := all/5 + int(float64(all)*float64(since)/float64(rampTime))
	return min(all, max(part, rampFloor))
}

// Demand is what the next Advance is asked for. at is cluster time, due are the schedules
// whose tick has come then.
func (p *Policy) Demand(now time.Time, at int64, due []queue.Schedule) queue.Demand {
	return queue.Demand{
		Claims: max(p.Free(now), 0), HostShare: p.share, Ticks: p.ticker.ticks(due, at),
		Hosts: p.paces.limits(now), Spare: p.share < p.senders,
	}
}

// Told notes that an Advance with that demand is in the log.
func (p *Policy) Told(d queue.Demand) { p.paces.told(d.Hosts) }

// Claimed notes an attempt that an Advance, asked for at that moment, has claimed. cancel
// ends it.
func (p *Policy) Claimed(ref queue.AttemptRef, cancel context.CancelFunc, asked time.Time) {
	p.claims.add(ref, cancel, asked)
}

// Running are the attempts that are claimed and not handed in, in no order.
func (p *Policy) Running() []queue.AttemptRef { return p.claims.refs() }

// Renewed prolongs the leases of attempts by a renewal asked for at that moment, and ends
// those that are lost.
func (p *Policy) Renewed(refs, lost []queue.AttemptRef, asked time.Time) {
	p.claims.renewed(refs, lost, asked)
}

// EndOverdue ends the attempts whose leases are nearly over.
func (p *Policy) EndOverdue(now time.Time) { p.claims.endOverdue(now) }

// Outcome notes how an attempt to a host went.
func (p *Policy) Outcome(host string, answered bool, now time.Time) {
	p.paces.outcome(host, answered, now)
}

// HandedIn notes that attempts have their results in the log, or never will.
func (p *Policy) HandedIn(refs ...queue.AttemptRef) { p.claims.remove(refs...) }
