package cluster

import (
	"context"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/session"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/internal/failpoint"
)

const (
	// maxBatchBytes bounds entries as it bounds batches.
	maxBatchBytes = session.MaxBatchBytes
	// maxEntries bounds the entries that a leader has in raft at a time.
	maxEntries = 2
	// overlapBytes is the size in bytes that must wait before an entry is begun while another is in flight. Small
	// entries gain more from being one: on two cores SET over 64 connections makes 12 to 14 % less with two, and its
	// requests cost a quarter more processor time on all nodes. Large ones gain from writing to the disks while the
	// other is applied. Pipelines of 100 SETs over 16 connections make a tenth more with 32 KiB than with 64.
	overlapBytes = 32 << 10
	// maxRequestBytes is the largest request that can be an entry: raft's transport has no
	// limit of its own, but an entry is held in memory several times on its way.
	maxRequestBytes = 48<<20 + 64<<10
)

type result struct {
	value any
	err   error
}

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

// Accepting returns nil while this node's disk has room for writes; otherwise the error says how much is free and how much is needed.
func (n *Node) Accepting() error { return n.store.Accepting() }

// Propose puts a request into the log and waits for its outcome; see fsm.Proposer.
func (n *Node) Propose(ctx context.Context, code uint16, body []byte) (any, error) {
	if n.Poison() != nil {
		return nil, fsm.ErrPoison
	}
	if len(body) > maxRequestBytes {
		return nil, fsm.ErrTooLarge
	}
	if err := fsm.Permitted(code, n.machine.Level()); err != nil {
		return nil, err
	}
	if code == fsm.Exec.Code && n.store.Accepting() != nil {
		return nil, fsm.ErrLowSpace
	}
	c, err := n.proposer.AddOf(n.sharing(code, body), code, body)
	if err != nil {
		return nil, err
	}
	select {
	case r := <-c.Done(): // also when its deadline has passed: see Tracker.Overdue
		return r.Value, r.Err
	case <-ctx.Done():
	}
	r := n.proposer.Cancel(c)
	return r.Value, r.Err
}

// sharing returns the database that is charged for a request, empty while there is only one.
func (n *Node) sharing(code uint16, body []byte) string {
	if n.machine.Databases() < 2 {
		return ""
	}
	name, ok := fsm.DatabaseOf(code, body)
	switch {
	case !ok:
		return ""
	case len(name) == 0:
		return fsm.DefaultDB
	}
	return string(name)
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

// step sends one batch, or finds out why not. It returns false when there is nothing to do until the next nudge.
func (p *proposer) step(ctx context.Context) bool {
	pause := p.Paused()
	if p.Idle() || ctx.Err() != nil {
		return false
	}
	if pause {
		p.sleep(ctx, retryPause)
	}
	leader, ok := p.n.leader()
	p.Lead(ok)
	if !ok {
		p.sleep(ctx, retryPause)
		p.expire()
		return true
	}
	if p.Session() == 0 {
		if !p.register(ctx, leader) {
			p.sleep(ctx, retryPause)
		}
		return true
	}
	p.send(leader)
	return true
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

// send sends what waits to the leader, as much as one batch holds.
func (p *proposer) send(leader consensus.Server) {
	if b := p.Take(); b != nil {
		failpoint.Eval(failpoint.BeforePropose)
		p.n.submit(leader, p.batchOf(b))
	}
}

// sendMore adds what has come since the last batch to the entry that this node, as the leader, is about to make.
func (p *proposer) sendMore() {
	if b := p.TakeMore(); b != nil {
		failpoint.Eval(failpoint.BeforePropose)
		p.n.committer.add(p.batchOf(b))
	}
}

func (p *proposer) batchOf(b *session.Batch) *batch {
	return &batch{lowWater: b.LowWater, requests: b.Requests, answer: func(outcomes []fsm.Outcome, err error, sure bool) {
		p.Finish(b, outcomes, err, sure)
	}}
}
