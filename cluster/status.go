package cluster

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

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
	var wg sync.WaitGroup
	for i, server := range servers {
		s.Nodes[i] = NodeStatus{ID: server.ID, Cluster: server.Addr, Suffrage: server.Suffrage(), State: "unreachable"}
		record, _ := n.record(server.ID)
		s.Nodes[i].Leaving = record.Status != fsm.StatusMember
		wg.Go(func() {
			h, err := n.self(), error(nil)
			if h.Node != server.ID {
				h, err = n.peers.status(ctx, server.Addr)
			}
			if err == nil {
				c := &s.Nodes[i]
				c.HTTP, c.Gossip, c.Version, c.AppliedIndex, c.LastContactMs = h.HTTP, h.Gossip, h.Version, h.Applied, h.ContactMs
				c.State, c.Poison = cmp.Or(h.State, "starting"), h.Poison
			}
		})
	}
	wg.Wait()
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
