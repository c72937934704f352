package cluster

import (
	"context"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/session"
	"github.com/trireme-dev/trireme/fsm"
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

// watchDeadlines gives up overdue calls until ctx ends. It is apart from run, which may be
// waiting for a leader's answer.
func (p *proposer) watchDeadlines(ctx context.Context) {
	for pause(ctx, 50*time.Millisecond) {
		p.Overdue(time.Now())
	}
}

// expire refuses the requests that were never sent when there has been no leader for too long.
func (p *proposer) expire() {
	_, ok := p.n.leader()
	p.Lead(ok)
	p.Expire()
}

// register opens a session for this process.
func (p *proposer) register(ctx context.Context, leader consensus.Server) bool {
	id := p.n.identity
	v, err := p.n.proposeOnce(ctx, leader, fsm.Register.Code, fsm.Register.Body(fsm.Registration{Node: id.NodeID, Disk: id.DiskID, Boot: id.Boot, RESP: p.n.opts.RESP}))
	if err != nil {
		return false
	}
	s := v.(fsm.Session)
	if s.ID == 0 && p.n.membershipStatus() == fsm.Removed {
		p.n.removed(errRemoved)
		return false
	}
	if s.ID == 0 {
		p.n.fatal("a later process of this disk has registered: two processes use one data directory's copy")
		return false
	}
	p.Register(s.ID)
	return true
}

// announce registers a node although it has no request to send: clients of a cluster need to know all RESP ports, and
// claims of the process that had this disk before are held until the log says that it has ended.
func (p *proposer) announce(ctx context.Context) {
	if p.Session() != 0 {
		return
	}
	if leader, ok := p.n.leader(); ok {
		p.register(ctx, leader)
	}
}

// proposeOnce sends one request without an identity, which may be applied more than once,
// and waits for its outcome.
func (n *Node) proposeOnce(ctx context.Context, to consensus.Server, code uint16, body []byte) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	done := make(chan session.Result, 1)
	n.submit(to, &batch{requests: []fsm.Request{{Code: code, Body: body}}, answer: func(o []fsm.Outcome, err error, _ bool) {
		switch {
		case err != nil:
			done <- session.Result{Err: err}
		case len(o) != 1 || o[0].Status != fsm.Applied:
			done <- session.Result{Err: fsm.ErrUnknown}
		default:
			done <- session.Result{Value: o[0].Value, Err: o[0].Err}
		}
	}})
	select {
	case r := <-done:
		return r.Value, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
