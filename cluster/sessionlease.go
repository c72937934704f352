package cluster

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/wire"
)

const (
	// leaseTime is the time after the start of a quorum check during which a node may check credentials by its own
	// state. So it is also the longest time for which a node may not know of a revocation.
	leaseTime = time.Second
	// leaseMargin is the time by which a revocation is held back longer than leases last, because clocks run at
	// different speeds.
	leaseMargin = leaseTime / 10
	// revocationWait is the time after an outcome within which the leases of all nodes that don't know the outcome have ended.
	revocationWait = leaseTime + leaseMargin
)

// sessionLease records the latest moment for which this node's state is known to hold everything acknowledged before
// it. docs/design/credentials.md has the argument.
type sessionLease struct {
	epoch time.Time
	begun atomic.Int64 // the start, since epoch, of the newest quorum check whose point the machine has reached; 0 = none
}

// renew notes that the machine has reached the point of a quorum check that began then.
func (l *sessionLease) renew(began time.Time) {
	at := int64(began.Sub(l.epoch))
	for was := l.begun.Load(); at > was; was = l.begun.Load() {
		if l.begun.CompareAndSwap(was, at) {
			return
		}
	}
}

// holds reports whether that was within leaseTime.
func (l *sessionLease) holds() bool {
	at := l.begun.Load()
	return at > 0 && time.Since(l.epoch)-time.Duration(at) < leaseTime
}

// readSession reads this node's own state under its lease. It checks the lease before and after: a process that was
// stopped in between has read too old a state. served is false if the read has to be a linearizable one.
func (n *Node) readSession(ctx context.Context, r fsm.Reading, fn func(*fsm.View)) (got fsm.ReadAt, served bool, err error) {
	if !n.lease.holds() {
		return got, false, nil
	}
	if err := n.await(ctx, r.AtLeast); err != nil {
		return got, false, err
	}
	if got, err = n.view(ctx, r, readPoint{}, fn); err != nil {
		return got, false, err
	}
	return got, n.lease.holds(), nil
}

// WaitRevoked returns when no node checks credentials by a state older than everything that was acknowledged before the
// call; see fsm.RevocationBarrier. Usually every server says that it has
// applied that much. For those that don't answer it waits until their leases are over.
func (n *Node) WaitRevoked(ctx context.Context) error {
	over := time.NewTimer(revocationWait)
	defer over.Stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	applied := make(chan struct{})
	go func() {
		if n.appliedEverywhere(ctx) {
			close(applied)
		}
	}()
	select {
	case <-applied:
	case <-over.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// appliedEverywhere reports whether every server has applied what is acknowledged by now.
func (n *Node) appliedEverywhere(ctx context.Context) bool {
	p, err := n.point(ctx)
	if err != nil || n.await(ctx, p.Index) != nil || n.servedRecently() {
		return false
	}
	var behind atomic.Bool
	each(n.others(), func(_ int, s consensus.Server) {
		if _, err := n.peers.Ask(ctx, s.Addr, callReached, uvarint(p.Index)); err != nil {
			behind.Store(true)
		}
	})
	return !behind.Load() && ctx.Err() == nil
}

// answerReached answers when this node's machine has applied an index.
func (n *Node) answerReached(payload []byte, answer func([]byte, error)) {
	r := wire.NewReader(payload)
	index := r.Uvarint()
	if err := r.Done(); err != nil {
		answer(nil, err)
		return
	}
	if n.machine.Reached(index) {
		answer(nil, nil)
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*leaseTime)
		defer cancel()
		answer(nil, n.await(ctx, index))
	}()
}

// reconfigured notes that the servers of the cluster have changed.
func (n *Node) reconfigured() {
	n.changed.Store(int64(time.Since(n.started)))
}

// servedRecently reports whether the servers have changed so recently that one which is no longer among them may still
// hold a lease.
func (n *Node) servedRecently() bool {
	at := n.changed.Load()
	return at > 0 && time.Since(n.started)-time.Duration(at) < revocationWait
}
