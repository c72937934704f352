package cluster

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
)

// All nodes apply the same entries, so a snapshot becomes due on all of them at the same moment. They take turns: a majority goes
// on at full speed while one node writes its snapshot. The leader is last, because every write waits for its disk.
//
// There is no arbiter. A node says in its status what its snapshot is about to do. It says that it has begun before it asks the
// others whether one of them has, so of two nodes that begin at the same moment at least one finds the other, and withdraws.

const (
	// leaderWaits is the time for which a leader waits for others to become due. They look once a second.
	leaderWaits = 2500 * time.Millisecond
	// turnTimeout bounds the question to the others. A node that does not answer holds up nobody.
	turnTimeout = 2 * time.Second
	// longestTurn bounds the time for which a node waits for its turn.
	longestTurn = 3 * time.Minute
	// overdueBytes is the size of the log since the last snapshot beyond which a node does not wait.
	overdueBytes = 2 * mostBytes
)

// snapshotPhase is what a node's snapshot is about to do. It is part of its status.
type snapshotPhase int32

const (
	snapshotIdle snapshotPhase = iota
	snapshotDue
	snapshotBegun
)

// snapshotTurn is a node's place among those that want to write a snapshot.
type snapshotTurn struct {
	phase atomic.Int32
	since time.Time // when it became due; used by watchSnapshots alone
}

func (t *snapshotTurn) set(p snapshotPhase)    { t.phase.Store(int32(p)) }
func (t *snapshotTurn) current() snapshotPhase { return snapshotPhase(t.phase.Load()) }

// leave says that no snapshot is due or under way.
func (t *snapshotTurn) leave() {
	t.set(snapshotIdle)
	t.since = time.Time{}
}

// mayBegin reports whether a node whose snapshot has been due for waited may begin it, beside others in these phases.
func mayBegin(leads bool, waited time.Duration, bytes int64, others []snapshotPhase) bool {
	if len(others) == 0 || waited >= longestTurn || bytes > overdueBytes {
		return true
	}
	if leads && waited < leaderWaits {
		return false
	}
	for _, p := range others {
		if p == snapshotBegun || leads && p == snapshotDue {
			return false
		}
	}
	return true
}

// takeTurn reports whether this node may write its snapshot now, which is due. If so the others are told that it has begun, until
// the turn is left.
func (n *Node) takeTurn(ctx context.Context, bytes int64) bool {
	if n.turn.since.IsZero() {
		n.turn.since = time.Now()
	}
	n.turn.set(snapshotBegun) // before the others are asked
	others := n.others()
	phases := make([]snapshotPhase, len(others))
	asking, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	each(others, func(i int, s consensus.Server) {
		if h, err := n.peers.status(asking, s.Addr); err == nil && h.Node == s.ID {
			phases[i] = h.Snapshot
		}
	})
	if mayBegin(n.consensus.Role() == consensus.Leader, time.Since(n.turn.since), bytes, phases) {
		return true
	}
	n.turn.set(snapshotDue)
	pause(ctx, rand.N(250*time.Millisecond)) // so that two that withdraw do not meet again
	return false
}
