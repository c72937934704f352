package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"trireme/fsm"
)

// ErrAlone says that there is no other voter to lead.
var ErrAlone = errors.New("cluster: no other voter could lead")

// MoveLeadership has the leader, whichever node that is, hand over to the named voter,
// or to the one furthest ahead if the name is empty. It returns when the leader has
// handed over.
func (n *Node) MoveLeadership(ctx context.Context, to string) error {
	leader, ok := n.leader()
	switch {
	case to != "" && !n.isVoter(to):
		return fmt.Errorf("%w: %s", ErrNoSuchNode, to)
	case !ok:
		return fsm.ErrNoLeader
	case leader.id == to:
		return nil
	case leader.id == n.opts.NodeID:
		return n.transferTo(to)
	}
	_, err := n.peers.ask(ctx, leader.addr, callTransfer, []byte(to))
	return err
}

func (n *Node) isVoter(id string) bool {
	for _, s := range n.servers() {
		if string(s.ID) == id && s.Suffrage == raft.Voter {
			return true
		}
	}
	return false
}

func (n *Node) transferTo(to string) error {
	if others, _ := n.otherVoters(); len(others) == 0 {
		return ErrAlone
	}
	return n.TransferLeadership(to)
}

// handOverPause lies between two tries to hand leadership over.
const handOverPause = 50 * time.Millisecond

// HandOver gives leadership away, if this node has it and another could take it. It
// tries until that is done or ctx ends.
func (n *Node) HandOver(ctx context.Context) {
	if others, _ := n.otherVoters(); len(others) == 0 {
		return
	}
	told := false
	for n.raft.State() == raft.Leader && ctx.Err() == nil {
		err := n.TransferLeadership("")
		if err == nil {
			continue
		}
		if !told {
			told = true
			n.log.Warn("leadership was not handed over yet", "error", err)
		}
		pause(ctx, handOverPause)
	}
}

// NewestSnapshot describes the last snapshot on this node's disk.
func (n *Node) NewestSnapshot() (*raft.SnapshotMeta, error) {
	list, err := n.snapshots.List()
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("cluster: there is no snapshot yet")
	}
	return list[0], nil
}
