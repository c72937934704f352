package httpapi

import (
	"context"
	"io"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/rdb"
	"github.com/trireme-dev/trireme/node/samples"
)

// Admin runs the administrative requests of this node and its cluster. The server checks the admin token before it
// calls.
type Admin interface {
	// Cluster returns the answer of GET /admin/cluster.
	Cluster(ctx context.Context) (ClusterStatus, error)
	// TransferLeader moves leadership to the node of that id, or to the node whose log is furthest if the id is empty,
	// and returns when it has moved.
	TransferLeader(ctx context.Context, to string) error
	// Drain makes clients leave this node before a stop, and returns when the time of --drain is over. If ctx ends
	// before that, Drain returns and the node goes on draining.
	Drain(ctx context.Context) error
	// RemoveNode takes a node out of the cluster, and below three voters only by force. gone is false if it is this
	// node, which leaves as soon as it has answered.
	RemoveNode(ctx context.Context, id string, force bool) (gone bool, err error)
	// ReplaceNode gives the place of a node to the node with, which is a non-voter.
	ReplaceNode(ctx context.Context, id, with string) (gone bool, err error)
	// Examine examines this node's machine and the other nodes. The report is answered as JSON.
	Examine(ctx context.Context) any
	// History returns the last hours of all nodes.
	History(ctx context.Context, of samples.Question, node string) samples.Cluster
	// Snapshot makes this node write a snapshot now and returns when it is on disk.
	Snapshot(ctx context.Context) (SnapshotStatus, error)
	// Backup takes the state as it is now, or, if it may be stale, as this node has it without asking the others. It
	// returns a function that writes it out as a backup.
	Backup(ctx context.Context, stale bool) (write func(io.Writer) error, err error)
	// Export takes a database as it is now, and returns a function that writes it out as an RDB file; see fsm.Frozen.Export.
	Export(ctx context.Context, database string, target rdb.Target) (write func(io.Writer) (rdb.Written, error), err error)
	// ExportMessages takes the messages and runs of a database as they are now, and returns a function that writes them
	// out; see cli/messagesfile.
	ExportMessages(ctx context.Context, database string) (write func(io.Writer) error, err error)
	// ImportMessages imports a file of ExportMessages into a database without messages.
	ImportMessages(ctx context.Context, database string, file io.Reader) (fsm.ImportedMessages, error)
	// Quarantine makes all nodes go on without a database whose entry ended them, beginning with the entry at which they wait.
	Quarantine(ctx context.Context, database string) (fsm.QuarantineOrder, error)
	// Restore reads a backup into this cluster, which must be empty; see fsm.RestoreBackup.
	Restore(ctx context.Context, backup io.Reader) (fsm.Restoration, error)
}

// ClusterStatus is the cluster as one node sees it.
type ClusterStatus struct {
	Leader string       `json:"leader"`
	Term   uint64       `json:"term"`
	Nodes  []NodeStatus `json:"nodes"`
	// ShortHistories names some histories that give way to their bytes long before their retention is over.
	ShortHistories []ShortHistory `json:"shortHistories,omitempty"`
}

// ShortHistory is such a history of a database.
type ShortHistory struct {
	Database string `json:"database"`
	// Of is events or runs.
	Of string `json:"of"`
	// ReachMs is how far back it goes, RetentionMs how far it should, in milliseconds.
	ReachMs     int64 `json:"reachMs"`
	RetentionMs int64 `json:"retentionMs"`
	MaxBytes    int64 `json:"maxBytes"`
}

// NodeStatus is one node of a ClusterStatus.
type NodeStatus struct {
	ID       string `json:"id"`
	HTTP     string `json:"http"`
	Cluster  string `json:"cluster"`
	Suffrage string `json:"suffrage"`
	// State is leader, follower, candidate, or unreachable.
	State        string `json:"state"`
	AppliedIndex uint64 `json:"appliedIndex"`
	// LastContactMs is the time since the node last heard from its leader, in milliseconds; 0 for the leader, -1 for a
	// node that doesn't answer.
	LastContactMs int64  `json:"lastContactMs"`
	Version       string `json:"version"`
	// Leaving is set while the node is being taken out.
	Leaving bool `json:"leaving,omitempty"`
	// Poison is the entry before which the node waits for its operator; nil if it waits for none.
	Poison *PoisonEntry `json:"poison,omitempty"`
	// SlowDiskMs is how long the node's disk has been slow, in milliseconds; 0 if it is not.
	SlowDiskMs int64 `json:"slowDiskMs,omitempty"`
}

// PoisonEntry is an entry of the log that has ended a node's process twice.
type PoisonEntry struct {
	Index uint64 `json:"index"`
	// Database is the database in whose work the processes ended, Operation the operation; both are empty if they are not known.
	Database  string `json:"database,omitempty"`
	Operation string `json:"operation,omitempty"`
	// Databases are the databases of all requests of the entry.
	Databases []string `json:"databases"`
}

// SnapshotStatus names the snapshot that Snapshot wrote.
type SnapshotStatus struct {
	ID    string `json:"id"`
	Index uint64 `json:"index"`
	Bytes int64  `json:"bytes"`
}

// AdminError is a failure that an Admin explains to its caller, with the HTTP status to
// answer; any other error is a 500 without detail.
type AdminError struct {
	Status int
	Text   string
}

func (e *AdminError) Error() string { return e.Text }
