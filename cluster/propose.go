package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"runtime"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/session"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/internal/failpoint"
)

const (
	// maxBatchBytes bounds entries as it bounds batches.
	maxBatchBytes = session.MaxBatchBytes
	// maxEntries bounds the entries that a leader has in raft at a time.
	maxEntries = 2
	// overlapBytes is the size in bytes that must wait before an entry is begun while another is in flight. Small
	// entries gain more from being one, large ones from writing to the disks while the other is applied.
	overlapBytes = 32 << 10
	// maxRequestBytes is the largest request that can be an entry: raft's transport has no
	// limit of its own, but an entry is held in memory several times on its way.
	maxRequestBytes = 48<<20 + 64<<10
)

// Accepting returns nil while this node's disk has room for writes; otherwise the error says how much is free and how much is needed.
func (n *Node) Accepting() error { return n.store.Accepting() }

// Propose puts a request into the log and waits for its outcome; see fsm.Proposer.
func (n *Node) Propose(ctx context.Context, code uint16, body []byte) (any, error) {
	if n.Poison() != nil {
		return nil, fsm.ErrPoison
	}
	if len(body) > maxRequestBytes {
		return nil, fsm.ErrTooLarge
	}
	if err := fsm.Permitted(code, n.machine.Level()); err != nil {
		return nil, err
	}
	if code == fsm.Exec.Code && n.store.Accepting() != nil {
		return nil, fsm.ErrLowSpace
	}
	c, err := n.proposer.AddOf(n.sharing(code, body), code, body)
	if err != nil {
		return nil, err
	}
	select {
	case r := <-c.Done(): // also when its deadline has passed: see Tracker.Overdue
		return r.Value, r.Err
	case <-ctx.Done():
	}
	r := n.proposer.Cancel(c)
	return r.Value, r.Err
}

// sharing returns the database that is charged for a request, empty while there is only one.
func (n *Node) sharing(code uint16, body []byte) string {
	if n.machine.Databases() < 2 {
		return ""
	}
	name, ok := fsm.DatabaseOf(code, body)
	switch {
	case !ok:
		return ""
	case len(name) == 0:
		return fsm.DefaultDB
	}
	return string(name)
}

// step sends one batch, or finds out why not. It returns false when there is nothing to do until the next nudge.
func (p *proposer) step(ctx context.Context) bool {
	failed := p.Paused()
	if p.Idle() || ctx.Err() != nil {
		return false
	}
	if failed {
		pause(ctx, retryPause)
	}
	leader, ok := p.n.leader()
	p.Lead(ok)
	if !ok {
		pause(ctx, retryPause)
		p.expire()
		return true
	}
	if p.Session() == 0 {
		if !p.register(ctx, leader) {
			pause(ctx, retryPause)
		}
		return true
	}
	p.send(leader)
	return true
}

// send sends what waits to the leader, as much as one batch holds.
func (p *proposer) send(leader consensus.Server) {
	if b := p.Take(); b != nil {
		failpoint.Eval(failpoint.BeforePropose)
		p.n.submit(leader, p.batchOf(b))
	}
}

// sendMore adds what has come since the last batch to the entry that this node, as the leader, is about to make.
func (p *proposer) sendMore() {
	if b := p.TakeMore(); b != nil {
		failpoint.Eval(failpoint.BeforePropose)
		p.n.committer.add(p.batchOf(b))
	}
}

func (p *proposer) batchOf(b *session.Batch) *batch {
	return &batch{lowWater: b.LowWater, requests: b.Requests, answer: func(outcomes []fsm.Outcome, err error, sure bool) {
		p.Finish(b, outcomes, err, sure)
	}}
}

// submit hands a batch to the leader, this node or another.
func (n *Node) submit(to consensus.Server, b *batch) {
	if to.ID == n.identity.NodeID {
		n.committer.add(b)
		return
	}
	n.peers.propose(to, b)
}

// add queues a batch for the next entry.
func (gc *groupCommitter) add(b *batch) {
	b.costly = gc.n.costly(b) || gc.n.large(b)
	gc.mu.Lock()
	if gc.term == 0 || gc.n.Poison() != nil { // a term that waits before a poison entry may not open for days
		gc.mu.Unlock()
		b.answer(nil, errNotLeading, true)
		return
	}
	gc.enqueue(b)
	gc.mu.Unlock()
	gc.nudge()
}

// next takes the batches of one entry, which is in flight from then on.
func (gc *groupCommitter) next() ([]*batch, uint64) {
	gc.mu.Lock()
	defer gc.mu.Unlock()
	if !gc.ready || len(gc.queue) == 0 || gc.inFlight >= maxEntries {
		return nil, 0
	}
	if gc.inFlight > 0 && !gc.costly.mayOverlap() {
		return nil, 0
	}
	if gc.costly.waiting > 0 {
		gc.separate()
	}
	if gc.large != nil && gc.queue[0].costly {
		return nil, 0 // one after the other
	}
	size, count := 0, 0
	for _, b := range gc.queue {
		if b.costly != gc.queue[0].costly {
			break
		}
		if size += b.size(); size > maxBatchBytes && count > 0 {
			break
		}
		count++
	}
	if gc.inFlight > 0 && (size < overlapBytes || gc.queue[0].costly) {
		return nil, 0
	}
	batches := gc.queue[:count:count]
	gc.queue = gc.queue[count:]
	gc.costly.took(batches, gc.large != nil)
	gc.inFlight++
	return batches, gc.term
}

// entry returns an entry of this leader, stamped now.
func (n *Node) entry(term uint64) *fsm.Entry {
	at := n.clock.Stamp()
	e := &fsm.Entry{Term: term, Stamp: at.Now, Held: at.Now - at.Wall, SetBack: n.clock.SetBack(), Leapt: n.clock.Leapt()}
	rand.Read(e.Seed[:])
	return e
}

// commit puts batches into one entry and answers them when it has been applied.
func (gc *groupCommitter) commit(term uint64, batches []*batch) {
	costly := batches[0].costly
	b, room := gc.makeRoom(batches)
	if b != nil {
		batches = append([]*batch{b}, batches...)
	}
	if b := gc.attachPiggyback(batches); b != nil {
		batches = append(batches, b)
	}
	in := &entryInRaft{batches: batches, room: room, costly: costly, term: term}
	requests := in.requests()
	gc.n.metrics.batch(len(requests))
	if costly && gc.n.inFragments(fsm.RequestsSize(requests)) {
		gc.beginFragments(in, requests)
		return
	}
	e := gc.n.entry(term)
	e.LowWaters, e.Requests = in.lowWaters(), requests
	in.stamp = e.Stamp
	gc.propose(in, e.Encode())
}

// propose gives raft the data of an entry, and answers its batches when it has been applied.
func (gc *groupCommitter) propose(in *entryInRaft, data []byte) {
	p := gc.n.consensus.Propose(data)
	failpoint.Eval(failpoint.AfterPropose)
	if !gc.enter(in) {
		return
	}
	go func() { // it never ends if raft has lost the entry
		outcomes, err := wait(p)
		if !gc.leave(in) {
			return
		}
		defer gc.wg.Done()
		gc.n.clock.Done(in.stamp)
		gc.evictor.release(in.room)
		if err == nil && len(outcomes) < in.count() { // fragments of a term that is over
			err = consensus.ErrNotLeader
		}
		if err == nil && gc.last() { // otherwise the next entry carries it
			gc.n.consensus.PushCommitIndex(in.term)
		}
		for _, b := range in.batches {
			var mine []fsm.Outcome
			if err == nil {
				mine, outcomes = outcomes[:len(b.requests)], outcomes[len(b.requests):]
			}
			b.answer(mine, err, consensus.NotLogged(err))
		}
		runtime.Gosched() // those answered go first: their next requests may join the next entry
		gc.done(in)
	}()
}

// wait returns the outcomes of an entry.
func wait(p consensus.Proposal) ([]fsm.Outcome, error) {
	answer, err := p.Wait()
	if err != nil {
		return nil, err
	}
	switch r := answer.(type) {
	case []fsm.Outcome:
		return r, nil
	case refusal:
		return nil, r.err
	}
	return nil, errors.New("cluster: raft answered without an outcome")
}
