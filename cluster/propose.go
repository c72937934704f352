package cluster

import (
	"context"
	"time"

	"trireme/cluster/requests"
	"trireme/failpoint"
	"trireme/fsm"
)

const (
	// packBytes cuts entries as it cuts packs.
	packBytes = requests.PackBytes
	// entriesUnderWay is how many entries a leader has in raft at a time.
	entriesUnderWay = 2
	// overlapBytes is what must wait before an entry is begun beside one that is under
	// way. Small entries gain more from being one: on two cores SET over 64 connections
	// makes 12 to 14 % less with two, and its requests cost a quarter more processor time
	// on all nodes. Large ones gain from writing to the disks while the other is applied.
	overlapBytes = 64 << 10
	// maxRequestBytes is the largest request that can be an entry (decisions 18).
	maxRequestBytes = 48<<20 + 64<<10
)

type result struct {
	value any
	err   error
}

// proposer is the node's side of group commit: its ledger gives every request an
// identity and packs what waits; the proposer sends packs to whoever leads, and sends
// again what has no outcome when the leader changes. An outcome comes from the leader's
// answer or from this node's own machine, whichever is first.
type proposer struct {
	n *Node
	*requests.Ledger
	wake chan struct{}
}

func newProposer(n *Node) *proposer {
	p := &proposer{n: n, wake: make(chan struct{}, 1)}
	p.Ledger = requests.New(time.Now, p.nudge)
	return p
}

func (p *proposer) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Propose puts a request into the log and waits for its outcome; see fsm.Proposer.
func (n *Node) Propose(ctx context.Context, code uint16, body []byte) (any, error) {
	if len(body) > maxRequestBytes {
		return nil, fsm.ErrTooLarge
	}
	if code == fsm.Exec.Code && n.store.Accepting() != nil {
		return nil, fsm.ErrLowSpace
	}
	c, err := n.proposer.Add(code, body)
	if err != nil {
		return nil, err
	}
	select {
	case r := <-c.Done(): // also when its deadline has passed: see Ledger.Overdue
		return r.Value, r.Err
	case <-ctx.Done():
	}
	r := n.proposer.Abandon(c)
	return r.Value, r.Err
}

// afterRestore gives up on what a snapshot has jumped over, and on the session if that was among it: a backup may have
// been restored there.
func (p *proposer) afterRestore() {
	p.Restored(p.n.machine.Awaits)
	p.leave()
}

// leave ends this process's session if the state has it no more.
func (p *proposer) leave() {
	if s := p.Session(); s != 0 && !p.n.machine.Knows(s) {
		p.Lose()
	}
}

// run sends packs until ctx ends.
func (p *proposer) run(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.wake:
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

// step sends one pack, or finds out why not. It is false when there is nothing to do
// until the next nudge.
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

// retryPause is how long to wait before asking again who leads: a killed leader is
// replaced within some tens of milliseconds.
const retryPause = 3 * time.Millisecond

func (p *proposer) sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// send takes what waits, as much as one pack holds, and sends it to the leader.
func (p *proposer) send(leader peerAddr) {
	if k := p.Take(); k != nil {
		failpoint.Eval(failpoint.BeforePropose)
		p.n.submit(leader, p.packOf(k))
	}
}

// join gives the committer of this node, which leads and is about to make an entry, what
// has come since the last pack.
func (p *proposer) join() {
	if k := p.TakeMore(); k != nil {
		failpoint.Eval(failpoint.BeforePropose)
		p.n.committer.take(p.packOf(k))
	}
}

func (p *proposer) packOf(k *requests.Pack) *pack {
	return &pack{mark: k.Mark, requests: k.Requests, answer: func(outcomes []fsm.Outcome, err error, sure bool) {
		p.Finish(k, outcomes, err, sure)
	}}
}
