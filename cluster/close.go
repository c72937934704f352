package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
)

// ErrNoSuchNode says that a node isn't a voter of the cluster.
var ErrNoSuchNode = errors.New("cluster: no such voter")

// errNoSuccessor says that no other voter answers.
var errNoSuccessor = errors.New("cluster: no other voter answers")

// TransferLeadership hands leadership to the named node, or to the voter furthest ahead of those
// that answer if the name is empty. Only the leader can do it.
func (n *Node) TransferLeadership(to string) error {
	if to == "" {
		return n.transferToAny()
	}
	for _, s := range n.consensus.Servers() {
		if s.ID == to && s.Voter {
			if to == n.opts.NodeID {
				return nil
			}
			return n.consensus.Transfer(s)
		}
	}
	return fmt.Errorf("%w: %s", ErrNoSuchNode, to)
}

// transferToAny tries the voters that answer, one after the other, the one furthest ahead first. raft's own choice
// (LeadershipTransfer) counts what was sent to a voter: where the logs are equal, it chooses one that is gone, each time.
func (n *Node) transferToAny() error {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	alive := n.alive(ctx)
	var voters []consensus.Server
	for _, s := range n.consensus.Servers() {
		if h, answers := alive[s.ID]; answers && s.Voter && h.Node != n.opts.NodeID {
			voters = append(voters, s)
		}
	}
	slices.SortStableFunc(voters, func(a, b consensus.Server) int {
		return cmp.Compare(alive[b.ID].Applied, alive[a.ID].Applied)
	})
	err := errNoSuccessor
	for _, s := range voters {
		if err = n.consensus.Transfer(s); err == nil || n.consensus.Role() != consensus.Leader {
			return err
		}
	}
	return err
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
	if n.consensus != nil {
		if err := n.consensus.Close(); err != nil {
			n.log.Warn("raft did not shut down cleanly", "error", err)
		}
		n.committer.abandon()
	}
	n.stop()
	if n.peers != nil {
		n.peers.pool.Close()
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
