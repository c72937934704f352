package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

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
func (n *Node) level() env.Level { return n.machine.Level() }

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

// olderCopyFile marks a directory of which another node has said that it is an older copy. Starts alone must not make it
// a newer one.
const olderCopyFile = "older-copy.txt"

// processes returns the processes of this node's disk, up to this one; none if the node takes no part in incarnation checks.
func (n *Node) processes() []transport.Process {
	if n.incarnations == nil {
		return nil
	}
	return n.incarnations.Mine()
}

// judgeIncarnation judges the process that says it is a node of this cluster. It is recorded if it has proved that:
// raft's promises are only counted on connections that this node has dialed, after callbacks.Verify.
func (n *Node) judgeIncarnation(node string, i membership.Incarnation, proved bool) error {
	if n.incarnations == nil || node == n.opts.NodeID { // it takes no part; it calls itself
		return nil
	}
	if !proved {
		return n.incarnations.Judge(node, i)
	}
	return n.incarnations.Record(node, i)
}

// Verify asks the node that has an address which process it is, before raft speaks with it there. If the open
// connection doesn't answer at once it asks over a new one: a connection from before a network cut may hold an answer up
// for seconds after the cut has healed.
func (c callbacks) Verify(addr string, timeout time.Duration) error {
	n := c.n
	quick, cancel := context.WithTimeout(n.mux.Context(), openConnTimeout)
	defer cancel()
	h, err := n.peers.status(quick, addr)
	if errors.Is(err, context.DeadlineExceeded) {
		timeout = max(timeout, openConnTimeout)
		long, cancel := context.WithTimeout(n.mux.Context(), timeout)
		defer cancel()
		h, err = n.peers.statusOf(long, c.Expected(addr), addr, timeout)
	}
	if err != nil {
		return err
	}
	return n.judgeIncarnation(h.Node, h.incarnation(), true)
}

// announceIncarnation calls each other server once, so that a process on an older copy of its disk learns of it soon.
func (n *Node) announceIncarnation(ctx context.Context) {
	called := map[string]bool{}
	for {
		open := 0
		for _, s := range n.consensus.Servers() {
			id := s.ID
			if id == n.opts.NodeID || called[id] {
				continue
			}
			ask, cancel := context.WithTimeout(ctx, transport.DialTimeout)
			_, err := n.peers.status(ask, s.Addr)
			cancel()
			if called[id] = err == nil; err != nil {
				open++
			}
		}
		if open == 0 || !pause(ctx, announceInterval) {
			return
		}
	}
}

const (
	// openConnTimeout bounds the wait for an answer over an open connection before another connection is tried.
	openConnTimeout = 100 * time.Millisecond
	// announceInterval is the interval at which a node tries to call the nodes that it has not reached.
	announceInterval = time.Second
)

// Excluded stops this node: another one, which this node has called at the address of a server, rejects it for good.
func (c callbacks) Excluded(why error) {
	switch n := c.n; {
	case errors.Is(why, transport.ErrRolledBack):
		n.rolledBack(why)
	case errors.Is(why, transport.ErrCopied):
		n.stopCopy(why)
	case n.running.Load(): // otherwise Open returns the error
		n.removed(why)
	}
}

// rolledBack stops this node for good: another one knows a later state of its disk. The data stays where it is.
func (n *Node) rolledBack(why error) {
	reason := fmt.Sprintf("%s runs on an older copy of its data directory: it has forgotten what it acknowledged and whom it voted for; "+
		"put the newest state of the whole directory back, or replace the node by one with a new id (start it with an empty directory, --join and --replace %s); "+
		"nothing was deleted (%v)", n.opts.NodeID, n.opts.NodeID, why)
	if err := membership.WriteSynced(filepath.Join(n.opts.DataDir, olderCopyFile), []byte(reason+"\n"), os.Rename); err != nil {
		n.log.Error("the directory can't be marked as an older copy", "error", err)
	}
	n.fatal(reason)
}

// checkOlderCopy refuses a directory that rolledBack has marked.
func checkOlderCopy(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, olderCopyFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return errors.Join(fmt.Errorf("%w: %s", transport.ErrRolledBack, text), err)
}

// A copy of a data directory in use is a node that counts one start more than the process that runs: by their starts alone the
// copy would win, and the healthy process be rejected as an older one. So a new process of a node is accepted only when the one
// before doesn't answer any more at the address that the cluster knows. The process that was there first stays.

// firstTimeout bounds the wait for the process at the known address. It is below transport.HandshakeTimeout, within which
// the new process gets its answer.
const firstTimeout = 1500 * time.Millisecond

// admitProcess judges the process that calls. If it would replace an earlier process of its node, this node checks that the
// earlier one no longer answers before raft listens to the new one and before it is remembered.
func (n *Node) admitProcess(h transport.Hello, what transport.Purpose) error {
	i := membership.Incarnation{Disk: h.Disk, Processes: h.Processes}
	follows := n.incarnations != nil && n.incarnations.Follows(h.Node, i)
	if follows && what == transport.ForRaft {
		if err := n.refuseCopy(h.Node, i); err != nil {
			return err
		}
		follows = false
	}
	return n.judgeIncarnation(h.Node, i, h.Proved && !follows)
}

// refuseCopy returns an error if another process of the same disk answers at the address of a server.
func (n *Node) refuseCopy(node string, i membership.Incarnation) error {
	if !n.running.Load() || node == n.opts.NodeID {
		return nil
	}
	s, is := n.server(node)
	if !is {
		return nil
	}
	ctx, cancel := context.WithTimeout(n.mux.Context(), firstTimeout)
	defer cancel()
	return n.comparePresent(ctx, s, i)
}

// comparePresent asks which server is at an address. None, or one with another disk, is no objection.
func (n *Node) comparePresent(ctx context.Context, s consensus.Server, i membership.Incarnation) error {
	there, err := n.peers.status(ctx, s.Addr)
	first := there.incarnation().Process()
	if err != nil || there.Node != s.ID || there.Disk != i.Disk || first == i.Process() || first.Name == "" {
		return nil
	}
	return fmt.Errorf("%w: %s runs at %s, as start %d of its data directory, and was there first; this is start %d, on a copy of that directory",
		transport.ErrCopied, s.ID, s.Addr, first.Boot, i.Process().Boot)
}

// stopCopy stops this node, which runs on a copy of a directory in use. The healthy one goes on.
func (n *Node) stopCopy(why error) {
	n.fatal(fmt.Sprintf("%s is running elsewhere on the data directory that this one is a copy of, and stays, because it was there first; "+
		"to move the node stop it there before the directory is copied, to add a node start it with an empty directory, an id of its own and --join (%v)",
		n.opts.NodeID, why))
}
