package clustertest

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/cluster"
)

// Network carries what the nodes of a cluster say to each other, and can cut a node
// off. Make one with NewNetwork and pass its Adjust to Start.
type Network struct {
	mu     sync.Mutex
	owners map[string]string // addresses to node ids
	cut    map[string]bool
	open   map[*link]bool
}

// NewNetwork connects every node with every other.
func NewNetwork() *Network {
	return &Network{owners: map[string]string{}, cut: map[string]bool{}, open: map[*link]bool{}}
}

// link is a connection between two nodes.
type link struct {
	net.Conn
	n        *Network
	from, to string
}

// Close ends the connection.
func (l *link) Close() error {
	l.n.mu.Lock()
	delete(l.n.open, l)
	l.n.mu.Unlock()
	return l.Conn.Close()
}

var errCut = errors.New("clustertest: the node is cut off")

// Adjust makes a node use the network.
func (n *Network) Adjust(o *cluster.Options) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range o.InitialCluster {
		n.owners[p.Addr] = p.ID
	}
	from := o.NodeID
	o.Dial = func(network, addr string, timeout time.Duration) (net.Conn, error) {
		n.mu.Lock()
		to := n.owners[addr]
		cut := n.cut[from] || n.cut[to]
		n.mu.Unlock()
		if cut {
			return nil, errCut
		}
		c, err := net.DialTimeout(network, addr, timeout)
		if err != nil {
			return nil, err
		}
		return n.take(&link{Conn: c, n: n, from: from, to: to})
	}
}

// take remembers a connection, unless a node was cut off while it was made.
func (n *Network) take(l *link) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut[l.from] || n.cut[l.to] {
		l.Conn.Close()
		return nil, errCut
	}
	n.open[l] = true
	return l, nil
}

// Cut ends a node's connections and lets it make or take no others until Heal.
func (n *Network) Cut(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[id] = true
	for l := range n.open {
		if l.from == id || l.to == id {
			l.Conn.Close()
			delete(n.open, l)
		}
	}
}

// Heal lets a node speak to the others again.
func (n *Network) Heal(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.cut, id)
}
