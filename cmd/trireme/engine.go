package main

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/session"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/node/pubsub"
	"github.com/trireme-dev/trireme/node/samples"
)

// nodeEngine implements httpapi.Engine and resp.Engine on the node. The servers open before the node
// does: a node that waits for the others of a new cluster answers that it lives but is not
// ready.
type nodeEngine struct {
	node         atomic.Pointer[cluster.Node]
	opened       chan struct{} // closed when node is set
	timeout      time.Duration // bounds a request's wait for the node
	empty        *fsm.Machine  // the state of a node that isn't open
	draining     atomic.Bool
	hub          *pubsub.Hub // of the node's subscribers; set before the node serves
	drained      sync.Once   // see process.drain
	maxStaleness int64       // maximum age of the state of a local read, in milliseconds
}

var (
	_ fsm.RevocationBarrier = (*nodeEngine)(nil)
	_ fsm.SubscriberBarrier = (*nodeEngine)(nil)
)

// oldestLocalRead bounds the age of the state that a partitioned node serves, and so the time for which
// a token that was revoked elsewhere still works there.
const oldestLocalRead = 5 * time.Second

func newEngine(staleForever bool) *nodeEngine {
	e := &nodeEngine{empty: fsm.NewMachine(), opened: make(chan struct{}), timeout: session.Leaderless, maxStaleness: oldestLocalRead.Milliseconds()}
	if staleForever {
		e.maxStaleness = math.MaxInt64
	}
	return e
}

// open makes the node available to requests, those that wait for it included.
func (e *nodeEngine) open(n *cluster.Node) {
	e.node.Store(n)
	close(e.opened)
}

// await returns the node. While the node opens, a request waits as it would without a leader. await returns nil if
// that exceeds timeout.
func (e *nodeEngine) await(ctx context.Context) *cluster.Node {
	if n := e.node.Load(); n != nil {
		return n
	}
	late := time.NewTimer(e.timeout)
	defer late.Stop()
	select {
	case <-e.opened:
	case <-late.C:
	case <-ctx.Done():
	}
	return e.node.Load()
}

// Propose puts a request into the log; see fsm.Proposer.
func (e *nodeEngine) Propose(ctx context.Context, code uint16, body []byte) (any, error) {
	if n := e.await(ctx); n != nil {
		return n.Propose(ctx, code, body)
	}
	return nil, fsm.ErrNoLeader
}

// AwaitUncounted waits until subscribers of this node that leave are no longer counted; see fsm.SubscriberBarrier.
func (e *nodeEngine) AwaitUncounted(ctx context.Context, db string) {
	if e.hub != nil {
		e.hub.AwaitUncounted(ctx, db)
	}
}

// Read runs fn on a state at least as new as r asks for; see fsm.Reader.
func (e *nodeEngine) Read(ctx context.Context, r fsm.Reading, fn func(*fsm.View)) (fsm.ReadAt, error) {
	n := e.await(ctx)
	if n == nil {
		return fsm.ReadAt{}, fsm.ErrNoLeader
	}
	at, err := n.Read(ctx, r, fn)
	if err == nil && r.Mode == fsm.Stale && at.AgeMillis > e.maxStaleness {
		err = fsm.ErrTooStale
	}
	return at, err
}

// largest returns the databases that take most memory, by what this node has.
func (e *nodeEngine) largest(n int) (list []samples.DatabaseFigures) {
	node := e.node.Load()
	if node == nil {
		return nil
	}
	_, err := node.Read(context.Background(), fsm.Reading{Mode: fsm.Stale, Long: true}, func(v *fsm.View) {
		list = nil
		for _, d := range v.LargestDatabases(n) {
			list = append(list, samples.DatabaseFigures{Name: d.Name, Memory: float64(d.Bytes)})
		}
	})
	if err != nil { // the node is closing
		return nil
	}
	return list
}

// WaitRevoked waits until revoked credentials work on no node; see fsm.RevocationBarrier.
func (e *nodeEngine) WaitRevoked(ctx context.Context) error {
	if n := e.node.Load(); n != nil {
		return n.WaitRevoked(ctx)
	}
	return fsm.ErrNoLeader
}

// Local runs fn on this node's present state, however old.
func (e *nodeEngine) Local(fn func(*fsm.View)) {
	m := e.empty
	if n := e.node.Load(); n != nil {
		m = n.Machine()
	}
	m.View(0, [16]byte{}, fn)
}

// Track switches notifications of changed keys on or off; see resp.Engine. Before the node is
// open its state is empty, without keys and users, so there is nothing to switch.
func (e *nodeEngine) Track(on bool) {
	if n := e.node.Load(); n != nil {
		n.Machine().Track(on)
	}
}

// Others returns the ids of the other nodes; see hub.Peers.
func (e *nodeEngine) Others() []string {
	if n := e.node.Load(); n != nil {
		return n.Others()
	}
	return nil
}

// Ask sends a monitor's request to another node; see hub.Peers.
func (e *nodeEngine) Ask(ctx context.Context, node string, question []byte) ([]byte, error) {
	if n := e.node.Load(); n != nil {
		return n.Ask(ctx, node, question)
	}
	return nil, errStarting
}

// readyTimeout bounds a check of readiness.
const readyTimeout = time.Second

// The reasons for which a node is not ready.
var (
	errStarting = errors.New("this node is starting, or waits for the others of a new cluster")
	errDraining = errors.New("this node is stopping: requests are still answered, send new ones to another node")
	errNotReady = errors.New("this node has no leader, or has not caught up with it")
)

// Accepting returns nil if this node's disk has room for writes.
func (e *nodeEngine) Accepting() error {
	if n := e.node.Load(); n != nil {
		return n.Accepting()
	}
	return nil
}

// SlowDiskSince returns since when this node's disk has been slow, the zero time if it is not.
func (e *nodeEngine) SlowDiskSince() (since time.Time) {
	if n := e.node.Load(); n != nil {
		since = n.SlowDiskSince()
	}
	return since
}

// TimeDifference returns how far cluster time and the wall clocks differ; see cluster.Node.TimeDifference.
func (e *nodeEngine) TimeDifference() (ahead, lasts time.Duration) {
	if n := e.node.Load(); n != nil {
		return n.TimeDifference()
	}
	return 0, 0
}

// Ready returns nil if this node has a leader, has caught up with it, and is not about to stop.
func (e *nodeEngine) Ready() error {
	if e.draining.Load() {
		return errDraining
	}
	n := e.node.Load()
	if n == nil {
		return errStarting
	}
	if n.Poison() != nil {
		return fsm.ErrPoison
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	if !n.Ready(ctx) {
		return errNotReady
	}
	return nil
}
