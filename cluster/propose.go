package cluster

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"trireme/failpoint"
	"trireme/fsm"
)

const (
	// requestDeadline is how long a request is proposed again before its outcome is
	// given up as unknown.
	requestDeadline = 10 * time.Second
	// leaderless is how long there may be no leader before requests that were never
	// sent are refused (decisions 17).
	leaderless = 5 * time.Second
	// packBytes cuts packs and entries: raft's own suggestion for an entry.
	packBytes = 512 << 10
	// packsUnderWay is how many packs of a node travel at a time; what waits meanwhile
	// fills the next.
	packsUnderWay = 2
	// entriesUnderWay is how many entries a leader has in raft at a time.
	entriesUnderWay = 2
	// overlapBytes is what must wait before an entry is begun beside one that is under
	// way. Small entries gain more from being one: on two cores SET over 64 connections
	// makes 12 to 14 % less with two, and its requests cost a quarter more processor time
	// on all nodes. Large ones gain from writing to the disks while the other is applied.
	overlapBytes = 64 << 10
	// maxRequestBytes is the largest request that can be an entry (decisions 18).
	maxRequestBytes = 48<<20 + 64<<10
	// maxPending bounds the requests that wait on one node.
	maxPending = 1 << 20
	frameCost  = 24
)

// call is a request that somebody on this node waits for.
type call struct {
	seq      uint64
	code     uint16
	body     []byte
	deadline time.Time
	// flights counts the tries that may have put it into a log: with none left it was
	// certainly not applied.
	flights int
	done    chan result
}

type result struct {
	value any
	err   error
}

// proposer is the node's side of group commit: it gives every request an identity,
// packs what waits, sends packs to whoever leads, and sends again what has no
// outcome when the leader changes. An outcome comes from the leader's answer or from
// this node's own machine, whichever is first.
type proposer struct {
	n *Node

	mu       sync.Mutex
	session  uint64
	seq      uint64
	pending  map[uint64]*call // without an outcome
	low      uint64           // no sequence below it is pending
	queue    []*call          // to be sent, in sequence order
	underWay int
	round    uint64 // changes when packs under way are given up
	pause    bool   // a pack failed: wait before the next try
	since    time.Time
	stopping bool
	wake     chan struct{}
}

func newProposer(n *Node) *proposer {
	return &proposer{n: n, pending: map[uint64]*call{}, wake: make(chan struct{}, 1), seq: 1, low: 1, since: time.Now()}
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
	p := n.proposer
	c, err := p.add(code, body)
	if err != nil {
		return nil, err
	}
	select {
	case r := <-c.done: // also when its deadline has passed: see overdue
		return r.value, r.err
	case <-ctx.Done():
	}
	return p.abandon(c)
}

func (p *proposer) add(code uint16, body []byte) (*call, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.stopping:
		return nil, fsm.ErrStopping
	case len(p.pending) >= maxPending, !p.since.IsZero() && time.Since(p.since) > leaderless:
		return nil, fsm.ErrNoLeader
	}
	c := p.enter(code, body)
	p.queue = append(p.queue, c)
	if p.underWay < packsUnderWay {
		p.nudge()
	}
	return c, nil
}

// enter gives a request the next sequence; the lock is held.
func (p *proposer) enter(code uint16, body []byte) *call {
	c := &call{seq: p.seq, code: code, body: body, deadline: time.Now().Add(requestDeadline), done: make(chan result, 1)}
	p.seq++
	p.pending[c.seq] = c
	return c
}

// resolve wakes those who wait for outcomes of this node's session.
func (p *proposer) resolve(outcomes []fsm.Outcome) {
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
			delete(p.pending, o.Seq)
			c.done <- result{o.Value, o.Err}
		}
	}
}

// afterRestore gives up on what a snapshot has jumped over: it was applied, but
// nobody saw its outcome.
func (p *proposer) afterRestore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for seq, c := range p.pending { // unordered: each is judged alone
		if c.flights > 0 && !p.n.machine.Awaits(p.session, seq) {
			delete(p.pending, seq)
			c.done <- result{nil, fsm.ErrUnknown}
		}
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
			p.end()
			return
		}
		for p.step(ctx) {
		}
	}
}

// step sends one pack, or finds out why not. It is false when there is nothing to do
// until the next nudge.
func (p *proposer) step(ctx context.Context) bool {
	p.mu.Lock()
	idle := len(p.queue) == 0 || p.underWay >= packsUnderWay
	session, pause := p.session, p.pause
	p.pause = false
	p.mu.Unlock()
	if idle || ctx.Err() != nil {
		return false
	}
	if pause {
		p.sleep(ctx, retryPause)
	}
	leader, ok := p.n.leader()
	p.lead(ok)
	if !ok {
		p.sleep(ctx, retryPause)
		p.expire()
		return true
	}
	if session == 0 {
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

// end fails everything that waits: the node stops.
func (p *proposer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopping = true
	for seq, c := range p.pending { // unordered: each is told alone
		delete(p.pending, seq)
		err := fsm.ErrStopping
		if c.flights > 0 {
			err = fsm.ErrUnknown
		}
		c.done <- result{nil, err}
	}
	p.queue = nil
}

// send takes what waits, up to packBytes, and sends it to the leader.
func (p *proposer) send(leader peerAddr) {
	p.mu.Lock()
	size, count := 0, 0
	k := &pack{mark: fsm.Mark{Session: p.session, Below: p.lowest()}}
	for _, c := range p.queue {
		if p.pending[c.seq] != c { // given up by its client
			count++
			continue
		}
		if size += len(c.body) + frameCost; size > packBytes && len(k.requests) > 0 {
			break
		}
		count++
		c.flights++
		k.requests = append(k.requests, fsm.Request{Session: p.session, Seq: c.seq, Code: c.code, Body: c.body})
	}
	p.queue = p.queue[count:]
	if len(k.requests) == 0 {
		p.mu.Unlock()
		return
	}
	p.underWay++
	round := p.round
	p.mu.Unlock()
	k.answer = func(outcomes []fsm.Outcome, err error, sure bool) { p.finish(k, round, outcomes, err, sure) }
	failpoint.Eval(failpoint.BeforePropose)
	p.n.submit(leader, k)
}

// lowest is the least sequence that is still awaited; the lock is held.
func (p *proposer) lowest() uint64 {
	for p.low < p.seq && p.pending[p.low] == nil {
		p.low++
	}
	return p.low
}

// finish takes in a pack's answer.
func (p *proposer) finish(k *pack, round uint64, outcomes []fsm.Outcome, err error, sure bool) {
	p.resolve(outcomes)
	p.mu.Lock()
	defer p.mu.Unlock()
	again, gone := err != nil, false
	for i := range k.requests {
		c := p.pending[k.requests[i].Seq]
		if c == nil || k.mark.Session != p.session {
			continue
		}
		refused := i < len(outcomes) && outcomes[i].Status == fsm.Refused
		again = again || refused
		gone = gone || (i < len(outcomes) && outcomes[i].Status == fsm.Gone)
		if refused || (err != nil && sure) {
			c.flights--
		}
	}
	if gone {
		p.drop()
	} else if round == p.round { // otherwise this try was given up meanwhile
		p.underWay--
		if again {
			p.resend()
		}
	}
	p.nudge()
}

// resend queues everything without an outcome again, in sequence order before what
// is new.
func (p *proposer) resend() {
	p.round++
	p.underWay = 0
	p.pause = true
	p.queue = nil
	for _, c := range p.pending { // unordered: sorted below
		p.queue = append(p.queue, c)
	}
	slices.SortFunc(p.queue, func(a, b *call) int { return cmp.Compare(a.seq, b.seq) })
}

// drop ends the session: what was ever sent under it is unknown, the rest moves to
// the next one.
func (p *proposer) drop() {
	p.session = 0
	for seq, c := range p.pending { // unordered: each is told alone
		if c.flights > 0 {
			delete(p.pending, seq)
			c.done <- result{nil, fsm.ErrUnknown}
		}
	}
	p.resend()
}
