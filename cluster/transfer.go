package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/fsm"
)

// ErrAlone says that there is no other voter to lead.
var ErrAlone = errors.New("cluster: no other voter could lead")

// moveTime bounds how long a leadership that was given away may be without a taker.
const moveTime = 5 * time.Second

// errNotMoved: another node leads than was asked for.
var errNotMoved = errors.New("cluster: leadership was not moved")

// MoveLeadership has the leader, whichever node that is, hand over to the named voter,
// or to the one furthest ahead if the name is empty. It returns when this node knows
// the new leader.
func (n *Node) MoveLeadership(ctx context.Context, to string) error {
	ctx, cancel := context.WithTimeout(ctx, moveTime)
	defer cancel()
	old, ok := n.leader()
	switch {
	case to != "" && !n.isVoter(to):
		return fmt.Errorf("%w: %s", ErrNoSuchNode, to)
	case !ok:
		return fsm.ErrNoLeader
	case old.id == to:
		return nil
	}
	if err := n.askTransfer(ctx, old, to); err != nil {
		return err
	}
	for {
		if now, ok := n.leader(); ok && now.id != old.id {
			if to != "" && now.id != to {
				return fmt.Errorf("%w to %s: %s leads now", errNotMoved, to, now.id)
			}
			return nil
		}
		if !pause(ctx, 5*time.Millisecond) {
			return fmt.Errorf("%w: no other node leads yet", errNotMoved)
		}
	}
}

func (n *Node) askTransfer(ctx context.Context, leader peerAddr, to string) error {
	if leader.id == n.opts.NodeID {
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
	err := n.TransferLeadership(to)
	if err == nil || errors.Is(err, ErrNoSuchNode) {
		return err
	}
	if to == "" {
		to = "another voter"
	}
	return fmt.Errorf("%w to %s, which does not answer or is behind: cluster status shows the nodes (%w)", errNotMoved, to, err)
}

// handOverPause lies between two tries to transfer leadership.
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
			n.log.Warn("leadership was not transferred yet", "error", err)
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
