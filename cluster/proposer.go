package cluster

import (
	"context"
	"time"

	"github.com/trireme-dev/trireme/cluster/session"
)

// proposer is the node's side of group commit: its session.Tracker gives every request an identity and puts what waits
// into batches; the proposer sends batches to the leader, and sends again what has no outcome when the leader changes.
// An outcome comes from the leader's answer or from this node's own machine, whichever is first.
type proposer struct {
	n *Node
	*session.Tracker
	ledger *session.Ledger
	wake   chan struct{}
}

func newProposer(n *Node) *proposer {
	p := &proposer{n: n, wake: make(chan struct{}, 1), ledger: session.NewLedger()}
	p.Tracker = session.New(time.Now, p.nudge)
	p.Shares(p.ledger)
	return p
}

func (p *proposer) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// afterRestore ends the requests whose outcomes a snapshot has skipped, and the session if the restored state doesn't
// have it: a backup may have been restored.
func (p *proposer) afterRestore() {
	p.Restored(p.n.machine.Awaits)
	p.dropLostSession()
}

// dropLostSession ends this process's session if the state doesn't have it any more.
func (p *proposer) dropLostSession() {
	if s := p.Session(); s != 0 && !p.n.machine.Knows(s) {
		p.SessionLost()
	}
}

// run sends batches until ctx ends.
func (p *proposer) run(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var paid <-chan time.Time
		if p.Held() > 0 {
			paid = time.After(sharePause)
		}
		select {
		case <-p.wake:
		case <-paid:
		case <-tick.C:
			p.expire()
			p.announce(ctx)
		case <-ctx.Done():
			p.End()
			return
		}
		for p.step(ctx) {
		}
	}
}

// sharePause is the wait before checking again whether a database has paid off its debt.
const sharePause = 2 * time.Millisecond

// retryPause is the wait before looking for the leader again: a killed leader is replaced within some tens of
// milliseconds.
const retryPause = 3 * time.Millisecond

func (p *proposer) sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
