package logstoretest

import (
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
)

// Entry is an entry as the log store takes it.
type Entry = raft.Log

// Command returns an entry that a leader appended at a time.
func Command(index, term uint64, data []byte, at time.Time) *Entry {
	return &raft.Log{Index: index, Term: term, Type: raft.LogCommand, Data: data, AppendedAt: at}
}

// WriteSnapshot writes a snapshot that is up to the entry at index, of a cluster of one server.
func WriteSnapshot(s *logstore.SnapshotStore, index, term uint64, state []byte) error {
	servers := raft.Configuration{Servers: []raft.Server{{ID: "n1", Address: "127.0.0.1:7001"}}}
	_, transport := raft.NewInmemTransport("n1")
	sink, err := s.Create(raft.SnapshotVersionMax, index, term, servers, 1, transport)
	if err != nil {
		return err
	}
	if _, err := sink.Write(state); err != nil {
		sink.Cancel()
		return err
	}
	return sink.Close()
}
