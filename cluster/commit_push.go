package cluster

import (
	"unsafe"

	"github.com/hashicorp/raft"
)

// pushCommitIndex tells the followers the commit index when no further entry is on its way that would. Without it they
// would learn of it with raft's next notice, up to a CommitTimeout later.
func (n *Node) pushCommitIndex(term uint64) {
	p := n.commitPoint(term)
	if p.entryTerm == 0 {
		return
	}
	others, _ := n.otherVoters()
	b := p.encode()
	for _, o := range others {
		if c := n.peers.pool.Open(o.addr); c != nil {
			c.Tell(callCommitIndex, b)
		}
	}
}

// commitPoint is the commit index and the term of the entry there; the term is 0 if the
// entry is not in the log any more.
func (n *Node) commitPoint(term uint64) readPoint {
	p := readPoint{index: n.raft.CommitIndex()}
	var entry raft.Log
	if err := n.store.LogStore().GetLog(p.index, &entry); err == nil { // nearly always in the cache
		p.entryTerm, p.term = entry.Term, term
	}
	return p
}

// advanceCommit tells this follower's raft at once what the leader has just said of its commit index. raft itself would
// hear it with the next append, or a CommitTimeout later, and a read that follows a write would wait for that.
//
// The message is the leader's own AppendEntries without entries, put where raft takes the calls of its transport from: over
// a connection to itself it took a tenth of a follower's processor time. It names the entry at the commit index as the
// previous one, so raft commits only if it holds that very entry, and with it (log matching) everything before; a commit
// index alone would let it commit what it hasn't verified.
func (n *Node) advanceCommit(p readPoint) {
	if p.entryTerm == 0 || n.machine.Reached(p.index) || n.raft.State() != raft.Follower || n.raft.CurrentTerm() != p.term ||
		!n.advancing.CompareAndSwap(false, true) {
		return
	}
	leader, ok := n.leader()
	if !ok || leader.id == n.opts.NodeID || n.machine.Reached(p.index) {
		n.advancing.Store(false)
		return
	}
	addr := n.transport.EncodePeer(raft.ServerID(leader.id), raft.ServerAddress(leader.addr))
	call := raft.RPC{
		Command: &raft.AppendEntriesRequest{
			RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(leader.id), Addr: addr},
			Term:      p.term, Leader: addr, PrevLogEntry: p.index, PrevLogTerm: p.entryTerm, LeaderCommitIndex: p.index,
		},
		RespChan: make(chan raft.RPCResponse, 1), // nobody reads the answer: raft must not wait
	}
	select {
	case n.toRaft <- call:
		n.advancing.Store(false)
	default: // raft is at work, on an append as a rule
		go func() {
			defer n.advancing.Store(false)
			select {
			case n.toRaft <- call:
			case <-n.mux.Context().Done():
			}
		}()
	}
}

// callsOf is the channel from which raft takes the calls of a transport, for calls that this process makes itself.
// NetworkTransport shows the end to receive from only; the channel is the same.
func callsOf(t *raft.NetworkTransport) chan<- raft.RPC {
	c := t.Consumer()
	return *(*chan<- raft.RPC)(unsafe.Pointer(&c))
}
