package cluster

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/hashicorp/go-hclog"

	"trireme/cluster/logstore"
	"trireme/fsm"
	"trireme/fsm/env"
)

// Options describe one node.
type Options struct {
	NodeID, DataDir string
	// Bind is the cluster address to listen on, Advertise the one that others dial, if
	// it differs.
	Bind, Advertise string
	// HTTP and Gossip are what this node tells others of its other addresses; Version
	// is that of the binary.
	HTTP, Gossip, Version string
	// RESP is where clients reach this node's RESP port, host:port, which the cluster
	// commands tell on every node; empty if it has none.
	RESP string
	// InitialCluster is the static list; used on an empty data directory only.
	InitialCluster []Peer
	// Join are the gossip addresses of a running cluster to join; used on an empty data
	// directory only. Replace is the server whose place this node is to take then.
	Join    []string
	Replace string
	// GossipKey is that of MembersOptions.Key: the cluster is asked with it.
	GossipKey []byte
	// Security is TLS between nodes; nil is none.
	Security *Security
	// Leaving is called once when the cluster has this node leave: it finishes what it
	// does for clients, and then calls Drained.
	Leaving func()
	// Removed is called once when the cluster has removed this node, with a line for
	// people. The node serves nobody any more.
	Removed func(reason string)
	// Heartbeat is raft's heartbeat and election timeout; the leader's lease is half of
	// it.
	Heartbeat time.Duration
	// Founding gives the cluster's first settings; it is called by the leader, with
	// first set while the state has none. again asks to replace the tokens of a state
	// that has.
	Founding func(first bool) (f fsm.Founding, again bool)
	// SnapshotThreshold is how many entries, and SnapshotBytes how many bytes of
	// entries, lie between snapshots; TrailingLogs is how many entries stay behind one.
	SnapshotThreshold, TrailingLogs uint64
	SnapshotBytes                   int64
	// SnapshotCommands is how many commands lie between snapshots.
	SnapshotCommands int64
	// DigestEvery is how many entries lie between digests.
	DigestEvery uint64
	// LevelAfter is how long all servers must know a level before it is raised.
	LevelAfter time.Duration
	// Space says how much free disk the node wants.
	Space logstore.Space
	// Audit, if set, is told what the leader has changed of the servers by itself: the
	// act, the server, and more about it.
	Audit func(act, server, detail string)
	// Fatal ends the process; reason is one line for people.
	Fatal func(reason string)
	// Dial replaces net.DialTimeout between nodes; tests cut nodes off by it.
	Dial func(network, addr string, timeout time.Duration) (net.Conn, error)
	// Notes is given what applies have to tell this node's subscribers.
	Notes func([]env.Note)
	// Restored is called when a snapshot has replaced the state: Notes in between are
	// lost to this node.
	Restored func()
	// Leading, if set, runs on the leader from the moment its term is open until ctx ends
	// with the leadership, and returns soon after that.
	Leading func(ctx context.Context, n *Node)
	// Monitor answers a monitor's question of another node; see Node.Ask.
	Monitor func(ctx context.Context, question []byte) ([]byte, error)
	Log     *slog.Logger
	// RaftLog gets the lines of the raft library.
	RaftLog hclog.Logger
}

func (o *Options) defaults() {
	set(&o.Heartbeat, 500*time.Millisecond)
	set(&o.SnapshotThreshold, 50_000)
	set(&o.TrailingLogs, 10_000)
	set(&o.SnapshotBytes, 64<<20)
	set(&o.SnapshotCommands, 1_000_000)
	set(&o.DigestEvery, digestEvery)
	set(&o.LevelAfter, levelAfter)
	if o.Dial == nil {
		o.Dial = net.DialTimeout
	}
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

func set[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}
