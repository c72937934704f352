package cluster

import (
	"context"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/fsm"
)

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
	done := make(chan result, 1)
	n.submit(to, &batch{requests: []fsm.Request{{Code: code, Body: body}}, answer: func(o []fsm.Outcome, err error, _ bool) {
		switch {
		case err != nil:
			done <- result{nil, err}
		case len(o) != 1 || o[0].Status != fsm.Applied:
			done <- result{nil, fsm.ErrUnknown}
		default:
			done <- result{o[0].Value, o[0].Err}
		}
	}})
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
