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
func (m *groupCommitter) add(b *batch) {
	b.costly = m.n.costly(b) || m.n.large(b)
	m.mu.Lock()
	if m.term == 0 || m.n.Poison() != nil { // a term that waits before a poison entry may not open for days
		m.mu.Unlock()
		b.answer(nil, errNotLeading, true)
		return
	}
	m.enqueue(b)
	m.mu.Unlock()
	m.nudge()
}

func (m *groupCommitter) nudge() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// startTerm opens the queue for a term; batches wait until openTerm.
func (m *groupCommitter) startTerm(term uint64) {
	m.mu.Lock()
	m.term, m.ready = term, false
	m.mu.Unlock()
}

// openTerm lets batches into the log: the term's first entry has been applied.
func (m *groupCommitter) openTerm(term uint64) {
	m.mu.Lock()
	m.ready = m.term == term
	m.mu.Unlock()
	m.nudge()
}

// endTerm refuses what waits: it never entered the log.
func (m *groupCommitter) endTerm() {
	m.mu.Lock()
	queue, large := m.queue, m.large
	m.term, m.ready, m.queue, m.large = 0, false, nil, nil
	m.costly.waiting, m.costly.turn = 0, false
	m.mu.Unlock()
	if large != nil {
		m.refuse(large.in, errNotLeading)
	}
	for _, b := range queue {
		b.answer(nil, errNotLeading, true)
	}
}

// run makes entries until ctx ends.
func (m *groupCommitter) run(ctx context.Context) {
	defer m.wg.Wait()
	for {
		select {
		case <-m.wake:
		case <-ctx.Done():
			m.endTerm()
			return
		}
		for {
			if m.idle() {
				m.coalesce()
			}
			if large := m.nextFragment(); large != nil {
				m.writeFragment(large)
				continue
			}
			batches, term := m.next()
			if len(batches) == 0 {
				break
			}
			m.commit(term, batches)
		}
	}
}

// coalesce lets goroutines run that are about to propose something, as long as that brings requests: an entry of one
// request costs as much as one of all, and all would wait for it. No goroutine sleeps; with nothing else to run it returns at
// once.
func (m *groupCommitter) coalesce() {
	for had := -1; ; {
		has := m.n.proposer.Waiting()
		if has <= had {
			break
		}
		had = has
		runtime.Gosched()
	}
	m.n.proposer.sendMore()
}

// idle reports whether no entry is in flight and something waits.
func (m *groupCommitter) idle() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ready && m.inFlight == 0 && len(m.queue) > 0
}

// next takes the batches of one entry, which is in flight from then on.
func (m *groupCommitter) next() ([]*batch, uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.ready || len(m.queue) == 0 || m.inFlight >= maxEntries {
		return nil, 0
	}
	if m.inFlight > 0 && !m.costly.mayOverlap() {
		return nil, 0
	}
	if m.costly.waiting > 0 {
		m.separate()
	}
	if m.large != nil && m.queue[0].costly {
		return nil, 0 // one after the other
	}
	size, count := 0, 0
	for _, b := range m.queue {
		if b.costly != m.queue[0].costly {
			break
		}
		if size += b.size(); size > maxBatchBytes && count > 0 {
			break
		}
		count++
	}
	if m.inFlight > 0 && (size < overlapBytes || m.queue[0].costly) {
		return nil, 0
	}
	batches := m.queue[:count:count]
	m.queue = m.queue[count:]
	m.costly.took(batches, m.large != nil)
	m.inFlight++
	return batches, m.term
}

// last reports whether one entry is in flight and nothing waits for the next.
func (m *groupCommitter) last() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.inFlight == 1 && len(m.queue) == 0
}

// done ends an entry.
func (m *groupCommitter) done(in *entryInRaft) {
	m.mu.Lock()
	m.inFlight--
	if in.costly {
		m.costly.inFlight = false
	}
	m.mu.Unlock()
	m.nudge()
}

// entry returns an entry of this leader, stamped now.
func (n *Node) entry(term uint64) *fsm.Entry {
	e := &fsm.Entry{Term: term, Stamp: n.clock.Stamp()}
	rand.Read(e.Seed[:])
	return e
}

// commit puts batches into one entry and answers them when it has been applied.
func (m *groupCommitter) commit(term uint64, batches []*batch) {
	costly := batches[0].costly
	b, room := m.makeRoom(batches)
	if b != nil {
		batches = append([]*batch{b}, batches...)
	}
	if b := m.attachPiggyback(batches); b != nil {
		batches = append(batches, b)
	}
	in := &entryInRaft{batches: batches, room: room, costly: costly, term: term}
	requests := in.requests()
	m.n.metrics.batch(len(requests))
	if costly && m.n.inFragments(fsm.RequestsSize(requests)) {
		m.beginFragments(in, requests)
		return
	}
	e := m.n.entry(term)
	e.LowWaters, e.Requests = in.lowWaters(), requests
	in.stamp = e.Stamp
	m.propose(in, e.Encode())
}

// propose gives raft the data of an entry, and answers its batches when it has been applied.
func (m *groupCommitter) propose(in *entryInRaft, data []byte) {
	p := m.n.consensus.Propose(data)
	failpoint.Eval(failpoint.AfterPropose)
	if !m.enter(in) {
		return
	}
	go func() { // it never ends if raft has lost the entry
		outcomes, err := wait(p)
		if !m.leave(in) {
			return
		}
		defer m.wg.Done()
		m.n.clock.Done(in.stamp)
		m.evictor.release(in.room)
		if err == nil && len(outcomes) < in.count() { // fragments of a term that is over
			err = consensus.ErrNotLeader
		}
		if err == nil && m.last() { // otherwise the next entry carries it
			m.n.consensus.PushCommitIndex(in.term)
		}
		for _, b := range in.batches {
			var mine []fsm.Outcome
			if err == nil {
				mine, outcomes = outcomes[:len(b.requests)], outcomes[len(b.requests):]
			}
			b.answer(mine, err, consensus.NotLogged(err))
		}
		runtime.Gosched() // those answered go first: their next requests may join the next entry
		m.done(in)
	}()
}

// enter notes an entry that was given to raft. It returns false, and answers the entry, if raft has ended.
func (m *groupCommitter) enter(in *entryInRaft) bool {
	m.wg.Add(1)
	m.mu.Lock()
	stopped := m.stopped
	if !stopped {
		m.entries[in] = true
	}
	m.mu.Unlock()
	if stopped {
		m.lose(in)
	}
	return !stopped
}

// leave reports whether the entry was still waited for; then only the caller answers it.
func (m *groupCommitter) leave(in *entryInRaft) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	waited := m.entries[in]
	delete(m.entries, in)
	return waited
}

// abandon answers the entries that raft will not answer any more because it has ended: it silently drops the entries
// that it had queued for itself or for the state machine.
func (m *groupCommitter) abandon() {
	m.mu.Lock()
	if !m.stopped {
		m.stopped = true
		close(m.gone)
	}
	var all []*entryInRaft
	for in := range m.entries { // unordered: each is answered alone
		all = append(all, in)
	}
	clear(m.entries)
	m.mu.Unlock()
	for _, in := range all {
		m.lose(in)
	}
}

// lose ends an entry whose outcome is unknown.
func (m *groupCommitter) lose(in *entryInRaft) {
	defer m.wg.Done()
	if in.stamp != 0 {
		m.n.clock.Done(in.stamp)
	}
	m.evictor.release(in.room)
	for _, b := range in.batches {
		b.answer(nil, consensus.ErrShutdown, false)
	}
	m.done(in)
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
