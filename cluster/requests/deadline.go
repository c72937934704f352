package requests

import (
	"slices"
	"time"

	"trireme/fsm"
	"trireme/mutant"
)

// Abandon ends the wait for a call and gives its outcome as far as it is known.
func (p *Ledger) Abandon(c *Call) Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case r := <-c.done:
		return r
	default:
	}
	return p.giveUp(c)
}

// giveUp is the outcome of a call that nobody waits for any longer: it was never sent, or
// its outcome is unknown. The lock is held.
func (p *Ledger) giveUp(c *Call) Result {
	delete(p.pending, c.seq)
	if c.flights > 0 && !mutant.Is(mutant.SentIsRefused) {
		return Result{nil, fsm.ErrUnknown}
	}
	return Result{nil, fsm.ErrNoLeader} // it is still in the queue, where Take steps over it
}

// Overdue gives up the calls whose deadline has passed. Deadlines rise with the sequence,
// so one look every now and then costs less than a timer for each call.
func (p *Ledger) Overdue(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for seq := p.lowest(); seq < p.seq; seq++ {
		c := p.pending[seq]
		if c == nil {
			continue
		}
		if now.Before(c.deadline) {
			return
		}
		c.done <- p.giveUp(c)
	}
}

// Lead notes since when there is no leader.
func (p *Ledger) Lead(known bool) {
	p.mu.Lock()
	if known {
		p.since = time.Time{}
	} else if p.since.IsZero() {
		p.since = p.now()
	}
	p.mu.Unlock()
}

// Expire refuses what was never sent when there is no leader for too long.
func (p *Ledger) Expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() || p.now().Sub(p.since) < Leaderless {
		return
	}
	p.queue = slices.DeleteFunc(p.queue, func(c *Call) bool {
		if p.pending[c.seq] != c {
			return true
		}
		if c.flights == 0 {
			p.settle(c, Result{nil, fsm.ErrNoLeader})
		}
		return c.flights == 0
	})
}
