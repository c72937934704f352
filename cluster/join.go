package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
)

// A node joins a running cluster in four steps: it finds out which cluster that is, asks
// whether it may join, writes the cluster's id to its disk and starts raft with nothing
// in it, and then asks the leader to add it. The leader adds it as a non-voter,
// and makes it a voter later, if one is wanted (members of raft's configuration:
// configure.go). Every step can be repeated, so a crash in between costs nothing.

const (
	// joinPause is the pause between two tries to be added.
	joinPause = 100 * time.Millisecond
	// joinTimeout bounds one question to one node. The leader calls back before it answers.
	joinTimeout = 5 * time.Second
)

// ErrNotJoined says that a cluster rejects a node that wants to join: its text says why.
var ErrNotJoined = errors.New("the cluster doesn't add this node")

// joinRequest is the request of a node that wants to join.
type joinRequest struct {
	Cluster, Node, Disk, Addr string
	// Replaces is the server that it is to replace, if any.
	Replaces string
	Arch     string
	Level    uint32
	// Check asks whether the node may join, and changes nothing.
	Check bool
}

// joinAnswer is the leader's decision: added if both are empty.
type joinAnswer struct {
	Refused string // for good
	Later   string // it may be added later
}

// join brings this node from an empty disk to the point where raft can start. It is
// sure then that the cluster wants it.
func (n *Node) join(ctx context.Context) error {
	if n.clusterID() != "" && !n.identity.Joining {
		return errors.New("the data directory began to create a cluster and never finished: start it with its --initial-cluster, or delete it and join with an empty one")
	}
	return n.untilAdded(ctx, true, func(found discovery) error {
		if mine := n.clusterID(); mine != "" && mine != found.Cluster {
			return fmt.Errorf("%w: %s has cluster id %s, this node's disk %s", ErrOtherCluster, found.from, found.Cluster, mine)
		}
		return n.adoptCluster(found.Cluster)
	})
}

// enter asks the leader to take this node in. raft runs already, so that the leader
// reaches this node.
func (n *Node) enter(ctx context.Context) error {
	return n.untilAdded(ctx, false, func(discovery) error { return nil })
}

// untilAdded asks the nodes of Options.Join, and those that they name, until the leader
// among them says yes; then it calls done.
func (n *Node) untilAdded(ctx context.Context, check bool, done func(discovery) error) error {
	warned := time.Now()
	for {
		found, err := n.discover(ctx)
		if err == nil {
			err = n.askToJoin(ctx, found, check)
		}
		switch {
		case err == nil:
			return done(found)
		case errors.Is(err, ErrNotJoined), errors.Is(err, transport.ErrRejected), errors.Is(err, membership.ErrGossipKey), errors.Is(err, transport.ErrCertificate), errors.Is(err, ErrOtherCluster):
			return err
		}
		if time.Since(warned) > 5*time.Second {
			warned = time.Now()
			n.log.Info("waiting to be added to the cluster", "join", n.opts.Join, "reason", err)
		}
		if !pause(ctx, joinPause) {
			return ctx.Err()
		}
	}
}

// askToJoin asks the leader among the servers that were found.
func (n *Node) askToJoin(ctx context.Context, found discovery, check bool) error {
	q := joinRequest{
		Cluster: found.Cluster, Node: n.identity.NodeID, Disk: n.identity.DiskID, Addr: n.mux.Advertise(),
		Replaces: n.opts.Replace, Arch: runtime.GOARCH, Level: uint32(fsm.MaxLevel), Check: check,
	}
	body, err := json.Marshal(q)
	if err != nil {
		return err
	}
	var reasons []string
	for _, s := range found.Servers {
		a, err := n.askOneToJoin(ctx, s.Addr, body)
		switch {
		case errors.Is(err, transport.ErrRejected), errors.Is(err, transport.ErrCertificate):
			return err
		case err != nil:
			reasons = append(reasons, fmt.Sprintf("%s: %v", s.ID, err))
		case a.Refused != "":
			return fmt.Errorf("%w: %s", ErrNotJoined, a.Refused)
		case a.Later != "":
			reasons = append(reasons, fmt.Sprintf("%s: %s", s.ID, a.Later))
		default:
			return nil
		}
	}
	return errors.New(strings.Join(reasons, "; "))
}

func (n *Node) askOneToJoin(ctx context.Context, addr string, body []byte) (a joinAnswer, err error) {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	b, err := n.peers.Ask(ctx, addr, callJoin, body)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(b, &a)
}

// adoptCluster writes the id of the cluster that this node joins to its disk.
func (n *Node) adoptCluster(cluster string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	next := *n.identity
	next.ClusterID, next.Joining = cluster, true
	if err := next.save(); err != nil {
		return err
	}
	n.identity.ClusterID, n.identity.Joining = cluster, true
	n.phase = phaseAdopted
	return nil
}

// addressInterval is the interval at which a node compares its address with the one that the cluster knows.
const addressInterval = time.Second

// keepAddress tells the leader this node's address when the cluster knows another one, because the node was started
// with a new address. Nobody calls it there until the leader knows. A node that is its own cluster has no leader to
// tell.
func (n *Node) keepAddress(ctx context.Context) {
	for pause(ctx, addressInterval) {
		known, is := n.server(n.opts.NodeID)
		if !is || known.Addr == n.mux.Advertise() || len(n.consensus.Servers()) < 2 {
			continue
		}
		body, err := json.Marshal(joinRequest{Cluster: n.clusterID(), Node: n.opts.NodeID, Disk: n.identity.DiskID, Addr: n.mux.Advertise()})
		if err != nil {
			continue
		}
		for _, s := range n.others() {
			ask, cancel := context.WithTimeout(ctx, joinTimeout)
			_, err := n.peers.Ask(ask, s.Addr, callMoved, body)
			cancel()
			if err == nil {
				n.log.Info("the cluster knows this node's new address", "address", n.mux.Advertise(), "former", known.Addr)
				break
			}
			n.log.Debug("the new address was not accepted", "by", s.ID, "error", err)
		}
	}
}

// discovery is a cluster's answer, and the address that it came from.
type discovery struct {
	membership.Discovery
	from string
}

// discover asks all addresses of Options.Join for their cluster, and returns the first answer in the order of the list.
// Addresses of two clusters are an error: otherwise it would depend on chance which of them the node joins.
func (n *Node) discover(ctx context.Context) (d discovery, err error) {
	found, failed := make([]membership.Discovery, len(n.opts.Join)), make([]error, len(n.opts.Join))
	each(n.opts.Join, func(i int, addr string) { found[i], failed[i] = n.discoverAt(ctx, addr) })
	for i, addr := range n.opts.Join {
		switch known := d.from != ""; {
		case failed[i] == nil && !known:
			d, err = discovery{found[i], addr}, nil
		case failed[i] == nil && found[i].Cluster != d.Cluster:
			return d, fmt.Errorf("%w: --join names two clusters, %s of cluster id %s and %s of %s: give addresses of one", ErrOtherCluster, d.from, d.Cluster, addr, found[i].Cluster)
		case failed[i] != nil && !known:
			err = fmt.Errorf("%s: %w", addr, failed[i])
			if errors.Is(err, membership.ErrGossipKey) || errors.Is(err, transport.ErrRejected) || errors.Is(err, transport.ErrCertificate) {
				return d, err
			}
		}
	}
	return d, err
}

// discoverAt asks one gossip port. It may be a cluster port as well, which doesn't know discovery but answers a status
// call.
func (n *Node) discoverAt(ctx context.Context, addr string) (d membership.Discovery, err error) {
	c, err := n.opts.Dial("tcp", addr, transport.DialTimeout)
	if err != nil {
		return d, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(transport.HandshakeTimeout))
	if d, err = membership.AskDiscovery(c, n.opts.GossipKey); err == nil || errors.Is(err, membership.ErrGossipKey) {
		return d, err
	}
	ask, cancel := context.WithTimeout(ctx, transport.HandshakeTimeout)
	defer cancel()
	h, helloErr := n.peers.status(ask, addr)
	switch {
	case errors.Is(helloErr, transport.ErrRejected), errors.Is(helloErr, transport.ErrCertificate):
		return d, helloErr
	case helloErr != nil:
		return d, fmt.Errorf("it doesn't answer as a gossip or cluster port does: %w", err)
	case h.Node == n.opts.NodeID && h.Disk == n.identity.DiskID:
		return d, errors.New("that is this node itself")
	case h.Cluster == "" || len(h.Servers) == 0:
		return d, fmt.Errorf("%s there belongs to no cluster yet", h.Node)
	}
	return membership.Discovery{Cluster: h.Cluster, Servers: h.Servers}, nil
}
