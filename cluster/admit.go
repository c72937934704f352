package cluster

import (
	"fmt"
	"runtime"

	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

// clusterID returns the id of the cluster that this node's disk belongs to, empty before.
func (n *Node) clusterID() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.identity.ClusterID
}

// hello returns this node's hello.
func (n *Node) hello() transport.Hello {
	n.mu.Lock()
	defer n.mu.Unlock()
	return transport.Hello{Cluster: n.identity.ClusterID, Node: n.identity.NodeID, Disk: n.identity.DiskID, Arch: runtime.GOARCH, Level: fsm.MaxLevel,
		Processes: n.processes()}
}

// record returns what this node's state remembers of a node, and whether it does. Before the state has caught up, the
// founders' disks are known from this node's own.
func (n *Node) record(id string) (known fsm.NodeRecord, found bool) {
	n.machine.View(0, [16]byte{}, func(v *fsm.View) { known, found = v.Node(id) })
	if found {
		return known, true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	disk, found := n.identity.Disks[id]
	return fsm.NodeRecord{Node: id, Disk: disk}, found
}

// level returns the feature level in force, as far as this node knows.
func (n *Node) level() (l env.Level) {
	n.machine.View(0, [16]byte{}, func(v *fsm.View) { l = v.Level() })
	return l
}

// admit judges another node's hello. The error says why it must not take part.
func (n *Node) admit(h transport.Hello, what transport.Purpose) error {
	mine := n.clusterID()
	known, found := n.record(h.Node)
	switch {
	case h.Cluster != "" && mine != "" && h.Cluster != mine:
		return fmt.Errorf("%w: %w: it has cluster id %s, this node %s", transport.ErrRejected, ErrOtherCluster, h.Cluster, mine)
	case found && known.Status == fsm.Removed:
		return fmt.Errorf("%w: %w: %s can't come back under this id; its data directory can be deleted, and a node joins again under a new id",
			transport.ErrRejected, transport.ErrRemoved, h.Node)
	case found && known.Disk != h.Disk:
		return fmt.Errorf("%w: %w: %s has disk %s there and calls with %s; give the node a new id, or put the old disk back",
			transport.ErrRejected, ErrWipedDisk, h.Node, known.Disk, h.Disk)
	case what == transport.ForRaft && (h.Cluster == "" || h.Cluster != mine):
		return fmt.Errorf("%w: %s has no cluster id yet", transport.ErrRejected, h.Node)
	case h.To != "" && h.To != n.opts.NodeID:
		return fmt.Errorf("%w: %w: it is %s, not %s", transport.ErrRejected, ErrAnotherNode, n.opts.NodeID, h.To)
	case h.Arch != "" && h.Arch != runtime.GOARCH:
		return fmt.Errorf("%w: %w: %s runs on %s, this node on %s", transport.ErrRejected, ErrArchitecture, h.Node, h.Arch, runtime.GOARCH)
	}
	if level := n.level(); h.Level != 0 && h.Level < level {
		return fmt.Errorf("%w: %w: the cluster is at feature level %d, %s knows %d; start it with a newer version", transport.ErrRejected, ErrLevel, level, h.Node, h.Level)
	}
	if mine == "" || h.Cluster != mine { // it belongs to no cluster yet
		return nil
	}
	if err := n.admitProcess(h, what); err != nil {
		return fmt.Errorf("%w: %w", transport.ErrRejected, err)
	}
	return nil
}

// expected returns the id of the server at an address, as raft's configuration has it.
func (n *Node) expected(addr string) string {
	if !n.running.Load() {
		return ""
	}
	for _, s := range n.consensus.Servers() {
		if s.Addr == addr {
			return s.ID
		}
	}
	return ""
}
