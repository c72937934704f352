package cluster

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
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

// costlyTurns puts the batches of databases that have used their share of the apply time into entries of their own, in
// turn with the entries of others: a request that has waited for one costly entry does not share the next entry with
// another costly batch. docs/design/fairness.md has the reasons. The lock of the group committer guards it.
type costlyTurns struct {
	waiting  int  // such batches in the queue
	inFlight bool // one is in an entry that raft has
	turn     bool // others had an entry while one waited, so the next is theirs
}

// costly reports whether a batch belongs to such a database. Nodes send its requests apart from others, so the first
// request of a batch decides.
func (n *Node) costly(b *batch) bool {
	if len(b.requests) == 0 {
		return false
	}
	q := &b.requests[0]
	db := n.sharing(q.Code, q.Body)
	return db != "" && n.proposer.ledger.Costly(time.Now(), db)
}

// enqueue adds a batch to the queue; the lock is held.
func (gc *groupCommitter) enqueue(b *batch) {
	gc.queue = append(gc.queue, b)
	if b.costly {
		gc.costly.waiting++
	}
}

// separate brings the batches whose turn it is to the front of the queue, each kind in its order; the lock is held.
func (gc *groupCommitter) separate() {
	first := gc.costly.turn || gc.costly.waiting == len(gc.queue)
	slices.SortStableFunc(gc.queue, func(a, b *batch) int {
		switch {
		case a.costly == b.costly:
			return 0
		case a.costly == first:
			return -1
		}
		return 1
	})
}

// committed tells the followers at once that a costly entry is committed, so that they apply it while the leader does.
// Otherwise they would learn of it only when the leader has applied it, and then keep their readers waiting for as long
// again. It is called before entries are applied.
func (gc *groupCommitter) committed() {
	gc.mu.Lock()
	defer gc.mu.Unlock()
	if gc.costly.inFlight && gc.term != 0 {
		term := gc.term
		gc.wg.Go(func() { gc.n.consensus.PushCommitIndex(term) }) // the entry is in the wait group, too
	}
}

// mayOverlap reports whether an entry may be begun while one is in flight: neither is costly, or keeps the other
// waiting. The lock is held.
func (ct *costlyTurns) mayOverlap() bool { return !ct.inFlight && !ct.turn }

// took notes the batches of an entry, which is written while a large one is under way or not; the lock is held.
func (ct *costlyTurns) took(batches []*batch, large bool) {
	if ct.inFlight = batches[0].costly; ct.inFlight {
		ct.waiting -= len(batches)
	}
	ct.turn = !ct.inFlight && (ct.waiting > 0 || large)
}
