package cluster

import (
	"fmt"
	"runtime"

	"trireme/fsm"
	"trireme/fsm/env"
)

// clusterID is the id of the cluster that this node's disk belongs to, empty before.
func (n *Node) clusterID() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.identity.ClusterID
}

// greet is this node's greeting.
func (n *Node) greet() greeting {
	n.mu.Lock()
	defer n.mu.Unlock()
	return greeting{cluster: n.identity.ClusterID, node: n.identity.NodeID, disk: n.identity.DiskID, arch: runtime.GOARCH, level: fsm.MaxLevel,
		processes: n.introduction().processes}
}

// record is what this node's state remembers of a node. Before the state has caught up,
// the founders' disks are known from this node's own.
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

// level is the feature level in force, as far as this node knows.
func (n *Node) level() (l env.Level) {
	n.machine.View(0, [16]byte{}, func(v *fsm.View) { l = v.Level() })
	return l
}

// admit judges another node's greeting. Whoever must not take part is told why.
func (n *Node) admit(g greeting, what purpose) error {
	mine := n.clusterID()
	known, found := n.record(g.node)
	switch {
	case g.cluster != "" && mine != "" && g.cluster != mine:
		return fmt.Errorf("%w: %w: it has cluster id %s, this node %s", ErrRefused, ErrOtherCluster, g.cluster, mine)
	case found && known.Standing == fsm.Removed:
		return fmt.Errorf("%w: %w: %s can't come back under this id; its data directory can be deleted, and a node joins again under a new id",
			ErrRefused, ErrRemoved, g.node)
	case found && known.Disk != g.disk:
		return fmt.Errorf("%w: %w: %s has disk %s there and calls with %s; give the node a new id, or put the old disk back",
			ErrRefused, ErrWipedDisk, g.node, known.Disk, g.disk)
	case what == forRaft && (g.cluster == "" || g.cluster != mine):
		return fmt.Errorf("%w: %s has no cluster id yet", ErrRefused, g.node)
	case g.to != "" && g.to != n.opts.NodeID:
		return fmt.Errorf("%w: %w: it is %s, not %s", ErrRefused, ErrAnotherNode, n.opts.NodeID, g.to)
	case g.arch != "" && g.arch != runtime.GOARCH:
		return fmt.Errorf("%w: %w: %s runs on %s, this node on %s", ErrRefused, ErrArchitecture, g.node, g.arch, runtime.GOARCH)
	}
	if level := n.level(); g.level != 0 && g.level < level {
		return fmt.Errorf("%w: %w: the cluster is at feature level %d, %s knows %d; start it with a newer version", ErrRefused, ErrLevel, level, g.node, g.level)
	}
	if mine == "" || g.cluster != mine { // it belongs to no cluster yet
		return nil
	}
	if err := n.met(g.node, introduction{g.disk, g.processes}); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return nil
}

// expected is the id of the server at an address, as raft's configuration has it.
func (n *Node) expected(addr string) string {
	if !n.running.Load() {
		return ""
	}
	for _, s := range n.servers() {
		if string(s.Address) == addr {
			return string(s.ID)
		}
	}
	return ""
}
