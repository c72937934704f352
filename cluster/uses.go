package cluster

import (
	"context"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/wire"
)

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
		if c := n.peers.pool.Open(leader.Addr); c != nil {
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
