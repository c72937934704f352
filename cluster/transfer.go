package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/fsm"
)

// ErrAlone says that there is no other voter to lead.
var ErrAlone = errors.New("cluster: no other voter could lead")

// moveTime bounds the time without a leader after leadership was handed over.
const moveTime = 5 * time.Second

// errNotMoved: another node leads than was asked for.
var errNotMoved = errors.New("cluster: leadership was not moved")

// MoveLeadership makes the leader, whichever node that is, hand over to the named voter, or to the one furthest ahead
// if the name is empty. It returns when this node knows the new leader.
func (n *Node) MoveLeadership(ctx context.Context, to string) error {
	ctx, cancel := context.WithTimeout(ctx, moveTime)
	defer cancel()
	old, ok := n.leader()
	switch {
	case to != "" && !n.isVoter(to):
		return fmt.Errorf("%w: %s", ErrNoSuchNode, to)
	case !ok:
		return fsm.ErrNoLeader
	case old.ID == to:
		return nil
	}
	if err := n.askTransfer(ctx, old, to); err != nil {
		return err
	}
	for {
		if now, ok := n.leader(); ok && now.ID != old.ID {
			if to != "" && now.ID != to {
				return fmt.Errorf("%w to %s: %s leads now", errNotMoved, to, now.ID)
			}
			return nil
		}
		if !pause(ctx, 5*time.Millisecond) {
			return fmt.Errorf("%w: no other node leads yet", errNotMoved)
		}
	}
}

func (n *Node) askTransfer(ctx context.Context, leader consensus.Server, to string) error {
	if leader.ID == n.opts.NodeID {
		return n.transferTo(to)
	}
	_, err := n.peers.ask(ctx, leader.Addr, callTransfer, []byte(to))
	return err
}

func (n *Node) isVoter(id string) bool {
	for _, s := range n.consensus.Servers() {
		if s.ID == id && s.Voter {
			return true
		}
	}
	return false
}

func (n *Node) transferTo(to string) error {
	if others, _ := n.consensus.Voters(); len(others) == 0 {
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

// handOverPause is the pause between two tries to transfer leadership.
const handOverPause = 50 * time.Millisecond

// HandOver gives leadership away, if this node has it and another could take it. It
// tries until that is done or ctx ends.
func (n *Node) HandOver(ctx context.Context) {
	if others, _ := n.consensus.Voters(); len(others) == 0 {
		return
	}
	told := false
	for n.consensus.Role() == consensus.Leader && ctx.Err() == nil {
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

// SnapshotInfo describes a snapshot on this node's disk. Bytes is its size.
type SnapshotInfo struct {
	ID    string
	Index uint64
	Bytes int64
}

// NewestSnapshot describes the last snapshot on this node's disk.
func (n *Node) NewestSnapshot() (SnapshotInfo, error) {
	list, err := n.snapshots.List()
	if err != nil {
		return SnapshotInfo{}, err
	}
	if len(list) == 0 {
		return SnapshotInfo{}, errors.New("cluster: there is no snapshot yet")
	}
	return SnapshotInfo{ID: list[0].ID, Index: list[0].Index, Bytes: list[0].Size}, nil
}
