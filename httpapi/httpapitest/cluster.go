package httpapitest

import (
	"context"
	"errors"
	"testing"
	"time"

	"trireme/cluster"
	"trireme/cluster/clustertest"
	"trireme/fsm"
	"trireme/httpapi"
)

// Nodes is a cluster of real nodes on real sockets and disks, each behind an HTTP server
// of its own, in one process. Its tokens are those of this package.
type Nodes struct {
	*clustertest.Cluster
	// Addrs are the HTTP addresses, in the order of the nodes.
	Addrs []string
}

// ServeNodes starts n nodes and their servers and waits until all can serve; they end
// with the test. adjust, if not nil, may change the options of every server but Engine.
func ServeNodes(t testing.TB, n int, adjust func(*httpapi.Options)) *Nodes {
	t.Helper()
	c := clustertest.Start(t, n, func(o *cluster.Options) {
		o.Founding = func(bool) (fsm.Founding, bool) { return fsm.Founding{Tokens: Tokens()}, false }
	})
	nodes := &Nodes{Cluster: c}
	for i := range c.Nodes {
		o := httpapi.Options{MaxRequestSize: httpapi.DefaultMaxRequestSize}
		if adjust != nil {
			adjust(&o)
		}
		o.Engine = NodeEngine(c.Nodes[i])
		nodes.Addrs = append(nodes.Addrs, Serve(t, o))
	}
	return nodes
}

// NodeEngine is a node as the HTTP edge wants it.
func NodeEngine(n *cluster.Node) httpapi.Engine { return nodeEngine{n} }

type nodeEngine struct{ *cluster.Node }

// Local runs fn on the node's state as it is.
func (e nodeEngine) Local(fn func(*fsm.View)) { e.Machine().View(0, [16]byte{}, fn) }

// readyWithin is how long a node may take to say that it is ready.
const readyWithin = time.Second

var errNotReady = errors.New("httpapitest: the node has no leader or has not caught up")

// Ready is nil if the node can serve.
func (e nodeEngine) Ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	if !e.Node.Ready(ctx) {
		return errNotReady
	}
	return nil
}
