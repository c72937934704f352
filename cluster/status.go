package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
)

// Status is the cluster as one node sees it.
type Status struct {
	Leader string
	Term   uint64
	Nodes  []NodeStatus
}

// NodeStatus is one server of the configuration. A node that doesn't answer has the
// state "unreachable".
type NodeStatus struct {
	ID, HTTP, Gossip, Cluster, Suffrage, State, Version string
	AppliedIndex                                        uint64
	// LastContactMs is the time since the node last heard from its leader, in milliseconds; 0 for the leader.
	LastContactMs int64
	// Leaving is set while the node is being taken out.
	Leaving bool
	// Poison is the entry before which the node waits for its operator, nil if it waits for none.
	Poison *PoisonEntry
	// SlowDiskMs is how long the node's disk has been slow, in milliseconds; 0 if it is not, or only for a few seconds.
	SlowDiskMs int64
}

// ID returns this node's id.
func (n *Node) ID() string { return n.opts.NodeID }

// Status asks every node of the configuration how it does.
func (n *Node) Status(ctx context.Context) Status {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	leader, _ := n.leader()
	servers := n.consensus.Servers()
	s := Status{Leader: leader.ID, Term: n.consensus.Term(), Nodes: make([]NodeStatus, len(servers))}
	each(servers, func(i int, server consensus.Server) {
		s.Nodes[i] = NodeStatus{ID: server.ID, Cluster: server.Addr, Suffrage: server.Suffrage(), State: "unreachable"}
		record, _ := n.record(server.ID)
		s.Nodes[i].Leaving = record.Status != fsm.StatusMember
		h, err := n.self(), error(nil)
		if h.Node != server.ID {
			h, err = n.peers.status(ctx, server.Addr)
		}
		if err == nil {
			c := &s.Nodes[i]
			c.HTTP, c.Gossip, c.Version, c.AppliedIndex, c.LastContactMs = h.HTTP, h.Gossip, h.Version, h.Applied, h.ContactMs
			c.State, c.Poison, c.SlowDiskMs = cmp.Or(h.State, "starting"), h.Poison, h.SlowDiskMs
		}
	})
	slices.SortFunc(s.Nodes, func(a, b NodeStatus) int { return cmp.Compare(a.ID, b.ID) })
	return s
}

// IsLeader reports whether this node leads and has opened its term.
func (n *Node) IsLeader() bool { return n.openTerm.Load() != 0 }

// LeadingTerm returns the term that this node leads and has opened, 0 if it doesn't lead.
func (n *Node) LeadingTerm() uint64 { return n.openTerm.Load() }

// Now returns cluster time in unix milliseconds as the leader's clock shows it, for timers.
// On other nodes it is the time of the last entry applied.
func (n *Node) Now() int64 {
	if n.openTerm.Load() == 0 {
		return n.machine.Clock()
	}
	return n.clock.Peek()
}

// TimeDifference returns by how much cluster time is ahead of the wall clocks of a majority, negative if it is behind, and
// for how long it has differed by more than a second; 0 and 0 if it does not. A node that doesn't lead knows only of what is
// ahead, as the last entry has it.
func (n *Node) TimeDifference() (ahead, lasts time.Duration) {
	of := n.ceiling.Difference
	if n.openTerm.Load() != 0 {
		of = n.clock.Difference
	}
	ms, lasts := of()
	return time.Duration(ms) * time.Millisecond, lasts
}

// LeaderHTTP returns the HTTP address of the leader, empty if it isn't known.
func (n *Node) LeaderHTTP(ctx context.Context) string {
	leader, ok := n.leader()
	if !ok {
		return ""
	}
	if leader.ID == n.opts.NodeID {
		return n.opts.HTTP
	}
	h, err := n.peers.status(ctx, leader.Addr)
	if err != nil {
		return ""
	}
	return h.HTTP
}

// Ready reports whether this node has a leader, has caught up with it, and the cluster
// has its first settings.
func (n *Node) Ready(ctx context.Context) bool {
	founded := false
	_, err := n.Read(ctx, fsm.Reading{}, func(v *fsm.View) { founded = v.ClusterID() != "" })
	return err == nil && founded
}

// peerStatus is a node's answer about itself.
type peerStatus struct {
	Node, Disk, Cluster string
	// Processes are the processes of the node's disk, oldest first; the last one is answering.
	Processes []transport.Process
	// Phase is the node's progress on its way into a cluster.
	Phase phase
	// List is the static list the node was started with, as one text.
	List string
	// Disks are the disk ids of the founders, once adopted.
	Disks map[string]string
	// HTTP and Gossip are addresses; Version and Level are the binary's.
	HTTP, Gossip, Version string
	Level                 uint32
	// Arch is the processor architecture.
	Arch string
	// Servers are the servers of raft's configuration, as this node has it.
	Servers []Peer
	// Drained says that the node leaves the cluster, and has finished what it did for
	// clients.
	Drained bool
	// Applied, Term, State and ContactMs are raft's, as this node sees them; Wall is its
	// clock in unix milliseconds.
	Applied, Term uint64
	State         string
	ContactMs     int64
	Wall          int64
	// Poison is the entry before which the node waits for its operator.
	Poison *PoisonEntry `json:",omitempty"`
	// SlowDisk says that the node's disk is slow, SlowDiskMs for how many milliseconds it has been, once that is long.
	SlowDisk   bool  `json:",omitempty"`
	SlowDiskMs int64 `json:",omitempty"`
	// Snapshot says whether the node is about to write a snapshot, or writes one.
	Snapshot snapshotPhase `json:",omitempty"`
}

// incarnation returns the process that answers.
func (s *peerStatus) incarnation() membership.Incarnation {
	return membership.Incarnation{Disk: s.Disk, Processes: s.Processes}
}

// phase is a node's progress on its way into a cluster.
type phase int

// The phases: nothing on the disk; the cluster's id on the disk; raft runs.
const (
	phaseEmpty phase = iota
	phaseAdopted
	phaseStarted
)

// self returns this node's own status.
func (n *Node) self() peerStatus {
	n.mu.Lock()
	h := peerStatus{Node: n.identity.NodeID, Disk: n.identity.DiskID, Cluster: n.identity.ClusterID, Disks: n.identity.Disks, Phase: n.phase}
	n.mu.Unlock()
	h.Processes = n.processes()
	h.List = listText(n.opts.InitialCluster)
	h.HTTP, h.Gossip, h.Version, h.Level = n.opts.HTTP, n.opts.Gossip, n.opts.Version, uint32(fsm.MaxLevel)
	h.Wall, h.Arch, h.Drained = n.opts.wall(n.opts.Now()), runtime.GOARCH, n.drained.Load()
	h.SlowDisk, h.Snapshot = n.ownDisk.Slow(), n.turn.current()
	if since := n.SlowDiskSince(); !since.IsZero() {
		h.SlowDiskMs = time.Since(since).Milliseconds()
	}
	if n.running.Load() {
		h.Poison = n.Poison()
		h.Applied, _ = n.machine.Applied()
		h.Term, h.Servers = n.consensus.Term(), n.Servers()
		h.State = n.consensus.Role().String()
		h.ContactMs = n.age()
	}
	return h
}

// errStatusOnly answers other nodes while this one doesn't run yet because its machine is being examined.
var errStatusOnly = errors.New("the node doesn't run yet: its machine is being examined")

// PeerStatuses does what Examine does, for a node that doesn't run yet: it opens the cluster port for as long as it
// takes, asks the nodes that the options name, and does nothing else. The error says what keeps this node from its
// directory, its port or the cluster; the reports hold what was found out nevertheless.
func PeerStatuses(ctx context.Context, o Options) ([]PeerReport, error) {
	o.defaults()
	id, err := readIdentity(o.DataDir, o.NodeID)
	if errors.Is(err, os.ErrNotExist) {
		id, err = &identity{NodeID: o.NodeID}, nil // an examination writes nothing
	}
	if err != nil {
		return nil, err
	}
	n := &Node{opts: o, log: o.Log, started: time.Now(), replica: replica{machine: fsm.NewMachine()}, identity: id}
	opened := n.openStatusOnly()
	defer func() {
		n.peers.Close()
		n.mux.Close()
		n.mux.Wait()
	}()
	others, err := n.named(ctx)
	all := n.examine(ctx, others)
	if opened != nil {
		for i := range all {
			all[i].Back = Reach{Err: opened}
		}
	}
	return all, errors.Join(opened, err)
}

// openStatusOnly opens the cluster port for those who are asked to reach back, and for nothing else. If it can't be
// opened, others can still be called.
func (n *Node) openStatusOnly() error {
	c := statusCallbacks{callbacks{n: n}}
	m, err := transport.Listen(n.transportConfig(), c)
	if err != nil {
		m = transport.DialOnly(n.transportConfig(), c)
	}
	n.mux, n.peers = m, newRPCClient(m)
	m.Start()
	return err
}

// statusCallbacks is a node that doesn't run, as its transport sees it.
type statusCallbacks struct{ callbacks }

// Verify accepts every process: raft doesn't run.
func (c statusCallbacks) Verify(string, time.Duration) error { return nil }

// Excluded does nothing: the examination shows the error.
func (c statusCallbacks) Excluded(error) {}

// Rejected does nothing: the examination shows what matters.
func (c statusCallbacks) Rejected(net.Addr, error) {}

// Admit accepts connections for calls, none of which is answered.
func (c statusCallbacks) Admit(h transport.Hello, what transport.Purpose) error {
	if what != transport.ForRPC {
		return fmt.Errorf("%w: %w", transport.ErrRejected, errStatusOnly)
	}
	return c.n.admit(h, what)
}

// Handle answers no call.
func (c statusCallbacks) Handle(_ transport.Hello, _ transport.Kind, _ []byte, answer func([]byte, error)) {
	answer(nil, errStatusOnly)
}

// named returns the nodes that the options name: the nodes of the first configuration, or of the cluster that this node
// is to join.
func (n *Node) named(ctx context.Context) (all []PeerReport, err error) {
	list := n.opts.InitialCluster
	if len(n.opts.Join) > 0 {
		found, err := n.discover(ctx)
		if err != nil {
			return nil, fmt.Errorf("the cluster to join doesn't answer: %w", err)
		}
		if mine := n.clusterID(); mine != "" && mine != found.Cluster {
			return nil, fmt.Errorf("%w: %s has cluster id %s, this node's disk %s", ErrOtherCluster, found.from, found.Cluster, mine)
		}
		list = found.Servers
	}
	for _, p := range list {
		if p.ID != n.opts.NodeID {
			all = append(all, PeerReport{ID: p.ID, Addr: p.Addr})
		}
	}
	return all, nil
}

// historyTimeout bounds how long the history of one node may take: a page waits for it.
const historyTimeout = 2 * time.Second

var errNoHistory = errors.New("this node keeps no history")

// NodeHistory holds the last hours of one node, or the reason why it did not answer.
type NodeHistory struct {
	Node string
	Data []byte
	Err  error
}

// Histories asks every server for its history, this node first. What the question says is up to Options.History.
func (n *Node) Histories(ctx context.Context, question []byte) []NodeHistory {
	ctx, cancel := context.WithTimeout(ctx, historyTimeout)
	defer cancel()
	servers := n.consensus.Servers()
	order := func(s consensus.Server) string {
		if s.ID == n.opts.NodeID {
			return ""
		}
		return s.ID
	}
	slices.SortFunc(servers, func(a, b consensus.Server) int { return strings.Compare(order(a), order(b)) })
	all := make([]NodeHistory, len(servers))
	each(servers, func(i int, server consensus.Server) {
		h := NodeHistory{Node: server.ID}
		if h.Node == n.opts.NodeID {
			h.Data, h.Err = n.history(question)
		} else {
			h.Data, h.Err = n.peers.Ask(ctx, server.Addr, callHistory, question)
		}
		all[i] = h
	})
	return all
}

// history returns this node's history.
func (n *Node) history(question []byte) ([]byte, error) {
	if n.opts.History == nil {
		return nil, errNoHistory
	}
	return n.opts.History(question)
}

// A node that serves a MONITOR client asks the others what their clients execute. Package resp defines the contents of
// question and answer.

// monitorTimeout bounds the time for which another node's call is held.
const monitorTimeout = 4 * time.Second

// Others returns the ids of the other servers of the cluster.
func (n *Node) Others() (ids []string) {
	for _, s := range n.others() {
		ids = append(ids, s.ID)
	}
	return ids
}

// Ask sends a monitor's question to another node, which answers by its Options.Monitor.
func (n *Node) Ask(ctx context.Context, node string, question []byte) ([]byte, error) {
	s, is := n.server(node)
	if !is {
		return nil, fmt.Errorf("cluster: no server %s", node)
	}
	return n.peers.Ask(ctx, s.Addr, callMonitor, question)
}

// answerMonitor answers another node's question. It may wait for commands.
func (n *Node) answerMonitor(question []byte) ([]byte, error) {
	if n.opts.Monitor == nil {
		return nil, errUnknownCall
	}
	ctx, cancel := context.WithTimeout(context.Background(), monitorTimeout)
	defer cancel()
	return n.opts.Monitor(ctx, question)
}
