package cluster

import (
	"context"
	"time"
)

// watchDeadlines gives up overdue calls until ctx ends. It is apart from run, which may be
// waiting for a leader's answer.
func (p *proposer) watchDeadlines(ctx context.Context) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			p.Overdue(now)
		case <-ctx.Done():
			return
		}
	}
}

// expire refuses the requests that were never sent when there has been no leader for too long.
func (p *proposer) expire() {
	_, ok := p.n.leader()
	p.Lead(ok)
	p.Expire()
}
