package main

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"trireme/cluster"
	"trireme/fsm"
)

// engine is the node as the HTTP edge sees it. The edge is open before the node is:
// a node that waits for the others of a new cluster answers that it lives and that it
// is not ready.
type engine struct {
	node  atomic.Pointer[cluster.Node]
	empty *fsm.Machine // the state of a node that isn't open
	// oldest is how old, in milliseconds, the state of a local read may be.
	oldest int64
}

// oldestLocalRead bounds how long a node that is cut off serves what it last knew: a
// token that was revoked meanwhile works there no longer than this.
const oldestLocalRead = 5 * time.Second

func newEngine(staleForever bool) *engine {
	e := &engine{empty: fsm.NewMachine(), oldest: oldestLocalRead.Milliseconds()}
	if staleForever {
		e.oldest = math.MaxInt64
	}
	return e
}

// Propose puts a request into the log; see fsm.Proposer.
func (e *engine) Propose(ctx context.Context, code uint16, body []byte) (any, error) {
	if n := e.node.Load(); n != nil {
		return n.Propose(ctx, code, body)
	}
	return nil, fsm.ErrNoLeader
}

// Read runs fn on a state as new as r asks; see fsm.Reader.
func (e *engine) Read(ctx context.Context, r fsm.Reading, fn func(*fsm.View)) (fsm.ReadAt, error) {
	n := e.node.Load()
	if n == nil {
		return fsm.ReadAt{}, fsm.ErrNoLeader
	}
	at, err := n.Read(ctx, r, fn)
	if err == nil && r.Mode == fsm.Stale && at.AgeMillis > e.oldest {
		err = fsm.ErrTooStale
	}
	return at, err
}

// Settle waits until what was revoked works on no node; see fsm.Settler.
func (e *engine) Settle(ctx context.Context) error {
	if n := e.node.Load(); n != nil {
		return n.Settle(ctx)
	}
	return fsm.ErrNoLeader
}

// Local runs fn on the state of this node as it is.
func (e *engine) Local(fn func(*fsm.View)) {
	m := e.empty
	if n := e.node.Load(); n != nil {
		m = n.Machine()
	}
	m.View(0, [16]byte{}, fn)
}

// Track asks for notes of keys that change, or takes that back; see resp.Engine. Nobody
// can wait for keys before the node is open: its state is empty, and nobody a user of it.
func (e *engine) Track(on bool) {
	if n := e.node.Load(); n != nil {
		n.Machine().Track(on)
	}
}

// Others are the ids of the other nodes; see hub.Peers.
func (e *engine) Others() []string {
	if n := e.node.Load(); n != nil {
		return n.Others()
	}
	return nil
}

// Ask puts a monitor's question to another node; see hub.Peers.
func (e *engine) Ask(ctx context.Context, node string, question []byte) ([]byte, error) {
	if n := e.node.Load(); n != nil {
		return n.Ask(ctx, node, question)
	}
	return nil, errStarting
}

// readyWithin is how long a node may take to say that it is ready.
const readyWithin = time.Second

// The reasons for which a node is not ready.
var (
	errStarting = errors.New("this node is starting, or waits for the others of a new cluster")
	errNotReady = errors.New("this node has no leader, or has not caught up with it")
)

// Ready is nil if this node has a leader and has caught up with it.
func (e *engine) Ready() error {
	n := e.node.Load()
	if n == nil {
		return errStarting
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	if !n.Ready(ctx) {
		return errNotReady
	}
	return nil
}
