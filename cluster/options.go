package cluster

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/internal/failpoint"
)

// Options describe one node.
type Options struct {
	NodeID, DataDir string
	Addresses
	Entrance
	Snapshotting
	Owner
	// Security is mutual TLS between nodes; nil: connections are plain.
	Security *Security
	// Heartbeat is raft's shortest heartbeat and election timeout, and the leader's lease;
	// followers stretch theirs on a busy machine.
	Heartbeat time.Duration
	// DiskStall is the time after which a call stuck on the disk ends the node; see logstore.Options.
	DiskStall time.Duration
	// Space says how much free disk the node needs.
	Space logstore.Space
	// InlineBytes is the length from which on payloads of messages and runs, and strings, go to the disk; see package payloads.
	InlineBytes int
	// ColdAfter is the time without a use after which strings go to the disk; 0: they stay in memory.
	ColdAfter time.Duration
	// DigestEvery is the number of entries between digests.
	DigestEvery uint64
	// LevelAfter is the time for which all servers must support a feature level before the cluster is raised to it.
	LevelAfter time.Duration
	// Now is monotonic time, for cluster time while this node leads. The default is clock.Now; tests set one whose wall time
	// is the machine's.
	Now func() time.Time
	// wall returns what this machine's wall clock shows at a moment of Now, in unix milliseconds; a failpoint may shift it.
	wall func(time.Time) int64
	// Dial replaces net.DialTimeout between nodes; tests cut nodes off by it.
	Dial func(network, addr string, timeout time.Duration) (net.Conn, error)
	// Machine is the node's state machine, by default a new one. It is empty, and whatever follows the applied entries on this
	// node is attached to it: hooks and search indexes. Open sets the hooks that replication needs (digests, secrets, the lock).
	Machine *fsm.Machine
	Log     *slog.Logger
	// RaftLog gets the lines of the raft library.
	RaftLog hclog.Logger
}

// Addresses are a node's own, and what it tells other nodes of itself.
type Addresses struct {
	// Bind is the cluster address to listen on, Advertise the one that others dial, if
	// it differs.
	Bind, Advertise string
	// NoPort opens no cluster port: for a cluster that is one node and stays so.
	NoPort bool
	// HTTP and Gossip are this node's other addresses, which it tells to other nodes; Version is the version of the
	// binary.
	HTTP, Gossip, Version string
	// RESP is the address, host:port, of this node's RESP port. The cluster commands report it on every node. It is
	// empty if the node has no such port.
	RESP string
}

// Entrance is the way into a cluster for a node with an empty data directory; all but the key counts there only.
type Entrance struct {
	// InitialCluster is the static list of a new cluster.
	InitialCluster []Peer
	// Join are the gossip addresses of a running cluster to join. Replace is the server whose place this node is to take then.
	Join    []string
	Replace string
	// GossipKey is the key of gossip (membership.MembersOptions.Key); discovery uses it.
	GossipKey []byte
}

// Snapshotting says when a node takes snapshots. The bounds hold for a small state; a large one waits for more (see snapshots.go).
type Snapshotting struct {
	// SnapshotThreshold and SnapshotBytes are the number of entries and the bytes of entries between snapshots.
	// TrailingLogs bounds the entries that stay behind a snapshot.
	SnapshotThreshold, TrailingLogs uint64
	SnapshotBytes                   int64
	// SnapshotCommands is the number of commands between snapshots, or half the number of keys if that is more.
	SnapshotCommands int64
}

// Owner is the process that a node belongs to: what the node asks it, and what it tells it.
type Owner struct {
	// Leaving is called once when the cluster has this node leave: it finishes what it
	// does for clients, and then calls Drained.
	Leaving func()
	// Removed is called once when the cluster has removed this node, with a line for
	// people. The node serves no clients any more.
	Removed func(reason string)
	// Fatal ends the process; reason is one line for people.
	Fatal func(reason string)
	// Bootstrap returns the cluster's first settings; it is called by the leader, with first set while the state has
	// none. again asks to replace the tokens of a state that has settings.
	Bootstrap func(first bool) (f fsm.Bootstrap, again bool)
	// Audit, if set, is called for each change of the servers that the leader makes by
	// itself: the act, the server, and details.
	Audit func(act, server, detail string)
	// History, if set, returns what this node has recorded, for another node to show. The cluster only carries question and answer; nodes
	// of former versions send an empty question.
	History func(question []byte) ([]byte, error)
	// Leading, if set, runs on the leader from the moment its term is open. ctx ends with the leadership, and Leading
	// must return soon after that.
	Leading func(ctx context.Context, n *Node)
	// Monitor answers a monitor's call from another node; see Node.Ask.
	Monitor func(ctx context.Context, question []byte) ([]byte, error)
}

const (
	defaultHeartbeat    = 500 * time.Millisecond
	defaultTrailingLogs = 250_000
)

// levelAfter returns the default of LevelAfter. It is short in a build that stands for the next version.
func levelAfter() time.Duration {
	if fsm.MaxLevel > env.Latest {
		return 10 * time.Second
	}
	return 10 * time.Minute
}

func (o *Options) defaults() {
	o.Heartbeat = cmp.Or(o.Heartbeat, defaultHeartbeat)
	o.SnapshotThreshold = cmp.Or(o.SnapshotThreshold, 50_000)
	o.TrailingLogs = cmp.Or(o.TrailingLogs, defaultTrailingLogs)
	o.SnapshotBytes = cmp.Or(o.SnapshotBytes, 256<<20)
	o.SnapshotCommands = cmp.Or(o.SnapshotCommands, 1_000_000)
	o.DigestEvery = cmp.Or(o.DigestEvery, digestEntries)
	o.LevelAfter = cmp.Or(o.LevelAfter, levelAfter())
	show := time.Time.UnixMilli
	if o.Now == nil {
		o.Now, show = clock.Now, clock.Wall
	}
	o.wall = func(t time.Time) int64 { return show(t) + failpoint.WallOffset().Milliseconds() }
	if o.Dial == nil {
		o.Dial = net.DialTimeout
	}
	o.Dial = neverRemoved(o.Dial)
	if o.Audit == nil {
		o.Audit = func(string, string, string) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.RaftLog == nil {
		o.RaftLog = hclog.NewNullLogger()
	}
}
