package consensus

import (
	"fmt"
	"io"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
)

// Entry is a committed entry of the log.
type Entry struct {
	Index, Term uint64
	// Command is false for a change of the servers. Its Data is the library's.
	Command bool
	Data    []byte
}

// StateMachine holds the state that the log replicates. One goroutine calls its methods, except Reached, which any goroutine may call.
type StateMachine interface {
	// Apply applies entries in the order of the log and returns an answer for each. It may not keep the slice.
	Apply(entries []Entry) []any
	// Reached reports whether the entry at index was applied.
	Reached(index uint64) bool
	// Snapshot takes the state as it is now. write writes it out while later entries are applied. When the snapshot is on the
	// disk, or has failed, done is called.
	Snapshot() (write func(io.Writer) error, done func(), err error)
	// Receive returns a reader of a snapshot that another node sends. It may fail, or take time, for what this node has to
	// fetch before the snapshot is any use; the servers, those of the snapshot and its sender, have it. raft waits meanwhile.
	Receive(from []Server, snapshot io.Reader) io.Reader
	// Restore replaces the state by a snapshot's.
	Restore(snapshot io.Reader) error
}

// machine is a StateMachine as the library uses it. It is a BatchingFSM: a plain FSM is not told of changes of the servers,
// and its index would stay behind that of the log.
type machine struct {
	StateMachine
	r       *Replica
	entries []Entry // of one call of ApplyBatch
}

var _ raft.BatchingFSM = (*machine)(nil)

// Apply applies one entry. The library calls ApplyBatch.
func (m *machine) Apply(l *raft.Log) any { return m.ApplyBatch([]*raft.Log{l})[0] }

// ApplyBatch applies entries. The library calls it from one goroutine.
func (m *machine) ApplyBatch(logs []*raft.Log) []any {
	m.entries = m.entries[:0]
	for _, l := range logs {
		e := entryOf(l)
		if m.entries = append(m.entries, e); !e.Command {
			m.r.forgetVoters()
		}
	}
	defer clear(m.entries) // their data may be large
	return m.StateMachine.Apply(m.entries)
}

func entryOf(l *raft.Log) Entry {
	return Entry{Index: l.Index, Term: l.Term, Command: l.Type == raft.LogCommand, Data: l.Data}
}

// Snapshot takes the state.
func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	write, done, err := m.StateMachine.Snapshot()
	if err != nil {
		return nil, err
	}
	return taken{write, done}, nil
}

// Restore replaces the state.
func (m *machine) Restore(r io.ReadCloser) error {
	defer r.Close()
	return m.StateMachine.Restore(r)
}

// taken is a snapshot that is to be written.
type taken struct {
	write func(io.Writer) error
	done  func()
}

// Persist writes the snapshot to the disk.
func (t taken) Persist(sink raft.SnapshotSink) error {
	if err := t.write(sink); err != nil {
		sink.Cancel()
		return err
	}
	return sink.Close()
}

// Release is called when the snapshot is on the disk, or has failed.
func (t taken) Release() { t.done() }

// ReadEntry reads the entry at index, if it is one that state machines apply; applied is false for the library's own.
func ReadEntry(store *logstore.Store, index uint64) (e Entry, applied bool, err error) {
	var l raft.Log
	if err := store.GetLog(index, &l); err != nil {
		return e, false, fmt.Errorf("log entry %d can't be read: %w", index, err)
	}
	return entryOf(&l), l.Type == raft.LogCommand || l.Type == raft.LogConfiguration, nil
}
