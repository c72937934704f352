// Package requests is what one node knows of the requests it has put into the log, or is about to: it gives each an
// identity, says what goes into the next pack for the leader, and what becomes of a request when a pack's answer comes,
// fails, or never comes. It has no goroutines, sends nothing and learns the time from outside, so that the simulation
// runs the same code as the product.
package requests

import (
	"sync"
	"time"

	"trireme/fsm"
)

const (
	// Deadline is how long a request is proposed again before its outcome is given up as
	// unknown.
	Deadline = 10 * time.Second
	// Leaderless is how long there may be no leader before requests that were never sent
	// are refused (decisions 17).
	Leaderless = 5 * time.Second
	// PackBytes cuts packs: raft's own suggestion for an entry.
	PackBytes = 512 << 10
	// FrameCost is what a request costs in a pack beside its body, in bytes.
	FrameCost = 24
	// packsUnderWay is how many packs of a node travel at a time; what waits meanwhile
	// fills the next.
	packsUnderWay = 2
	// maxPending bounds the requests that wait on one node.
	maxPending = 1 << 20
)

// Call is a request that somebody on this node waits for.
type Call struct {
	seq      uint64
	code     uint16
	body     []byte
	deadline time.Time
	// flights counts the tries that may have put it into a log: with none left it was
	// certainly not applied.
	flights int
	done    chan Result
}

// Done gets the outcome once.
func (c *Call) Done() <-chan Result { return c.done }

// Result is the outcome of a request: a value of the operation's result type, an error of
// the operation, or one of those that a fsm.Proposer may say.
type Result struct {
	Value any
	Err   error
}

// Ledger holds the requests of one node process. Its methods may be called by any
// goroutine.
type Ledger struct {
	now  func() time.Time
	wake func()

	mu       sync.Mutex
	session  uint64
	seq      uint64
	pending  map[uint64]*Call // without an outcome
	low      uint64           // no sequence below it is pending
	queue    []*Call          // to be sent, in sequence order
	underWay int
	round    uint64 // changes when packs under way are given up
	pause    bool   // a pack failed: wait before the next try
	since    time.Time
	stopping bool
	most     int // requests that may wait: maxPending
}

// New is a ledger without a session. now is monotonic time; wake is called, with the
// ledger locked, when there may be something to send.
func New(now func() time.Time, wake func()) *Ledger {
	return &Ledger{now: now, wake: wake, pending: map[uint64]*Call{}, seq: 1, low: 1, since: now(), most: maxPending}
}

// Add queues a request. The error is fsm.ErrStopping or fsm.ErrNoLeader: it was not
// queued.
func (p *Ledger) Add(code uint16, body []byte) (*Call, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	switch {
	case p.stopping:
		return nil, fsm.ErrStopping
	case len(p.pending) >= p.most, !p.since.IsZero() && now.Sub(p.since) > Leaderless:
		return nil, fsm.ErrNoLeader
	}
	c := p.enter(code, body, now)
	p.queue = append(p.queue, c)
	if p.underWay < packsUnderWay {
		p.wake()
	}
	return c, nil
}

// enter gives a request the next sequence; the lock is held.
func (p *Ledger) enter(code uint16, body []byte, now time.Time) *Call {
	c := &Call{seq: p.seq, code: code, body: body, deadline: now.Add(Deadline), done: make(chan Result, 1)}
	p.seq++
	p.pending[c.seq] = c
	return c
}

// Session is that of this process, 0 while it has none.
func (p *Ledger) Session() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session
}

// Register notes the session that this process was given.
func (p *Ledger) Register(session uint64) {
	p.mu.Lock()
	p.session = session
	p.mu.Unlock()
}

// Pending is how many requests have no outcome yet.
func (p *Ledger) Pending() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pending)
}

// Resolve wakes those who wait for outcomes of this node's session.
func (p *Ledger) Resolve(outcomes []fsm.Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == 0 {
		return
	}
	for i := range outcomes {
		o := &outcomes[i]
		if o.Session != p.session || o.Status != fsm.Applied {
			continue
		}
		if c := p.pending[o.Seq]; c != nil {
			p.settle(c, Result{o.Value, o.Err})
		}
	}
}

// settle gives a call its outcome; the lock is held.
func (p *Ledger) settle(c *Call, r Result) {
	delete(p.pending, c.seq)
	c.done <- r
}

// Restored gives up on what a snapshot has jumped over: it was applied, but nobody saw
// its outcome. awaits tells whether a request of a session may still be applied.
func (p *Ledger) Restored(awaits func(session, seq uint64) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for seq, c := range p.pending { // unordered: each is judged alone
		if c.flights > 0 && !awaits(p.session, seq) {
			p.settle(c, Result{nil, fsm.ErrUnknown})
		}
	}
}

// End fails everything that waits, and refuses what comes: the node stops.
func (p *Ledger) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopping = true
	for _, c := range p.pending { // unordered: each is told alone
		err := fsm.ErrStopping
		if c.flights > 0 {
			err = fsm.ErrUnknown
		}
		p.settle(c, Result{nil, err})
	}
	p.queue = nil
}
