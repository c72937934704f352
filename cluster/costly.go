package cluster

import (
	"slices"
	"time"
)

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
