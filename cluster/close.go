package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/fsm"
)

// ErrNoSuchNode says that a node isn't a voter of the cluster.
var ErrNoSuchNode = errors.New("cluster: no such voter")

// errNoSuccessor says that no other voter answers.
var errNoSuccessor = errors.New("cluster: no other voter answers")

// TransferLeadership hands leadership to the named node, or to the voter furthest ahead of those
// that answer if the name is empty. Only the leader can do it.
func (n *Node) TransferLeadership(to string) error {
	if to == "" {
		return n.transferToOne(errNoSuccessor, func(peerStatus) bool { return true })
	}
	s, is := n.server(to)
	switch {
	case !is || !s.Voter:
		return fmt.Errorf("%w: %s", ErrNoSuchNode, to)
	case to == n.opts.NodeID:
		return nil
	}
	return n.consensus.Transfer(s)
}

// transferToOne tries the voters that answer and that may lead, one after the other: those with a healthy disk first, of them the
// one furthest ahead. It returns none if there is no such voter. raft's own choice (LeadershipTransfer) counts what was sent to
// a voter: where the logs are equal, it chooses one that is gone, each time.
func (n *Node) transferToOne(none error, may func(peerStatus) bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	alive := n.alive(ctx)
	var voters []consensus.Server
	for _, s := range n.consensus.Servers() {
		if h, answers := alive[s.ID]; answers && s.Voter && h.Node != n.opts.NodeID && may(h) {
			voters = append(voters, s)
		}
	}
	slices.SortStableFunc(voters, func(a, b consensus.Server) int {
		if slow := alive[a.ID].SlowDisk; slow != alive[b.ID].SlowDisk {
			if slow {
				return 1
			}
			return -1
		}
		return cmp.Compare(alive[b.ID].Applied, alive[a.ID].Applied)
	})
	err := none
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
		n.peers.Close()
	}
	if n.mux != nil {
		n.mux.Close()
		n.mux.Wait()
	}
	n.wg.Wait()
	if n.adapter != nil {
		n.adapter.finish()
	}
	if n.payloads != nil {
		if err := n.payloads.Close(); err != nil {
			n.log.Warn("the last segment of payloads was not completed", "error", err)
		}
	}
	n.closePoison()
	if n.store != nil {
		if err := n.store.Close(); err != nil {
			n.log.Warn("log store did not close cleanly", "error", err)
		}
	}
}

// lastWords bounds the time that a process which must end takes to log why: its log may be on a disk that doesn't answer.
const lastWords = time.Second

// fatal ends the process by Options.Fatal, once. The cluster port is closed first. A process with a thread that waits for a
// stuck disk does not end before that wait does, and keeps its connections until then, so that the other nodes would take it
// for alive.
func (n *Node) fatal(reason string) {
	if !n.failed.CompareAndSwap(false, true) {
		return
	}
	if port := n.port.Load(); port != nil {
		port.Close()
	}
	end := func() {
		if n.opts.Fatal != nil {
			n.opts.Fatal(reason)
		}
	}
	late := time.AfterFunc(lastWords, end)
	n.log.Error("this node must stop", "reason", reason)
	if late.Stop() {
		end()
	}
}

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
	next, is := n.server(to)
	switch {
	case to != "" && !(is && next.Voter):
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
	_, err := n.peers.Ask(ctx, leader.Addr, callTransfer, []byte(to))
	return err
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
