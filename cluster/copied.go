package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/cluster/transport"
)

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
	first := membership.Incarnation{Disk: there.Disk, Processes: there.Processes}
	if err != nil || there.Node != s.ID || there.Disk != i.Disk || first.Process() == i.Process() || first.Process().Name == "" {
		return nil
	}
	return fmt.Errorf("%w: %s runs at %s, as start %d of its data directory, and was there first; this is start %d, on a copy of that directory",
		transport.ErrCopied, s.ID, s.Addr, first.Process().Boot, i.Process().Boot)
}

// stopCopy stops this node, which runs on a copy of a directory in use. The healthy one goes on.
func (n *Node) stopCopy(why error) {
	n.fatal(fmt.Sprintf("%s is running elsewhere on the data directory that this one is a copy of, and stays, because it was there first; "+
		"to move the node stop it there before the directory is copied, to add a node start it with an empty directory, an id of its own and --join (%v)",
		n.opts.NodeID, why))
}
