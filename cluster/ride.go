package cluster

import (
	"context"
	"slices"
	"time"

	"trireme/cluster/requests"
	"trireme/fsm"
)

// Ride is a request that goes along with an entry that is made for others: behind them, so
// that it finds what they have done, at the price of no entry of its own. Nothing becomes of
// it as long as this node makes no entry that it waits for.
type Ride struct {
	n    *Node
	code uint16
	body []byte
	with func(code uint16) bool

	// boarded is closed when it is part of an entry; at and call are set by then.
	boarded chan struct{}
	at      time.Time
	call    *requests.Call
}

// Ride has a request wait for the next entry that this node makes as the leader and that
// holds a request whose code with accepts. One ride waits at a time: a later one takes the
// place of an earlier one, which never boards then.
func (n *Node) Ride(code uint16, body []byte, with func(code uint16) bool) *Ride {
	r := &Ride{n: n, code: code, body: body, with: with, boarded: make(chan struct{})}
	m := n.committer
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ride = r
	return r
}

// Boarded is closed when the request has become part of an entry, whose outcome Wait gives.
func (r *Ride) Boarded() <-chan struct{} { return r.boarded }

// At is when it boarded, before its entry was stamped.
func (r *Ride) At() time.Time { return r.at }

// Cancel takes the request back. It is false if that is too late.
func (r *Ride) Cancel() bool {
	m := r.n.committer
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-r.boarded:
		return false
	default:
	}
	if m.ride == r {
		m.ride = nil
	}
	return true
}

// Wait gives the outcome of a request that has boarded, as Propose does.
func (r *Ride) Wait(ctx context.Context) (any, error) {
	select {
	case out := <-r.call.Done():
		return out.Value, out.Err
	case <-ctx.Done():
	}
	out := r.n.proposer.Abandon(r.call)
	return out.Value, out.Err
}

// board is the pack of the request that rides along with packs, nil if none does.
func (m *committer) board(packs []*pack) *pack {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.ride
	if r == nil || !slices.ContainsFunc(packs, r.waitsFor) {
		return nil
	}
	k := m.n.proposer.board(r)
	if k != nil {
		m.ride = nil
		r.at = time.Now()
		close(r.boarded)
	}
	return k
}

func (r *Ride) waitsFor(k *pack) bool {
	return slices.ContainsFunc(k.requests, func(q fsm.Request) bool { return r.with(q.Code) })
}

// board gives a ride an identity of this node's session, nil while there is none.
func (p *proposer) board(r *Ride) *pack {
	c, k := p.Board(r.code, r.body)
	if k == nil {
		return nil
	}
	r.call = c
	return &pack{requests: k.Requests, answer: func(outcomes []fsm.Outcome, err error, sure bool) { p.Arrive(k, outcomes, err, sure) }}
}
