package testcluster

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/trireme-dev/trireme/jepsen/testcluster/disk"
	"github.com/trireme-dev/trireme/jepsen/testcluster/network"
)

// Kind selects the network between the nodes of a cluster.
type Kind int

const (
	// Loopback has no network between the nodes: they share the machine's loopback.
	Loopback Kind = iota
	// Relayed is a relay of the TCP connections between nodes, and of those of clients.
	Relayed
	// Switched gives each node a network namespace. Only root can.
	Switched
)

// BestNetwork is the strongest kind that this process may make.
func BestNetwork() Kind {
	if !Privileged() {
		return Relayed
	}
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		return Relayed
	}
	return Switched
}

// Privileged says whether this process may make namespaces and mount disks.
func Privileged() bool { return os.Geteuid() == 0 }

// diskSize is the size of a node's own file system: room for the writes of a run, and for what
// the product keeps free. The image takes only what is used.
const diskSize = 1 << 30

// The ports of a node that is a host of its own.
const (
	hostHTTP    = "8080"
	hostCluster = "8081"
	hostGossip  = "8082"
)

// gossipKey guards the gossip of nodes beyond loopback.
const gossipKey = "dHJpcmVtZS1sYWItZ29zc2lwLWtleS0wMDEyMzQ1Njc="

// connect makes what is to stand between the nodes.
func (c *Cluster) connect(o Options) (err error) {
	switch o.Network {
	case Switched:
		s, err := network.NewSwitch(o.Size)
		if err != nil {
			return err
		}
		c.Net, c.Host = s, s.Addr(s.Clients())
	case Relayed:
		if c.relayed, err = ReserveBlock(); err != nil {
			return err
		}
		c.Net = network.NewRelay(o.Size, c.caller)
	}
	return nil
}

// caller says which node owns a connection to the relay, or that a client does.
func (c *Cluster) caller(from, to net.Addr) int {
	pids := make([]int, len(c.Nodes))
	for i, n := range c.Nodes {
		pids[i] = n.Pid()
	}
	if i := network.Owner(pids, from, to); i >= 0 {
		return i
	}
	return len(c.Nodes)
}

// clusterAddr is the address of a node's cluster port as others reach it.
func (c *Cluster) clusterAddr(i int) string {
	switch n := c.Net.(type) {
	case *network.Switch:
		return net.JoinHostPort(n.Addr(i), hostCluster)
	case *network.Relay:
		return c.relayed.Addr(2*i + 1)
	default:
		return c.ports.Addr(3*i + 1)
	}
}

// place moves a node to where it lives on the cluster's network. Its command line was
// made for loopback.
func (c *Cluster) place(n *Node, i int) {
	switch s := c.Net.(type) {
	case *network.Switch:
		for _, moved := range []struct {
			addr *string
			port string
		}{{&n.HTTP, hostHTTP}, {&n.Cluster, hostCluster}, {&n.Gossip, hostGossip}} {
			here := net.JoinHostPort(s.Addr(i), moved.port)
			replace(n.argv, *moved.addr, here)
			*moved.addr = here
		}
		plain := "http"
		if c.authority == nil && c.options.Secret == "" {
			plain += ",cluster" // with a secret, this would be a cluster port that takes nodes without it
		}
		n.argv = append(n.argv, "--plaintext", plain, "--gossip-key", gossipKey, "--egress-allow", s.Subnet())
		n.argv = append([]string{"nsenter", "--net=/run/netns/" + s.Namespace(i), "--"}, n.argv...)
	case *network.Relay:
		n.argv = append(n.argv, "--cluster-advertise", c.clusterAddr(i), "--egress-allow", "127.0.0.0/8")
		n.behind = n.HTTP
		n.HTTP = c.relayed.Addr(2 * i)
	}
}

// replace puts another word in the place of one.
func replace(words []string, old, new string) {
	for i, w := range words {
		if w == old {
			words[i] = new
		}
	}
}

// equip gives the nodes their disks and opens the relay.
func (c *Cluster) equip(o Options) error {
	for i, n := range c.Nodes {
		if o.Disks {
			d, err := disk.New(o.Dir, n.ID, diskSize)
			if err != nil {
				return err
			}
			n.Disk = d
			dir := filepath.Join(d.Dir, "data")
			replace(n.argv, n.DataDir, dir)
			n.DataDir = dir
		}
		if r, ok := c.Net.(*network.Relay); ok {
			if err := errors.Join(r.Carry(n.HTTP, i, n.behind), r.Carry(c.clusterAddr(i), i, n.Cluster)); err != nil {
				return err
			}
		}
	}
	return nil
}

// dismantle ends the network and the disks, once the nodes have ended.
func (c *Cluster) dismantle() {
	for _, n := range c.Nodes {
		if n.Disk == nil {
			continue
		}
		if err := n.Disk.Close(); err != nil && !strings.Contains(err.Error(), "not mounted") {
			c.recordCrash(Crash{Node: n.ID, Log: err.Error()})
		}
	}
	if c.Net != nil {
		c.Net.Close()
	}
	if c.relayed != nil {
		c.relayed.Release()
	}
}
