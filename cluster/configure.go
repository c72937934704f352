package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/fsm"
)

const (
	// membersInterval is the interval at which the leader checks which servers must change.
	membersInterval = 100 * time.Millisecond
	// askTimeout bounds the questions with which the leader finds out who is there.
	askTimeout = 500 * time.Millisecond
	// drainTimeout bounds the time that a leaving node takes to finish its work for clients. A process drains for ten
	// seconds at most.
	drainTimeout = 15 * time.Second
	// wantedVoters is the number of voters of a cluster: a node that joins becomes a voter only while there are fewer.
	wantedVoters = 3
)

// The reasons why the servers can't be changed.
var (
	// ErrNoServer says that the cluster has no server of that id.
	ErrNoServer = errors.New("the cluster has no such node")
	// ErrUnsafe says that a change would leave the cluster with too few voters, or
	// without a majority; the text says which and what to do.
	ErrUnsafe = errors.New("refused")
)

// Servers returns the nodes of raft's configuration and their cluster addresses.
func (n *Node) Servers() (all []Peer) {
	for _, s := range n.consensus.Servers() {
		all = append(all, Peer{ID: s.ID, Addr: s.Addr})
	}
	return all
}

// others returns the servers of raft's configuration without this node.
func (n *Node) others() []consensus.Server {
	return slices.DeleteFunc(n.consensus.Servers(), func(s consensus.Server) bool { return s.ID == n.opts.NodeID })
}

// findServer returns the first server of raft's configuration that matches.
func (n *Node) findServer(matches func(consensus.Server) bool) (s consensus.Server, found bool) {
	all := n.consensus.Servers()
	if i := slices.IndexFunc(all, matches); i >= 0 {
		return all[i], true
	}
	return s, false
}

// server returns the server with an id.
func (n *Node) server(id string) (consensus.Server, bool) {
	return n.findServer(func(s consensus.Server) bool { return s.ID == id })
}

// serverAt returns the server with an address.
func (n *Node) serverAt(addr string) (consensus.Server, bool) {
	return n.findServer(func(s consensus.Server) bool { return s.Addr == addr })
}

// recordFounders records in the log the disks of the nodes that founded the cluster, as far as the log doesn't have
// them.
func (n *Node) recordFounders(term uint64) {
	n.mu.Lock()
	disks := n.identity.Disks
	n.mu.Unlock()
	for _, s := range n.consensus.Servers() {
		id := s.ID
		known := false
		n.machine.View(0, [16]byte{}, func(v *fsm.View) { _, known = v.Node(id) })
		if disk := disks[id]; !known && disk != "" {
			if _, err := n.recordNode(term, fsm.NodeRecord{Node: id, Disk: disk}); err != nil {
				n.log.Warn("a founder was not recorded", "founder", id, "error", err)
			}
		}
	}
}

// recordNode records a node in the log, and returns the record that the log has then.
func (n *Node) recordNode(term uint64, r fsm.NodeRecord) (fsm.NodeRecord, error) {
	v, err := n.command(term, fsm.AdmitNode.Code, fsm.AdmitNode.Body(r))
	if err != nil {
		return r, err
	}
	return v.(fsm.NodeRecord), nil
}

// alive returns the servers that answer now, by id; this node is one of them.
func (n *Node) alive(ctx context.Context) map[string]peerStatus {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	there := map[string]peerStatus{n.opts.NodeID: n.self()}
	var mu sync.Mutex
	each(n.others(), func(_ int, s consensus.Server) {
		h, err := n.peers.status(ctx, s.Addr)
		if err != nil || h.Node != s.ID || h.Cluster != n.clusterID() || h.Phase != phaseStarted {
			return
		}
		mu.Lock()
		there[h.Node] = h
		mu.Unlock()
	})
	return there
}

// caughtUp reports whether a server has everything that is committed now, or has it
// within askTimeout.
func (n *Node) caughtUp(ctx context.Context, s consensus.Server) bool {
	p := n.consensus.CommitPoint(n.consensus.Term())
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	_, err := n.peers.Ask(ctx, s.Addr, callReached, uvarint(p.Index))
	return err == nil
}

// count returns the number of voters, how many of them answer, and which don't. without is not
// counted among those that answer.
func (n *Node) count(ctx context.Context, without string) (voters, there int, missing []string) {
	alive := n.alive(ctx)
	for _, s := range n.consensus.Servers() {
		if !s.Voter {
			continue
		}
		voters++
		id := s.ID
		if _, answers := alive[id]; answers && id != without {
			there++
		} else if !answers && id != without {
			missing = append(missing, id)
		}
	}
	return voters, there, missing
}

// each calls f for all items at once, and returns when it has returned for all.
func each[T any](items []T, f func(i int, item T)) {
	var wg sync.WaitGroup
	for i, item := range items {
		wg.Go(func() { f(i, item) })
	}
	wg.Wait()
}

func majority(voters int) int { return voters/2 + 1 }

// setServer adds a server, or changes its address or its vote.
func (n *Node) setServer(ctx context.Context, s consensus.Server) error {
	return n.settle(ctx, func() (uint64, error) { return n.consensus.SetServer(s) })
}

// settle changes the servers and waits until this node's own machine has applied the change: the next change, and the
// next look at the voters, begin after it.
func (n *Node) settle(ctx context.Context, change func() (index uint64, err error)) error {
	index, err := change()
	if err != nil {
		return err
	}
	n.reconfigured()
	return n.await(ctx, index)
}

// promote makes a server a voter, if a majority is there with it and without it.
func (n *Node) promote(ctx context.Context, s consensus.Server) error {
	voters, there, missing := n.count(ctx, "")
	if there+1 < majority(voters+1) {
		return fmt.Errorf("%w: of %d voters %s doesn't answer; a further voter would leave no majority", ErrUnsafe, voters, strings.Join(missing, ", "))
	}
	if err := n.setServer(ctx, consensus.Server{ID: s.ID, Addr: s.Addr, Voter: true}); err != nil {
		return fmt.Errorf("make %s a voter: %w", s.ID, err)
	}
	n.log.Info("a server is a voter now", "server", s.ID)
	n.opts.Audit("make a voter", s.ID, s.Addr)
	return nil
}

// keepMembers changes the servers as the log demands, while this node leads.
func (n *Node) keepMembers(ctx context.Context, term uint64) {
	k := &keeper{n: n, term: term, since: map[string]time.Time{}}
	for pause(ctx, membersInterval) {
		n.changing.Lock()
		k.round(ctx)
		n.changing.Unlock()
	}
}

// keeper changes the servers for the leader. What it does follows from raft's configuration and from the node records in
// the log, so that a new leader continues where the last one stopped.
type keeper struct {
	n      *Node
	term   uint64
	since  map[string]time.Time // when a server was first seen to leave
	logged time.Time            // when an obstacle was logged last
}

func (k *keeper) round(ctx context.Context) {
	for _, s := range k.n.consensus.Servers() {
		record, found := k.n.record(s.ID)
		if ctx.Err() != nil || !found {
			continue
		}
		var err error
		switch {
		case record.Status != fsm.StatusMember:
			err = k.remove(ctx, s)
		case record.Replaces != "" && k.n.stays(record.Replaces):
			err = k.replace(ctx, s, record.Replaces)
		case !s.Voter:
			err = k.promoteSpare(ctx, s)
		default:
			continue
		}
		if err != nil && time.Since(k.logged) > 10*time.Second {
			k.logged = time.Now()
			k.n.log.Warn("a change of servers is waiting", "server", s.ID, "reason", err)
		}
	}
}

// stays reports whether a node is a server that isn't leaving.
func (n *Node) stays(id string) bool {
	record, _ := n.record(id)
	_, server := n.server(id)
	return server && record.Status == fsm.StatusMember
}

// promoteSpare makes a non-voter a voter when there are too few, and it has caught up.
func (k *keeper) promoteSpare(ctx context.Context, s consensus.Server) error {
	if k.n.voterCount() >= wantedVoters || !k.n.caughtUp(ctx, s) {
		return nil
	}
	return k.n.promote(ctx, s)
}

func (n *Node) voterCount() (voters int) {
	for _, s := range n.consensus.Servers() {
		if s.Voter {
			voters++
		}
	}
	return voters
}

// replace puts a server in the place of another: it becomes a voter, if the other is one, and then the other leaves.
func (k *keeper) replace(ctx context.Context, s consensus.Server, old string) error {
	former, _ := k.n.server(old)
	if former.Voter && !s.Voter {
		if !k.n.caughtUp(ctx, s) {
			return nil
		}
		if err := k.n.promote(ctx, s); err != nil {
			return err
		}
	}
	return k.n.leaves(k.term, old)
}

// leaves records in the log that a node leaves.
func (n *Node) leaves(term uint64, id string) error {
	_, err := n.command(term, fsm.RemoveNode.Code, fsm.RemoveNode.Body(fsm.NodeRef{Node: id, Leaving: true}))
	return err
}

// remove removes a server that leaves, once it has finished what it does for clients
// or doesn't answer. The leader itself hands over first: its successor removes it.
func (k *keeper) remove(ctx context.Context, s consensus.Server) error {
	n, id := k.n, s.ID
	if id == n.opts.NodeID {
		return n.TransferLeadership("")
	}
	began, seen := k.since[id]
	if !seen {
		began = time.Now()
		k.since[id] = began
	}
	h, answers := n.alive(ctx)[id]
	if answers && !h.Drained && time.Since(began) < drainTimeout {
		return nil
	}
	if s.Voter {
		if err := n.safeWithout(ctx, id); err != nil {
			return err
		}
	}
	if err := n.settle(ctx, func() (uint64, error) { return n.consensus.RemoveServer(id) }); err != nil {
		return err
	}
	n.log.Info("a server was removed", "server", id)
	n.opts.Audit("take out", id, s.Addr)
	if _, err := n.command(k.term, fsm.RemoveNode.Code, fsm.RemoveNode.Body(fsm.NodeRef{Node: id})); err != nil {
		return err
	}
	if answers {
		tell, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		_, _ = n.peers.Ask(tell, s.Addr, callRemoved, nil) // it finds out by itself as well
	}
	return nil
}

// safeWithout refuses to remove a voter if the others that answer are no majority of
// the voters before or after.
func (n *Node) safeWithout(ctx context.Context, id string) error {
	voters, there, missing := n.count(ctx, id)
	switch {
	case voters == 1:
		return fmt.Errorf("%w: %s is the last voter", ErrUnsafe, id)
	case there < majority(voters):
		return fmt.Errorf("%w: without %s only %d of %d voters answer (%s doesn't), and %d are needed; bring that one back or replace it first",
			ErrUnsafe, id, there, voters, strings.Join(missing, ", "), majority(voters))
	}
	return nil
}
