package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// ErrNoSuchNode says that a node isn't a voter of the cluster.
var ErrNoSuchNode = errors.New("cluster: no such voter")

// TransferLeadership hands leadership to the named node, or to the one that raft
// finds best if the name is empty. Only the leader can do it.
func (n *Node) TransferLeadership(to string) error {
	if to == "" {
		return n.raft.LeadershipTransfer().Error()
	}
	for _, s := range n.servers() {
		if string(s.ID) == to && s.Suffrage == raft.Voter {
			if to == n.opts.NodeID {
				return nil
			}
			return n.raft.LeadershipTransferToServer(s.ID, s.Address).Error()
		}
	}
	return fmt.Errorf("%w: %s", ErrNoSuchNode, to)
}

// Close transfers leadership, waits until every pending request has its outcome or ctx
// ends, and stops the node.
func (n *Node) Close(ctx context.Context) error {
	n.HandOver(ctx)
	for n.proposer.Pending() > 0 && pause(ctx, 5*time.Millisecond) {
	}
	n.release()
	return nil
}

// release stops whatever was started, in reverse order.
func (n *Node) release() {
	if n.watcher != nil {
		n.watcher.Stop()
	}
	if n.raft != nil {
		if err := n.raft.Shutdown().Error(); err != nil {
			n.log.Warn("raft did not shut down cleanly", "error", err)
		}
		n.committer.abandon()
	}
	n.stop()
	n.search.Close()
	if n.peers != nil {
		n.peers.pool.Close()
	}
	if n.transport != nil {
		n.transport.Close()
	}
	if n.mux != nil {
		n.mux.Close()
		n.mux.Wait()
	}
	n.wg.Wait()
	if n.payloads != nil {
		if err := n.payloads.Close(); err != nil {
			n.log.Warn("the payloads on the disk could not be removed", "error", err)
		}
	}
	n.closePoison()
	if n.store != nil {
		if err := n.store.Close(); err != nil {
			n.log.Warn("log store did not close cleanly", "error", err)
		}
	}
}
