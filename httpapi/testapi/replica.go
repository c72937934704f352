package testapi

import (
	"context"

	"github.com/trireme-dev/trireme/fsm"
)

// Replica is a node of a cluster, as far as the API under /test looks at it.
type Replica interface {
	fsm.Proposer
	// Now returns cluster time in unix milliseconds.
	Now() int64
	Machine() *fsm.Machine
}

// OfReplica returns the node that open returns. Before the node is open, open returns nil: then time is 0 and nothing is due.
func OfReplica(open func() Replica) Node { return replica(open) }

type replica func() Replica

// Now returns cluster time in unix milliseconds, or 0 before the node is open.
func (r replica) Now() int64 {
	if n := r(); n != nil {
		return n.Now()
	}
	return 0
}

// Tick writes an entry, whose stamp is the clock's time.
func (r replica) Tick(ctx context.Context) error {
	n := r()
	if n == nil {
		return fsm.ErrNoLeader
	}
	_, err := fsm.Do(ctx, n, fsm.Advance, fsm.AdvanceLimit{Sweep: 200})
	return err
}

// NextDue returns the earliest time at which a message, a step, a wait or a schedule is due.
func (r replica) NextDue() (unixms int64, ok bool) {
	if n := r(); n != nil {
		return n.Machine().NextMessage()
	}
	return 0, false
}

// Deliveries returns the number of claimed deliveries and NextDue, both from one state.
func (r replica) Deliveries() (underWay int, due int64, ok bool) {
	if n := r(); n != nil {
		return n.Machine().Deliveries()
	}
	return 0, 0, false
}

// Changed returns a channel that the next entry closes.
func (r replica) Changed() <-chan struct{} {
	if n := r(); n != nil {
		_, next := n.Machine().Applied()
		return next
	}
	return nil
}

// Reset empties the server.
func (r replica) Reset(ctx context.Context) error {
	n := r()
	if n == nil {
		return fsm.ErrNoLeader
	}
	_, err := fsm.Do(ctx, n, fsm.Reset, fsm.Empty{})
	return err
}
