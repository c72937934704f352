package main

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/fsm"
)

// selfAddresses are the internal listeners of the cluster, which no delivery may reach.
type selfAddresses struct {
	known atomic.Pointer[map[netip.AddrPort]bool]
}

// has reports whether an address belongs to a listener of the cluster.
func (a *selfAddresses) has(at netip.AddrPort) bool {
	known := a.known.Load()
	return known != nil && (*known)[at]
}

// resolveTime bounds how long the names of nodes are resolved.
const resolveTime = 2 * time.Second

// refresh determines the addresses anew, as far as the names of nodes resolve now: the cluster, gossip
// and RESP ports of every node, and all ports of this node except its HTTP API's.
func (a *selfAddresses) refresh(ctx context.Context, s *settings, node *cluster.Node) {
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	texts := append([]string{s.Cluster, s.ClusterAdvertise, s.Gossip, s.Pprof, s.RESP}, respAddresses(node)...)
	for _, one := range node.Status(ctx).Nodes {
		texts = append(texts, one.Cluster, one.Gossip)
	}
	known := map[netip.AddrPort]bool{}
	for _, text := range texts {
		for _, at := range resolve(ctx, text) {
			known[at] = true
		}
	}
	a.known.Store(&known)
}

// followEvery is the interval at which the leader checks whether nodes, their addresses or their RESP
// ports have changed.
const followEvery = time.Second

// follow refreshes the addresses at its first tick and then whenever the nodes or their ports change,
// until ctx ends. The first tick always refreshes: changes since the first refresh are unknown.
func (a *selfAddresses) follow(ctx context.Context, s *settings, node *cluster.Node) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for last := []string(nil); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now := innerPorts(node); !slices.Equal(now, last) {
			a.refresh(ctx, s, node)
			last = now
		}
	}
}

// innerPorts identify the nodes and their ports, to detect a change.
func innerPorts(node *cluster.Node) []string {
	all := respAddresses(node)
	for _, p := range node.Servers() {
		all = append(all, p.ID+"="+p.Addr)
	}
	return all
}

// respAddresses returns the RESP addresses of all nodes that have one.
func respAddresses(node *cluster.Node) (all []string) {
	node.Machine().View(0, [16]byte{}, func(v *fsm.View) { all = v.RESPPorts() })
	return all
}

// resolve returns the addresses of a listener's host and port. A listener on the unspecified address
// has every address of this machine.
func resolve(ctx context.Context, text string) (all []netip.AddrPort) {
	host, portText, err := net.SplitHostPort(text)
	port, err2 := strconv.ParseUint(portText, 10, 16)
	if err != nil || err2 != nil || port == 0 || cluster.IsRemovedAddress(text) {
		return nil
	}
	add := func(a netip.Addr) {
		all = append(all, netip.AddrPortFrom(a.Unmap().WithZone(""), uint16(port)))
	}
	if addr, err := netip.ParseAddr(host); err == nil && !addr.IsUnspecified() {
		add(addr)
		return all
	} else if err != nil && host != "" {
		addrs, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		for _, a := range addrs {
			add(a)
		}
		return all
	}
	add(netip.IPv4Unspecified())
	add(netip.IPv6Unspecified())
	interfaces, _ := net.InterfaceAddrs()
	for _, one := range interfaces {
		if n, ok := one.(*net.IPNet); ok {
			if a, ok := netip.AddrFromSlice(n.IP); ok {
				add(a)
			}
		}
	}
	return all
}
