package consensus

import "github.com/hashicorp/raft"

// PushCommitIndex tells the followers the commit index when no further entry is on its way that would. Without it they
// would learn of it with raft's next notice, up to a CommitTimeout later.
func (r *Replica) PushCommitIndex(term uint64) {
	p := r.CommitPoint(term)
	if p.EntryTerm == 0 {
		return
	}
	others, _ := r.Voters()
	b := p.Encode()
	for _, o := range others {
		if c := r.c.Pool.Open(o.Addr); c != nil {
			c.Tell(r.c.Calls.CommitIndex, b)
		}
	}
}

// CommitPoint returns the commit index and the term of the entry there, which is 0 if the entry is not in the log any more.
func (r *Replica) CommitPoint(term uint64) Point {
	p := Point{Index: r.raft.CommitIndex()}
	var entry raft.Log
	if err := r.c.Store.GetLog(p.Index, &entry); err == nil { // nearly always in the cache
		p.EntryTerm, p.Term = entry.Term, term
	}
	return p
}

// LearnCommitIndex tells this follower's raft at once what the leader has just said of its commit index. raft itself would
// learn of it with the next append, or a CommitTimeout later, and a read that follows a write would wait for that.
//
// The message is the leader's own AppendEntries without entries. It names the entry at the commit index as the previous
// one, so raft commits only if it holds that very entry, and with it (log matching) everything before. A commit index alone
// would let it commit what it has not verified. The message is put where raft takes its calls from: over a connection to
// itself it took a tenth of a follower's processor time.
func (r *Replica) LearnCommitIndex(p Point) {
	if p.EntryTerm == 0 || r.c.Machine.Reached(p.Index) || r.Role() != Follower || r.Term() != p.Term || !r.learning.CompareAndSwap(false, true) {
		return
	}
	leader, known := r.Leader()
	if !known || leader.ID == r.c.ID || r.c.Machine.Reached(p.Index) {
		r.learning.Store(false)
		return
	}
	h := header(leader.ID, leader.Addr)
	call := raft.RPC{
		Command: &raft.AppendEntriesRequest{
			RPCHeader: h, Leader: h.Addr, Term: p.Term, PrevLogEntry: p.Index, PrevLogTerm: p.EntryTerm, LeaderCommitIndex: p.Index,
		},
		RespChan: make(chan raft.RPCResponse, 1), // nobody reads the answer: raft must not wait
	}
	select {
	case r.transport.toRaft <- call:
		r.learning.Store(false)
	default: // raft is at work, on an append as a rule
		go func() {
			defer r.learning.Store(false)
			select {
			case r.transport.toRaft <- call:
			case <-r.c.Mux.Context().Done():
			}
		}()
	}
}
