package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/cluster/session"
	"github.com/trireme-dev/trireme/fsm"
)

// A Piggyback is a request attached to the next log entry that contains a matching request: after the others, so that it
// finds their effects, and without an entry of its own. It is proposed only together with such an entry.
type Piggyback struct {
	n    *Node
	code uint16
	body []byte
	with func(code uint16) bool

	// attached is closed when it is part of an entry; at and call are set by then.
	attached chan struct{}
	at       time.Time
	call     *session.Call
}

// Piggyback attaches a request to the next entry that this node makes as the leader and that holds a request whose code
// with accepts. One piggyback waits at a time: a later one replaces an earlier one, which is never attached then.
func (n *Node) Piggyback(code uint16, body []byte, with func(code uint16) bool) *Piggyback {
	r := &Piggyback{n: n, code: code, body: body, with: with, attached: make(chan struct{})}
	m := n.committer
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pendingPiggyback = r
	return r
}

// Attached is closed when the request has become part of an entry, whose outcome Wait returns.
func (p *Piggyback) Attached() <-chan struct{} { return p.attached }

// At returns the time at which the request was attached, before its entry was stamped.
func (p *Piggyback) At() time.Time { return p.at }

// Cancel withdraws the request. It returns false if the request was attached already.
func (p *Piggyback) Cancel() bool {
	m := p.n.committer
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-p.attached:
		return false
	default:
	}
	if m.pendingPiggyback == p {
		m.pendingPiggyback = nil
	}
	return true
}

// Wait returns the outcome of an attached request, as Propose does.
func (p *Piggyback) Wait(ctx context.Context) (any, error) {
	select {
	case out := <-p.call.Done():
		return out.Value, out.Err
	case <-ctx.Done():
	}
	out := p.n.proposer.Cancel(p.call)
	return out.Value, out.Err
}

// attachPiggyback returns the batch of the request that is attached to batches, nil if there is none.
func (gc *groupCommitter) attachPiggyback(batches []*batch) *batch {
	gc.mu.Lock()
	defer gc.mu.Unlock()
	r := gc.pendingPiggyback
	if r == nil || !slices.ContainsFunc(batches, r.matches) {
		return nil
	}
	b := gc.n.proposer.attachPiggyback(r)
	if b != nil {
		gc.pendingPiggyback = nil
		r.at = time.Now()
		close(r.attached)
	}
	return b
}

func (p *Piggyback) matches(b *batch) bool {
	return slices.ContainsFunc(b.requests, func(q fsm.Request) bool { return p.with(q.Code) })
}

// attachPiggyback gives a piggyback an identity of this node's session; nil while there is none.
func (p *proposer) attachPiggyback(r *Piggyback) *batch {
	c, k := p.AttachRequest(r.code, r.body)
	if k == nil {
		return nil
	}
	r.call = c
	return &batch{requests: k.Requests, answer: func(outcomes []fsm.Outcome, err error, sure bool) { p.FinishPiggyback(k, outcomes, err, sure) }}
}
