package cluster

import (
	"context"
	"slices"
	"time"

	"trireme/fsm"
)

// watchDeadlines gives up overdue calls until ctx ends. It is apart from run, which may be
// waiting for a leader's answer.
func (p *proposer) watchDeadlines(ctx context.Context) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			p.overdue(now)
		case <-ctx.Done():
			return
		}
	}
}

// abandon ends the wait for a call.
func (p *proposer) abandon(c *call) (any, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case r := <-c.done:
		return r.value, r.err
	default:
	}
	r := p.giveUp(c)
	return r.value, r.err
}

// giveUp is the outcome of a call that nobody waits for any longer: it was never sent, or
// its outcome is unknown. The lock is held.
func (p *proposer) giveUp(c *call) result {
	delete(p.pending, c.seq)
	if c.flights > 0 {
		return result{nil, fsm.ErrUnknown}
	}
	return result{nil, fsm.ErrNoLeader} // it is still in the queue, where send steps over it
}

// overdue gives up the calls whose deadline has passed. Deadlines rise with the sequence,
// so one look every tick costs less than a timer for each call.
func (p *proposer) overdue(now time.Time) {
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

// lead notes since when there is no leader.
func (p *proposer) lead(known bool) {
	p.mu.Lock()
	if known {
		p.since = time.Time{}
	} else if p.since.IsZero() {
		p.since = time.Now()
	}
	p.mu.Unlock()
}

// expire refuses what was never sent when there is no leader for too long.
func (p *proposer) expire() {
	_, ok := p.n.leader()
	p.lead(ok)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() || time.Since(p.since) < leaderless {
		return
	}
	p.queue = slices.DeleteFunc(p.queue, func(c *call) bool {
		if p.pending[c.seq] != c {
			return true
		}
		if c.flights == 0 {
			delete(p.pending, c.seq)
			c.done <- result{nil, fsm.ErrNoLeader}
		}
		return c.flights == 0
	})
}
