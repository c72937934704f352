package queue

import (
	"fmt"

	"github.com/trireme-dev/trireme/fsm/env"
)

// Ticks come by themselves, as often as their owner has said, and nobody waits for their answer. So an Advance does TickShare for
// the ticks of a database and leaves the rest to the next; a tick is made whole, or not at all if it has no room. While there are
// other databases, their ticks take a fifth of the time at most.

const (
	// TickShare is the work that an Advance does for the ticks of a database, in steps. The tick that passes it is still made.
	TickShare = 100_000
	// stepsPerMilli is about how many steps an apply does in a millisecond of cluster time, idlePerWork how much longer than
	// they took the ticks of a database wait before they go on.
	stepsPerMilli = 10_000
	idlePerWork   = 4
)

// pace is the work of the ticks of an Advance so far.
type pace struct {
	work, most int64 // most: of one tick, 0 for no limit
}

func (p *pace) over() bool { return p.work >= TickShare }

// fireTicks fires the schedules that are due.
func (s *Store) fireTicks(e *env.Env, d *Demand) {
	if e.Now < s.schedules.ticksFrom {
		return
	}
	p := pace{most: d.MaxTick}
	for i := range d.Ticks {
		if p.over() {
			break
		}
		s.tick(e, &d.Ticks[i], &p)
	}
	s.schedules.ticksFrom = 0
	if idle := idlePerWork * p.work / stepsPerMilli; d.Paced && idle > 0 {
		s.schedules.ticksFrom = e.Now + idle
	}
}

// fire makes the messages of a tick, if there is room for them and they are not too much work. A schedule whose tick is lost goes
// on, and says why.
func (p *pace) fire(s *Store, e *env.Env, c *Schedule, at int64) {
	cost := s.tickPrice(c)
	switch {
	case p.most > 0 && cost.Work > p.most:
		p.work += operation
		c.Error = OverWork("a tick of the schedule", cost.Work, p.most).Text
		return
	case !s.fits(cost.Growth):
		p.work += operation
		c.Error = fmt.Sprintf("memory limit reached, the tick made no messages. They need %d bytes. Setting: maxMemory", cost.Growth)
		return
	}
	p.work += cost.Work
	s.fire(e, c, at)
}

// TicksPrice is the price of the ticks of an Advance, as far as its share goes.
func (s *Store) TicksPrice(now int64, ticks []Tick) (cost env.Price) {
	if now < s.schedules.ticksFrom {
		return cost
	}
	for i := range ticks {
		if c, ok := s.schedules.byID.Get(ticks[i].Schedule); ok && !c.Paused && c.Version == ticks[i].Version && cost.Work < TickShare {
			cost.Add(s.tickPrice(c))
		}
	}
	return cost
}

// OverWork is the refusal of what needs more steps than a request may do.
func OverWork(what string, steps, limit int64) *Error {
	return &Error{Code: ErrQuota.Code, Text: fmt.Sprintf("max request work exceeded by %s. Limit: %d steps, Actual: %d steps. Setting: max-request-work", what, limit, steps)}
}
