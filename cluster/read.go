package cluster

import (
	"context"
	crand "crypto/rand"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/session"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

const (
	// maxRounds bounds the read-index rounds that a node has in flight; reads that arrive meanwhile share the next.
	maxRounds = 2
	// roundOverlap is the age of the newest round at which a second one is begun while it is in flight. Rounds on a fast
	// network are over by then: reads that share a round gain more than those that wait for it lose.
	roundOverlap = 2 * time.Millisecond
)

// readPoint is the position at which a read may be served: an index that holds everything acknowledged before the round
// began, and the cluster time to read at.
type readPoint struct {
	consensus.Point
	began time.Time // when this node began to ask for it
}

// round is a read-index round that reads share.
type round struct {
	done  chan struct{}
	point readPoint
	err   error
}

// reader coalesces this node's linearizable reads into rounds.
type reader struct {
	n *Node

	mu       sync.Mutex
	open     *round // takes reads until it is started
	inFlight int
	newest   time.Time // when the last round began
	starting bool      // a loop of start runs
}

// join returns the round of a read that arrived just now.
func (r *reader) join() *round {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = &round{done: make(chan struct{})}
	}
	joined := r.open
	r.start()
	return joined
}

// next waits for the round of a read that arrived just now.
func (r *reader) next(ctx context.Context) (readPoint, error) {
	c := r.join()
	select {
	case <-c.done:
		return c.point, c.err
	default:
	}
	select {
	case <-c.done:
		return c.point, c.err
	case <-ctx.Done():
		return readPoint{}, fsm.ErrNoLeader
	}
}

// room reports whether a further round may begin; the lock is held.
func (r *reader) room() bool {
	return r.inFlight == 0 || r.inFlight < maxRounds && time.Since(r.newest) > roundOverlap
}

// start begins the open round if there is room; the lock is held, but let go while the
// leader is asked. A round that ends at once is followed up by the loop that began it,
// not by another below it.
func (r *reader) start() {
	if r.starting {
		return
	}
	r.starting = true
	for r.open != nil && r.room() {
		c := r.open
		r.open = nil
		r.inFlight++
		began := time.Now()
		r.newest = began
		r.mu.Unlock()
		r.n.readIndex(func(p readPoint, err error) {
			p.began = began
			c.point, c.err = p, err
			close(c.done)
			if err == nil {
				r.n.consensus.LearnCommitIndex(p.Point)
			}
			r.mu.Lock()
			r.inFlight--
			r.start()
			r.mu.Unlock()
		})
		r.mu.Lock()
	}
	r.starting = false
}

// readIndex asks the leader, here or there, for a read point.
func (n *Node) readIndex(answer func(readPoint, error)) {
	leader, ok := n.leader()
	switch {
	case !ok:
		answer(readPoint{}, fsm.ErrNoLeader)
	case leader.ID == n.identity.NodeID:
		n.quorum.join(answer)
	default:
		n.peers.readIndex(leader, n.consensus.Term(), answer)
	}
}

// Read runs fn on a state as new as r asks; see fsm.Reader.
func (n *Node) Read(ctx context.Context, r fsm.Reading, fn func(*fsm.View)) (fsm.ReadAt, error) {
	if n.Poison() != nil {
		return fsm.ReadAt{}, fsm.ErrPoison
	}
	if r.Mode == fsm.Stale {
		return n.readStale(ctx, r, fn)
	}
	if r.Mode == fsm.SessionRead {
		if at, served, err := n.readSession(ctx, r, fn); served || err != nil {
			return at, err
		}
	}
	p, err := n.point(ctx)
	if err != nil {
		return fsm.ReadAt{}, err
	}
	if err := n.await(ctx, p.Index); err != nil { // usually there is nothing to wait for
		return fsm.ReadAt{}, err
	}
	n.lease.renew(p.began)
	if err := n.await(ctx, r.AtLeast); err != nil {
		return fsm.ReadAt{}, err
	}
	return n.view(ctx, r, p, fn)
}

// readStale reads what this node has. The age is taken after the read as well: the
// process may have been stopped meanwhile.
func (n *Node) readStale(ctx context.Context, r fsm.Reading, fn func(*fsm.View)) (fsm.ReadAt, error) {
	if err := n.await(ctx, r.AtLeast); err != nil {
		return fsm.ReadAt{}, err
	}
	before := n.age()
	began := time.Now()
	got, err := n.view(ctx, r, readPoint{}, fn)
	got.AgeMillis = before + time.Since(began).Milliseconds()
	return got, err
}

// view runs fn on this node's state at the time of p. If that takes long, it waits for the turn of its database first.
func (n *Node) view(ctx context.Context, r fsm.Reading, p readPoint, fn func(*fsm.View)) (fsm.ReadAt, error) {
	var seen struct { // together: the closure has it on the heap
		fsm.ReadAt
		barred  error
		replied int64
	}
	see := func(v *fsm.View) {
		v.Until(ctx.Done())
		seen.Index, seen.Now = v.Index(), v.Now()
		if !v.Bounded() {
			fn(v)
			seen.barred, seen.replied = v.Barred(), v.Replied()
			return
		}
		began := time.Now()
		fn(v)
		seen.barred = v.Barred()
		n.metrics.heldByRead.Observe(time.Since(began).Seconds())
	}
	if !r.Long && n.machine.ViewBriefly(env.Time{Now: p.Now, Wall: p.Wall}, seed(), see) {
		return seen.ReadAt, seen.barred
	}
	release, err := n.admitLong(ctx, &r)
	if err != nil {
		return fsm.ReadAt{}, err
	}
	defer func() { release(seen.replied) }()
	n.machine.ViewFork(env.Time{Now: p.Now, Wall: p.Wall}, seed(), see)
	return seen.ReadAt, seen.barred
}

// random fills b for reads that draw passwords and tokens.
func random(b []byte) { _, _ = crand.Read(b) } // never fails (crypto/rand)

// seed feeds random reads: they are not replicated, so any chance will do.
func seed() (s [16]byte) {
	for i := 0; i < len(s); i += 8 {
		v := rand.Uint64()
		for j := range 8 {
			s[i+j] = byte(v >> (8 * j))
		}
	}
	return s
}

// point returns a read point, asked for again while leaders change.
func (n *Node) point(ctx context.Context) (readPoint, error) {
	if p, err := n.reader.next(ctx); err == nil {
		return p, nil
	}
	return n.pointAgain(ctx)
}

// pointAgain asks for a new read point, never using one twice, until there is one or
// the request's time is over.
func (n *Node) pointAgain(ctx context.Context) (readPoint, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, session.Deadline)
	defer cancel()
	for pause(ctx, retryPause) {
		if p, err := n.reader.next(ctx); err == nil {
			return p, nil
		}
		if _, known := n.leader(); !known && time.Since(began) > session.Leaderless {
			break
		}
	}
	return readPoint{}, fsm.ErrNoLeader
}

// await waits until this node's machine has applied index.
func (n *Node) await(ctx context.Context, index uint64) error {
	if n.machine.Reached(index) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, session.Deadline)
	defer cancel()
	for {
		applied, next := n.machine.Applied()
		if applied >= index {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return fsm.ErrTooStale
		}
	}
}

// age bounds how old a state that was not confirmed by the leader may be.
func (n *Node) age() int64 {
	if n.consensus.Role() == consensus.Leader {
		return 0
	}
	last := n.consensus.LastContact()
	if last.IsZero() {
		return time.Since(n.started).Milliseconds()
	}
	return time.Since(last).Milliseconds()
}
