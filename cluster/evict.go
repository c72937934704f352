package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// evictor picks the keys that make room, on the leader: for the requests of an entry in that entry, before them; see
// docs/design/eviction.md.
type evictor struct {
	mu      sync.Mutex
	victims fsm.Victims
}

// The estimate of what requests add to memory: their bytes, as much again for what the rows of a pipeline cost in
// addition, and the cost of a key. If they add more, the apply itself makes room.
const (
	growthPerRequest = 256
	mostExtraGrowth  = 64 << 10
)

func growthOf(batches []*batch) (all []fsm.Growth) {
	for _, b := range batches {
		for i := range b.requests {
			q := &b.requests[i]
			n := int64(len(q.Body))
			n += min(n, mostExtraGrowth) + growthPerRequest
			db := grownBy(q)
			if last := len(all) - 1; last >= 0 && all[last].Database == db {
				all[last].Bytes += n
			} else {
				all = append(all, fsm.Growth{Database: db, Bytes: n})
			}
		}
	}
	return all
}

// grownBy names the database that a request adds to, empty if it adds to none.
func grownBy(q *fsm.Request) string {
	name, owned := fsm.DatabaseOf(q.Code, q.Body)
	if owned && len(name) == 0 {
		return fsm.DefaultDB
	}
	return string(name)
}

// makeRoom returns a batch of the leader's own that evicts keys for batches which will be in one entry, nil while there
// is room; and what is to be released when the entry has been applied.
func (gc *groupCommitter) makeRoom(batches []*batch) (*batch, fsm.Room) {
	machine, v := gc.n.machine, &gc.evictor.victims
	if !machine.Evicts() {
		return nil, fsm.Room{}
	}
	growth := growthOf(batches)
	gc.evictor.mu.Lock()
	defer gc.evictor.mu.Unlock()
	room := v.Expect(growth...)
	if !machine.Pressed(v) {
		return nil, room
	}
	picked := machine.Pick(v, gc.n.clock.Peek(), seed(), &room)
	if len(picked.Databases) == 0 {
		return nil, room
	}
	evict := fsm.Request{Code: fsm.Evict.Code, Body: fsm.Evict.Body(picked)}
	return &batch{requests: []fsm.Request{evict}, answer: func([]fsm.Outcome, error, bool) {}}, room
}

// release says that an entry has been applied, or never will be.
func (e *evictor) release(r fsm.Room) {
	e.mu.Lock()
	e.victims.Release(r)
	e.mu.Unlock()
}

// evictExcess evicts the keys beyond the limit without waiting for a write: the limit may have been lowered.
func (n *Node) evictExcess(ctx context.Context, term uint64) {
	for ctx.Err() == nil {
		var v fsm.Victims
		if !n.machine.Pressed(&v) {
			return
		}
		picked := n.machine.Pick(&v, n.clock.Peek(), seed(), &fsm.Room{})
		if len(picked.Databases) == 0 {
			return
		}
		if _, err := n.command(term, fsm.Evict.Code, fsm.Evict.Body(picked)); err != nil {
			return
		}
	}
}

// usesInterval is the interval at which a follower tells the leader which keys it has read.
const usesInterval = 500 * time.Millisecond

// tellUses tells the leader which keys this node's clients read, while keys may be evicted and another node leads. Only
// the choice of the keys to evict depends on it, so a report may be late or lost.
func (n *Node) tellUses(ctx context.Context) {
	for pause(ctx, usesInterval) {
		leader, known := n.leader()
		note := known && leader.ID != n.identity.NodeID && n.machine.Evicts()
		n.machine.NoteUses(note)
		used := n.machine.TakeUses()
		if !note || len(used.List) == 0 {
			continue
		}
		if c := n.peers.Open(leader.Addr); c != nil {
			c.Tell(callUsed, wire.Marshal(&used))
		}
	}
}

// hearUses takes in a follower's report.
func (n *Node) hearUses(payload []byte) {
	var used fsm.Uses
	if err := wire.Unmarshal(payload, &used); err != nil || len(used.List) > fsm.MaxUses || !n.machine.Evicts() {
		return
	}
	n.machine.MarkUsed(used, n.clock.Peek(), seed())
}
