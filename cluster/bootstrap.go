package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/cluster/transport"
)

// ErrList says that the nodes were started with different static lists.
var ErrList = errors.New("--initial-cluster differs between the nodes")

// ParsePeers reads a static list, "n1=host:port,n2=host:port".
func ParsePeers(s string) ([]Peer, error) {
	var list []Peer
	for _, part := range strings.Split(s, ",") {
		id, addr, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || id == "" || addr == "" {
			return nil, fmt.Errorf("%q is not of the form id=host:port", part)
		}
		if slices.ContainsFunc(list, func(p Peer) bool { return p.ID == id || p.Addr == addr }) {
			return nil, fmt.Errorf("%q appears twice in the list", part)
		}
		list = append(list, Peer{ID: id, Addr: addr})
	}
	return list, nil
}

// listText returns the list in one order, to compare between nodes.
func listText(list []Peer) string {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Peer) int { return cmp.Compare(a.ID, b.ID) })
	text := make([]string, len(list))
	for i, p := range list {
		text[i] = p.ID + "=" + p.Addr
	}
	return strings.Join(text, ",")
}

// adoption is the message by which the node with the lowest id gives the others the cluster's id and the founders' disk ids.
type adoption struct {
	Cluster string
	Disks   map[string]string
}

// bootstrap brings this node from an empty disk to a cluster id that every node of the static list has on its disk. Raft
// is bootstrapped only after that, so a crash at any point leaves disks from which the next start can continue.
func (n *Node) bootstrap(ctx context.Context) error {
	if len(n.opts.InitialCluster) == 1 {
		if n.identity.ClusterID != "" {
			return nil
		}
		return n.adopt(adoption{newID(), map[string]string{n.identity.NodeID: n.identity.DiskID}})
	}
	warned := time.Now()
	for {
		done, err := n.agreeOnCluster(ctx)
		if err != nil || done {
			return err
		}
		if time.Since(warned) > 5*time.Second {
			warned = time.Now()
			n.log.Info("waiting for every node of --initial-cluster to answer", "list", listText(n.opts.InitialCluster))
		}
		if !pause(ctx, 20*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// agreeOnCluster asks every other node once. It is done when all of them have this node's cluster on their disks.
func (n *Node) agreeOnCluster(ctx context.Context) (done bool, err error) {
	answered := make(map[string]peerStatus, len(n.opts.InitialCluster))
	for _, p := range n.opts.InitialCluster {
		if p.ID == n.identity.NodeID {
			continue
		}
		ask, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		h, err := n.peers.status(ask, p.Addr)
		cancel()
		switch {
		case errors.Is(err, transport.ErrRejected), errors.Is(err, transport.ErrCertificate):
			return false, err
		case err != nil:
			return false, nil // not up yet
		case h.Arch != "" && h.Arch != runtime.GOARCH:
			return false, fmt.Errorf("%w: %s runs on %s, this node on %s", ErrArchitecture, p.ID, h.Arch, runtime.GOARCH)
		case h.Node != p.ID:
			return false, fmt.Errorf("%w: %s is node %s, not %s", ErrList, p.Addr, h.Node, p.ID)
		case h.List != listText(n.opts.InitialCluster) && h.Phase != phaseStarted:
			return false, fmt.Errorf("%w: %s has %s", ErrList, p.ID, h.List)
		}
		answered[p.ID] = h
	}
	if n.clusterID() == "" {
		return false, n.joinOrCreate(ctx, answered)
	}
	for id, h := range answered { // unordered: all are asked the same
		if h.Cluster != "" && h.Cluster != n.clusterID() {
			return false, fmt.Errorf("%w: %s has cluster id %s, this node %s", ErrOtherCluster, id, h.Cluster, n.clusterID())
		}
		if h.Phase == phaseEmpty {
			return false, n.sendAdoption(ctx, id) // it, or the node that told this one, may have crashed in between
		}
	}
	return true, nil
}

// joinOrCreate adopts the cluster id of a node that has one with this disk in it, or, if all are empty and this node's
// id is the lowest, creates one.
func (n *Node) joinOrCreate(ctx context.Context, statuses map[string]peerStatus) error {
	disks := map[string]string{n.identity.NodeID: n.identity.DiskID}
	lowest := true
	for id, h := range statuses { // unordered: all empty, or the one cluster they have
		if h.Phase != phaseEmpty {
			if h.Disks[n.identity.NodeID] != n.identity.DiskID {
				return fmt.Errorf("%w: %s is known with disk %s, this one is %s; give the node a new id, or put the old disk back",
					ErrWipedDisk, n.identity.NodeID, h.Disks[n.identity.NodeID], n.identity.DiskID)
			}
			return n.adopt(adoption{h.Cluster, h.Disks})
		}
		disks[id] = h.Disk
		lowest = lowest && n.identity.NodeID < id
	}
	if !lowest {
		return nil
	}
	return n.adopt(adoption{newID(), disks})
}

// sendAdoption sends the cluster id to a node that has none.
func (n *Node) sendAdoption(ctx context.Context, id string) error {
	n.mu.Lock()
	b, err := json.Marshal(adoption{n.identity.ClusterID, n.identity.Disks})
	n.mu.Unlock()
	if err != nil {
		return err
	}
	for _, p := range n.opts.InitialCluster {
		if p.ID == id {
			ask, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			n.peers.Ask(ask, p.Addr, callAdopt, b) // asked again in the next round
		}
	}
	return nil
}

// adopt writes the cluster id to the disk, unless the node has another one or the founders know another disk of it.
func (n *Node) adopt(a adoption) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.identity.ClusterID == a.Cluster:
		return nil
	case n.identity.ClusterID != "":
		return ErrOtherCluster
	case a.Disks[n.identity.NodeID] != n.identity.DiskID:
		return ErrWipedDisk
	}
	next := *n.identity
	next.ClusterID, next.Disks = a.Cluster, a.Disks
	if err := next.save(); err != nil {
		return err
	}
	// The node and disk ids are read without the lock: only these two change.
	n.identity.ClusterID, n.identity.Disks = a.Cluster, a.Disks
	if n.phase == phaseEmpty {
		n.phase = phaseAdopted
	}
	return nil
}
