package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/session"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/internal/plural"
)

// removeTimeout bounds how long a caller waits until a node is gone.
const removeTimeout = 30 * time.Second

// changeRequest asks for a server to go, or for another to take its place.
type changeRequest struct {
	Node string
	// With is the server that takes its place, of a replacement.
	With  string
	Force bool
}

// RemoveNode makes a server leave: it finishes what it does for clients, and then the leader removes it and it stops.
// It returns when this node knows that it is gone, or, if it is this node itself, when it begins to leave. A voter is
// only removed where enough voters stay: ErrUnsafe says what is missing. Where a caught-up non-voter stands by, that
// one becomes a voter first. force removes it below three voters, never below a majority that answers.
func (n *Node) RemoveNode(ctx context.Context, id string, force bool) error {
	return n.changeServers(ctx, callRemove, changeRequest{Node: id, Force: force})
}

// ReplaceNode gives the place of a server to the server with, a non-voter; see RemoveNode.
func (n *Node) ReplaceNode(ctx context.Context, id, with string) error {
	return n.changeServers(ctx, callReplace, changeRequest{Node: id, With: with})
}

func (n *Node) changeServers(ctx context.Context, kind transport.Kind, q changeRequest) error {
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	body, err := json.Marshal(q)
	if err == nil {
		err = n.askLeader(ctx, kind, body, func() error { return n.change(ctx, kind, q) }, new(changeAnswer))
	}
	if err != nil || q.Node == n.opts.NodeID {
		return err
	}
	for {
		if _, still := n.server(q.Node); !still {
			return nil
		}
		if !pause(ctx, 10*time.Millisecond) {
			return fmt.Errorf("%s leaves, but is not gone yet: cluster status shows when it is", q.Node)
		}
	}
}

// leaderAnswer is the answer of a leader to another node, which holds the error as callers know it.
type leaderAnswer interface{ error() error }

// askLeader asks the leader: this node, which answers by own, or another, whose answer is decoded into a. It asks again while
// nobody leads, or the one asked does not lead yet or any more, for session.Leaderless at most.
func (n *Node) askLeader(ctx context.Context, kind transport.Kind, question []byte, own func() error, a leaderAnswer) (err error) {
	for began := time.Now(); ; {
		leader, ok := n.leader()
		switch {
		case !ok:
			err = fsm.ErrNoLeader
		case leader.ID == n.opts.NodeID:
			err = own()
		default:
			var b []byte
			if b, err = n.peers.Ask(ctx, leader.Addr, kind, question); err == nil {
				err = json.Unmarshal(b, a)
			}
			if err == nil {
				err = a.error()
			}
		}
		if !errors.Is(err, fsm.ErrNoLeader) || time.Since(began) >= session.Leaderless || !pause(ctx, retryPause) {
			return err
		}
	}
}

// leaderError is the part of an answer for errors that are not of one kind of call.
type leaderError struct {
	Failed   string
	NoLeader bool
}

func leaderErrorOf(err error) leaderError {
	switch {
	case err == nil:
		return leaderError{}
	case errors.Is(err, fsm.ErrNoLeader):
		return leaderError{NoLeader: true}
	}
	return leaderError{Failed: err.Error()}
}

func (le leaderError) error() error {
	switch {
	case le.NoLeader:
		return fsm.ErrNoLeader
	case le.Failed != "":
		return errors.New(le.Failed)
	}
	return nil
}

// reasonOf returns the text of an error without that of its kind.
func reasonOf(err, kind error) string { return strings.TrimPrefix(err.Error(), kind.Error()+": ") }

// changeAnswer carries the errors that callers tell apart.
type changeAnswer struct {
	Unsafe, NoServer string
	leaderError
}

func answerOf(err error) changeAnswer {
	switch {
	case errors.Is(err, ErrUnsafe):
		return changeAnswer{Unsafe: reasonOf(err, ErrUnsafe)}
	case errors.Is(err, ErrNoServer):
		return changeAnswer{NoServer: reasonOf(err, ErrNoServer)}
	}
	return changeAnswer{leaderError: leaderErrorOf(err)}
}

func (a changeAnswer) error() error {
	switch {
	case a.Unsafe != "":
		return fmt.Errorf("%w: %s", ErrUnsafe, a.Unsafe)
	case a.NoServer != "":
		return fmt.Errorf("%w: %s", ErrNoServer, a.NoServer)
	}
	return a.leaderError.error()
}

// change begins a change of servers; the keeper goes on with it.
func (n *Node) change(ctx context.Context, kind transport.Kind, q changeRequest) error {
	term, release, err := n.leadingNow()
	if err != nil {
		return fsm.ErrNoLeader
	}
	defer release()
	s, is := n.server(q.Node)
	if !is {
		return fmt.Errorf("%w: %s", ErrNoServer, q.Node)
	}
	if kind == callReplace {
		return n.beginReplacement(term, q)
	}
	if other := n.leaver(); other == q.Node {
		return nil // it is asked for once more
	} else if other != "" {
		return fmt.Errorf("%w: %s is leaving still; one node after the other", ErrUnsafe, other)
	}
	if s.Voter {
		if err := n.readyWithout(ctx, q); err != nil {
			return err
		}
	}
	return n.leaves(term, q.Node)
}

// readyWithout makes sure that enough voters stay when one goes, by making a caught-up
// non-voter one if need be.
func (n *Node) readyWithout(ctx context.Context, q changeRequest) error {
	if err := n.safeWithout(ctx, q.Node); err != nil {
		return err
	}
	if n.voterCount() > wantedVoters {
		return nil
	}
	for _, s := range n.consensus.Servers() {
		if !s.Voter && n.spare(s) && n.caughtUp(ctx, s) {
			return n.promote(ctx, s)
		}
	}
	if !q.Force {
		return fmt.Errorf("%w: removing %s leaves %s, too few to lose one, and no caught-up non-voter stands by; let a node join first, or start one with --join and --replace %s (--force removes it nevertheless)",
			ErrUnsafe, q.Node, plural.Of(n.voterCount()-1, "voter"), q.Node)
	}
	return nil
}

// spare reports whether a server replaces none yet and isn't leaving.
func (n *Node) spare(s consensus.Server) bool {
	record, found := n.record(s.ID)
	return found && record.Status == fsm.StatusMember && (record.Replaces == "" || !n.stays(record.Replaces))
}

// leaver returns a server that leaves, empty if none does.
func (n *Node) leaver() string {
	s, _ := n.findServer(func(s consensus.Server) bool {
		record, _ := n.record(s.ID)
		return record.Status != fsm.StatusMember
	})
	return s.ID
}

// beginReplacement records in the log whose place a non-voter is to take.
func (n *Node) beginReplacement(term uint64, q changeRequest) error {
	s, is := n.server(q.With)
	record, found := n.record(q.With)
	switch {
	case !is || !found || record.Status != fsm.StatusMember:
		return fmt.Errorf("%w: %s", ErrNoServer, q.With)
	case s.Voter:
		return fmt.Errorf("%w: %s is a voter already; remove %s instead", ErrUnsafe, q.With, q.Node)
	}
	record.Replaces = q.Node
	_, err := n.recordNode(term, record)
	return err
}

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
			// If the server rejects this node, the transport reports it to callbacks.Excluded.
			_, _ = n.peers.statusOf(ctx, s.ID, s.Addr, askTimeout)
		}
	})
}
