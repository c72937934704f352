package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/cluster/transport"
)

// discovery is a cluster's answer, and the address that it came from.
type discovery struct {
	membership.Discovery
	from string
}

// discover asks all addresses of Options.Join for their cluster, and returns the first answer in the order of the list.
// Addresses of two clusters are an error: otherwise it would depend on chance which of them the node joins.
func (n *Node) discover(ctx context.Context) (d discovery, err error) {
	found, failed := make([]membership.Discovery, len(n.opts.Join)), make([]error, len(n.opts.Join))
	var asked sync.WaitGroup
	for i, addr := range n.opts.Join {
		asked.Go(func() { found[i], failed[i] = n.discoverAt(ctx, addr) })
	}
	asked.Wait()
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
