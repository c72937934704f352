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
func (m *groupCommitter) enqueue(b *batch) {
	m.queue = append(m.queue, b)
	if b.costly {
		m.costly.waiting++
	}
}

// separate brings the batches whose turn it is to the front of the queue, each kind in its order; the lock is held.
func (m *groupCommitter) separate() {
	first := m.costly.turn || m.costly.waiting == len(m.queue)
	slices.SortStableFunc(m.queue, func(a, b *batch) int {
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
func (m *groupCommitter) committed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.costly.inFlight && m.term != 0 {
		term := m.term
		m.wg.Go(func() { m.n.consensus.PushCommitIndex(term) }) // the entry is in the wait group, too
	}
}

// mayOverlap reports whether an entry may be begun while one is in flight: neither is costly, or keeps the other
// waiting. The lock is held.
func (c *costlyTurns) mayOverlap() bool { return !c.inFlight && !c.turn }

// took notes the batches of an entry, which is written while a large one is under way or not; the lock is held.
func (c *costlyTurns) took(batches []*batch, large bool) {
	if c.inFlight = batches[0].costly; c.inFlight {
		c.waiting -= len(batches)
	}
	c.turn = !c.inFlight && (c.waiting > 0 || large)
}
