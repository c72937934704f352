package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"runtime"
	"sync"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/internal/failpoint"
)

// errNotLeading says that this node can't take a batch: it certainly did nothing with it.
var errNotLeading = errors.New("cluster: this node does not lead")

// groupCommitter is the leader's side of group commit: batches of all nodes that wait together become one log entry. A
// second entry is begun while one is in flight only when it is large.
type groupCommitter struct {
	n *Node

	mu       sync.Mutex
	term     uint64 // of the batches that wait; 0 while this node does not lead
	ready    bool   // the term's first entry has been applied
	queue    []*batch
	inFlight int // entries in raft
	costly   costlyTurns
	large    *largeEntry // whose fragments are being written; nil if there is none
	wake     chan struct{}
	wg       sync.WaitGroup // one for each entry in raft
	entries  map[*entryInRaft]bool
	stopped  bool          // raft has ended
	gone     chan struct{} // closed then

	pendingPiggyback *Piggyback
	evictor          evictor
}

func newGroupCommitter(n *Node) *groupCommitter {
	return &groupCommitter{n: n, wake: make(chan struct{}, 1), gone: make(chan struct{}), entries: map[*entryInRaft]bool{}}
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

func (gc *groupCommitter) nudge() {
	select {
	case gc.wake <- struct{}{}:
	default:
	}
}

// startTerm opens the queue for a term; batches wait until openTerm.
func (gc *groupCommitter) startTerm(term uint64) {
	gc.mu.Lock()
	gc.term, gc.ready = term, false
	gc.mu.Unlock()
}

// openTerm lets batches into the log: the term's first entry has been applied.
func (gc *groupCommitter) openTerm(term uint64) {
	gc.mu.Lock()
	gc.ready = gc.term == term
	gc.mu.Unlock()
	gc.nudge()
}

// endTerm refuses what waits: it never entered the log.
func (gc *groupCommitter) endTerm() {
	gc.mu.Lock()
	queue, large := gc.queue, gc.large
	gc.term, gc.ready, gc.queue, gc.large = 0, false, nil, nil
	gc.costly.waiting, gc.costly.turn = 0, false
	gc.mu.Unlock()
	if large != nil {
		gc.refuse(large.in, errNotLeading)
	}
	for _, b := range queue {
		b.answer(nil, errNotLeading, true)
	}
}

// run makes entries until ctx ends.
func (gc *groupCommitter) run(ctx context.Context) {
	defer gc.wg.Wait()
	for {
		select {
		case <-gc.wake:
		case <-ctx.Done():
			gc.endTerm()
			return
		}
		for {
			if gc.idle() {
				gc.coalesce()
			}
			if large := gc.nextFragment(); large != nil {
				gc.writeFragment(large)
				continue
			}
			batches, term := gc.next()
			if len(batches) == 0 {
				break
			}
			gc.commit(term, batches)
		}
	}
}

// coalesce lets goroutines run that are about to propose something, as long as that brings requests: an entry of one
// request costs as much as one of all, and all would wait for it. No goroutine sleeps; with nothing else to run it returns at
// once.
func (gc *groupCommitter) coalesce() {
	for had := -1; ; {
		has := gc.n.proposer.Waiting()
		if has <= had {
			break
		}
		had = has
		runtime.Gosched()
	}
	gc.n.proposer.sendMore()
}

// idle reports whether no entry is in flight and something waits.
func (gc *groupCommitter) idle() bool {
	gc.mu.Lock()
	defer gc.mu.Unlock()
	return gc.ready && gc.inFlight == 0 && len(gc.queue) > 0
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

// last reports whether one entry is in flight and nothing waits for the next.
func (gc *groupCommitter) last() bool {
	gc.mu.Lock()
	defer gc.mu.Unlock()
	return gc.inFlight == 1 && len(gc.queue) == 0
}

// done ends an entry.
func (gc *groupCommitter) done(in *entryInRaft) {
	gc.mu.Lock()
	gc.inFlight--
	if in.costly {
		gc.costly.inFlight = false
	}
	gc.mu.Unlock()
	gc.nudge()
}

// entry returns an entry of this leader, stamped now.
func (n *Node) entry(term uint64) *fsm.Entry {
	e := &fsm.Entry{Term: term, Stamp: n.clock.Stamp()}
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

// enter notes an entry that was given to raft. It returns false, and answers the entry, if raft has ended.
func (gc *groupCommitter) enter(in *entryInRaft) bool {
	gc.wg.Add(1)
	gc.mu.Lock()
	stopped := gc.stopped
	if !stopped {
		gc.entries[in] = true
	}
	gc.mu.Unlock()
	if stopped {
		gc.lose(in)
	}
	return !stopped
}

// leave reports whether the entry was still waited for; then only the caller answers it.
func (gc *groupCommitter) leave(in *entryInRaft) bool {
	gc.mu.Lock()
	defer gc.mu.Unlock()
	waited := gc.entries[in]
	delete(gc.entries, in)
	return waited
}

// abandon answers the entries that raft will not answer any more because it has ended: it silently drops the entries
// that it had queued for itself or for the state machine.
func (gc *groupCommitter) abandon() {
	gc.mu.Lock()
	if !gc.stopped {
		gc.stopped = true
		close(gc.gone)
	}
	var all []*entryInRaft
	for in := range gc.entries { // unordered: each is answered alone
		all = append(all, in)
	}
	clear(gc.entries)
	gc.mu.Unlock()
	for _, in := range all {
		gc.lose(in)
	}
}

// lose ends an entry whose outcome is unknown.
func (gc *groupCommitter) lose(in *entryInRaft) {
	defer gc.wg.Done()
	if in.stamp != 0 {
		gc.n.clock.Done(in.stamp)
	}
	gc.evictor.release(in.room)
	for _, b := range in.batches {
		b.answer(nil, consensus.ErrShutdown, false)
	}
	gc.done(in)
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

// answerBatch writes the answer to a forwarded batch.
func answerBatch(b *batch, outcomes []fsm.Outcome, err error, sure bool) []byte {
	var w wire.Writer
	w.Bool(err != nil)
	if err != nil {
		w.Bool(sure)
		w.String(err.Error())
		return w.B
	}
	fsm.EncodeOutcomes(&w, outcomes)
	return w.B
}

// readBatchAnswer reads what answerBatch wrote.
func readBatchAnswer(b *batch, payload []byte) (outcomes []fsm.Outcome, err error, sure bool) {
	r := wire.NewReader(payload)
	if r.Bool() {
		sure = r.Bool()
		return nil, errors.New(r.String()), sure
	}
	if outcomes, err = fsm.DecodeOutcomes(r, b.lowWater.Session); err == nil && len(outcomes) != len(b.requests) {
		err = errors.New("cluster: answer to a batch of another size")
	}
	return outcomes, err, false
}
