package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
)

// errRemoved is the reason for which a removed node stops.
var errRemoved = errors.New("the cluster has removed this node")

// leaveInterval is the interval at which a node checks whether it is to leave.
const leaveInterval = 100 * time.Millisecond

// membershipStatus returns this node's own status, as its state has it.
func (n *Node) membershipStatus() (s fsm.MembershipStatus) {
	n.machine.View(0, [16]byte{}, func(v *fsm.View) {
		if own, found := v.Node(n.opts.NodeID); found && own.Disk == n.identity.DiskID {
			s = own.Status
		}
	})
	return s
}

// leaveWhenTold makes this node leave when the log says so.
func (n *Node) leaveWhenTold(ctx context.Context) {
	known := false
	for pause(ctx, leaveInterval) {
		switch n.membershipStatus() {
		case fsm.Removed:
			n.removed(errRemoved)
			return
		case fsm.Leaves:
			if known {
				continue
			}
			known = true
			n.log.Info("this node leaves the cluster: it accepts no more requests and finishes those in progress")
			if n.opts.Leaving != nil {
				n.opts.Leaving()
			}
		}
	}
}

// Drained tells the leader that this node has finished what it did for clients, and
// waits until the leader has removed it, or ctx ends. Only a node that leaves may
// call it; Leaving says whether this one does.
func (n *Node) Drained(ctx context.Context) {
	n.drained.Store(true)
	for !n.out.Load() && pause(ctx, leaveInterval/10) {
	}
}

// Leaving reports whether the cluster has this node leave.
func (n *Node) Leaving() bool { return n.membershipStatus() != fsm.StatusMember }

// removed stops this node: it is no server of the cluster any more.
func (n *Node) removed(why error) {
	if !n.out.CompareAndSwap(false, true) {
		return
	}
	reason := fmt.Sprintf("%s was removed from its cluster and serves nobody any more (%v); its data directory is kept and may be deleted; to come back, start a node with an empty directory, --join and a new --node-id", n.opts.NodeID, why)
	n.log.Warn("removed from the cluster", "reason", why)
	if n.opts.Removed != nil {
		n.opts.Removed(reason)
		return
	}
	n.fatal(reason)
}

// hearRemoved is called when another node says that this one was removed. A caller that has proved itself is believed;
// otherwise this node calls the servers that it knows: if it was removed, they reject it.
func (n *Node) hearRemoved(from transport.Hello) {
	if from.Proved {
		n.removed(errRemoved)
		return
	}
	n.wg.Go(func() {
		ctx, cancel := context.WithTimeout(n.mux.Context(), askTimeout)
		defer cancel()
		for _, s := range n.others() {
			// If the server rejects this node, the transport reports it to excluded.
			_, _ = n.peers.statusOf(ctx, s.ID, s.Addr, askTimeout)
		}
	})
}
