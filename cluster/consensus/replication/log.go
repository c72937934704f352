package replication

import "github.com/hashicorp/raft"

// Log is a log store that sends a leader's entries to its followers while it stores them.
type Log struct {
	raft.LogStore
	sender *Sender
}

// Log returns store, for raft.
func (s *Sender) Log(store raft.LogStore) Log { return Log{store, s} }

// IsMonotonic reports whether the store is monotonic.
func (l Log) IsMonotonic() bool {
	m, ok := l.LogStore.(raft.MonotonicLogStore)
	return ok && m.IsMonotonic()
}

// StoreLog stores one entry.
func (l Log) StoreLog(e *raft.Log) error { return l.StoreLogs([]*raft.Log{e}) }

// StoreLogs returns when the entries are on this node's disk. Raft's main loop calls it, so raft's role does not change
// meanwhile.
func (l Log) StoreLogs(logs []*raft.Log) error {
	l.sender.early(l.LogStore, logs)
	return l.LogStore.StoreLogs(logs)
}

// early sends entries of this leader to its followers. A change of the servers waits for the disk as before: it decides
// who the followers are.
func (s *Sender) early(store raft.LogStore, logs []*raft.Log) {
	r := s.raft.Load()
	if r == nil || len(logs) == 0 || r.State() != raft.Leader {
		return
	}
	size := 0
	for _, e := range logs {
		if size += len(e.Data); e.Type != raft.LogCommand || e.Term != logs[0].Term || size > maxEarlyBytes {
			return
		}
	}
	pipelines := s.all()
	first, last := logs[0].Index, logs[len(logs)-1].Index
	if len(pipelines) == 0 || first == 1 {
		return
	}
	var previous raft.Log
	if store.GetLog(first-1, &previous) != nil { // a snapshot's, as a rule
		return
	}
	payload, err := AppendRequest(make([]byte, 0, size+64*(len(logs)+2)), &raft.AppendEntriesRequest{
		RPCHeader: s.Header(), Term: logs[0].Term, PrevLogEntry: first - 1, PrevLogTerm: previous.Term,
		Entries: logs, LeaderCommitIndex: r.CommitIndex(),
	})
	if err != nil {
		return
	}
	for _, p := range pipelines {
		p.sendEarly(first, last, logs[0].Term, payload)
	}
}
