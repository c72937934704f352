package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"runtime"
	"sync"

	"github.com/hashicorp/raft"

	"trireme/failpoint"
	"trireme/fsm"
	"trireme/fsm/wire"
)

// errNotLeading says that this node can't take a pack: it certainly did nothing
// with it.
var errNotLeading = errors.New("cluster: this node does not lead")

// committer is the leader's side of group commit: packs of all nodes that wait
// together become one log entry. A second entry is begun beside one that is under
// way only when it is large.
type committer struct {
	n *Node

	mu       sync.Mutex
	term     uint64 // of the packs that wait; 0 while this node does not lead
	ready    bool   // the term's first entry has been applied
	queue    []*pack
	underWay int // entries in raft
	ride     *Ride
	wake     chan struct{}
	wg       sync.WaitGroup
}

func newCommitter(n *Node) *committer {
	return &committer{n: n, wake: make(chan struct{}, 1)}
}

// submit hands a pack to the leader, here or there.
func (n *Node) submit(to peerAddr, k *pack) {
	if to.id == n.identity.NodeID {
		n.committer.take(k)
		return
	}
	n.peers.propose(to, k)
}

// take queues a pack for the next entry.
func (m *committer) take(k *pack) {
	m.mu.Lock()
	if m.term == 0 {
		m.mu.Unlock()
		k.answer(nil, errNotLeading, true)
		return
	}
	m.queue = append(m.queue, k)
	m.mu.Unlock()
	m.nudge()
}

func (m *committer) nudge() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// lead opens the queue for a term; packs wait until ready.
func (m *committer) lead(term uint64) {
	m.mu.Lock()
	m.term, m.ready = term, false
	m.mu.Unlock()
}

// serve lets packs into the log: the term's first entry has been applied.
func (m *committer) serve(term uint64) {
	m.mu.Lock()
	m.ready = m.term == term
	m.mu.Unlock()
	m.nudge()
}

// follow refuses what waits: it never entered the log.
func (m *committer) follow() {
	m.mu.Lock()
	queue := m.queue
	m.term, m.ready, m.queue = 0, false, nil
	m.mu.Unlock()
	for _, k := range queue {
		k.answer(nil, errNotLeading, true)
	}
}

// run makes entries until ctx ends.
func (m *committer) run(ctx context.Context) {
	defer m.wg.Wait()
	for {
		select {
		case <-m.wake:
		case <-ctx.Done():
			m.follow()
			return
		}
		for {
			if m.free() {
				m.gather()
			}
			packs, term := m.next()
			if len(packs) == 0 {
				break
			}
			m.commit(term, packs)
		}
	}
}

// gather lets those go first who are about to ask for something, as long as that brings
// requests: an entry of one costs as much as one of all, and all would wait for it. Nobody
// sleeps; with nothing else to run it is over at once.
func (m *committer) gather() {
	for had := -1; ; {
		has := m.n.proposer.Waiting()
		if has <= had {
			break
		}
		had = has
		runtime.Gosched()
	}
	m.n.proposer.join()
}

// free tells whether an entry can be made that takes in whatever waits.
func (m *committer) free() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ready && m.underWay == 0 && len(m.queue) > 0
}

// next takes the packs of one entry, which is under way from then on.
func (m *committer) next() ([]*pack, uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.ready || len(m.queue) == 0 || m.underWay >= entriesUnderWay {
		return nil, 0
	}
	size, count := 0, 0
	for _, k := range m.queue {
		if size += k.size(); size > packBytes && count > 0 {
			break
		}
		count++
	}
	if m.underWay > 0 && size < overlapBytes {
		return nil, 0
	}
	packs := m.queue[:count:count]
	m.queue = m.queue[count:]
	m.underWay++
	return packs, m.term
}

// idle tells whether one entry is under way and nothing waits for the next.
func (m *committer) idle() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.underWay == 1 && len(m.queue) == 0
}

// leave ends an entry.
func (m *committer) leave() {
	m.mu.Lock()
	m.underWay--
	m.mu.Unlock()
	m.nudge()
}

// entry is an entry of this leader, stamped now.
func (n *Node) entry(term uint64) *fsm.Entry {
	e := &fsm.Entry{Term: term, Stamp: n.clock.Stamp()}
	rand.Read(e.Seed[:])
	return e
}

// commit puts packs into one entry and answers them when it is applied.
func (m *committer) commit(term uint64, packs []*pack) {
	if k := m.board(packs); k != nil {
		packs = append(packs, k)
	}
	e := m.n.entry(term)
	total := 0
	for _, k := range packs {
		total += len(k.requests)
	}
	e.Requests = make([]fsm.Request, 0, total)
	for _, k := range packs {
		if k.mark.Session != 0 {
			e.Marks = append(e.Marks, k.mark)
		}
		e.Requests = append(e.Requests, k.requests...)
	}
	m.n.metrics.batch(total)
	data := e.Encode()
	f := m.n.raft.Apply(data, 0)
	failpoint.Eval(failpoint.AfterPropose)
	m.wg.Go(func() {
		outcomes, err := wait(f)
		m.n.clock.Done(e.Stamp)
		if err == nil && m.idle() { // otherwise the next entry carries it
			m.n.tellCommitted(term)
		}
		for _, k := range packs {
			var mine []fsm.Outcome
			if err == nil {
				mine, outcomes = outcomes[:len(k.requests)], outcomes[len(k.requests):]
			}
			k.answer(mine, err, certain(err))
		}
		runtime.Gosched() // those answered go first: their next requests may join the next entry
		m.leave()
	})
}

// wait gives the outcomes of an entry.
func wait(f raft.ApplyFuture) ([]fsm.Outcome, error) {
	if err := f.Error(); err != nil {
		return nil, err
	}
	switch r := f.Response().(type) {
	case []fsm.Outcome:
		return r, nil
	case refusal:
		return nil, r.err
	}
	return nil, errors.New("cluster: raft answered without an outcome")
}

// certain tells whether an error of raft.Apply means that the entry is in no log
// (reliability R5); errors of the log store are among those that say nothing.
func certain(err error) bool {
	return errors.Is(err, raft.ErrNotLeader) || errors.Is(err, raft.ErrLeadershipTransferInProgress) ||
		errors.Is(err, raft.ErrEnqueueTimeout) || errors.Is(err, raft.ErrAbortedByRestore)
}

// answerPack writes the answer to a forwarded pack.
func answerPack(k *pack, outcomes []fsm.Outcome, err error, sure bool) []byte {
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

// readPackAnswer reads what answerPack wrote.
func readPackAnswer(k *pack, b []byte) (outcomes []fsm.Outcome, err error, sure bool) {
	r := wire.NewReader(b)
	if r.Bool() {
		sure = r.Bool()
		return nil, errors.New(r.String()), sure
	}
	if outcomes, err = fsm.DecodeOutcomes(r, k.mark.Session); err == nil && len(outcomes) != len(k.requests) {
		err = errors.New("cluster: answer to a pack of another size")
	}
	return outcomes, err, false
}
