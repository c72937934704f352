package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"trireme/fsm"
)

// errGone is why a node stops that the leader has taken out.
var errGone = errors.New("the cluster has removed this node")

// leaveEvery is how often a node looks whether it is to leave.
const leaveEvery = 100 * time.Millisecond

// standing is this node's own, as its state has it.
func (n *Node) standing() (s fsm.Standing) {
	n.machine.View(0, [16]byte{}, func(v *fsm.View) {
		if own, found := v.Node(n.opts.NodeID); found && own.Disk == n.identity.DiskID {
			s = own.Standing
		}
	})
	return s
}

// leaveWhenTold has this node leave when the log says so.
func (n *Node) leaveWhenTold(ctx context.Context) {
	told := false
	for pause(ctx, leaveEvery) {
		switch n.standing() {
		case fsm.Removed:
			n.gone(errGone)
			return
		case fsm.Leaves:
			if told {
				continue
			}
			told = true
			n.log.Info("this node leaves the cluster: it takes no more requests and finishes those under way")
			if n.opts.Leaving != nil {
				n.opts.Leaving()
			}
		}
	}
}

// Drained tells the leader that this node has finished what it did for clients, and
// waits until the leader has taken it out, or ctx ends. Only a node that leaves may
// call it; Leaving says whether this one does.
func (n *Node) Drained(ctx context.Context) {
	n.drained.Store(true)
	for !n.out.Load() && pause(ctx, leaveEvery/10) {
	}
}

// Leaving tells whether the cluster has this node leave.
func (n *Node) Leaving() bool { return n.standing() != fsm.Belongs }

// gone stops this node: it is no server of the cluster any more.
func (n *Node) gone(why error) {
	if !n.out.CompareAndSwap(false, true) {
		return
	}
	reason := fmt.Sprintf("%s was removed from its cluster and serves nobody any more (%v); its data directory can be deleted, and a node joins under a new id", n.opts.NodeID, why)
	n.log.Warn("removed from the cluster", "reason", why)
	if n.opts.Removed != nil {
		n.opts.Removed(reason)
		return
	}
	n.fatal(reason)
}
