package httpapitest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"trireme/cluster"
	"trireme/cluster/clustertest"
	"trireme/fsm"
	"trireme/httpapi"
	"trireme/httpapi/hub"
)

// Nodes is a cluster of real nodes on real sockets and disks, each behind a hub and an
// HTTP server of its own, in one process. Its tokens are those of this package.
type Nodes struct {
	*clustertest.Cluster
	// Addrs are the HTTP addresses, in the order of the nodes.
	Addrs []string
}

// ServeNodes starts n nodes and their servers and waits until all can serve; they end
// with the test. adjust, if not nil, may change the options of every server but Engine
// and Hub.
func ServeNodes(t testing.TB, n int, adjust func(*httpapi.Options)) *Nodes {
	t.Helper()
	var mu sync.Mutex
	hubs, peers := map[string]*hub.Hub{}, map[string]*hubPeers{}
	c := clustertest.Start(t, n, func(o *cluster.Options) {
		p := &hubPeers{}
		h := hub.New(hub.Options{Log: p, Peers: p})
		t.Cleanup(func() {
			gone, cancel := context.WithCancel(context.Background())
			cancel() // its node has ended: there is nobody to say farewell to
			h.Close(gone)
		})
		o.Notes, o.Restored, o.Monitor = h.Notes, h.Restored, h.Answer
		o.Founding = func(bool) (fsm.Founding, bool) { return fsm.Founding{Tokens: Tokens()}, false }
		mu.Lock()
		defer mu.Unlock()
		hubs[o.NodeID], peers[o.NodeID] = h, p
	})
	nodes := &Nodes{Cluster: c}
	for i, node := range c.Nodes {
		id := c.List[i].ID
		peers[id].node.Store(node)
		o := httpapi.Options{MaxRequestSize: httpapi.DefaultMaxRequestSize}
		if adjust != nil {
			adjust(&o)
		}
		o.Engine, o.Hub = NodeEngine(node), hubs[id]
		nodes.Addrs = append(nodes.Addrs, Serve(t, o))
	}
	return nodes
}

// hubPeers is the node of a hub, which is made before its node.
type hubPeers struct{ node atomic.Pointer[cluster.Node] }

func (p *hubPeers) Propose(ctx context.Context, code uint16, body []byte) (any, error) {
	if n := p.node.Load(); n != nil {
		return n.Propose(ctx, code, body)
	}
	return nil, fsm.ErrNoLeader
}

// Others are the ids of the other nodes.
func (p *hubPeers) Others() []string {
	if n := p.node.Load(); n != nil {
		return n.Others()
	}
	return nil
}

// Ask puts a monitor's question to another node.
func (p *hubPeers) Ask(ctx context.Context, node string, question []byte) ([]byte, error) {
	if n := p.node.Load(); n != nil {
		return n.Ask(ctx, node, question)
	}
	return nil, fsm.ErrNoLeader
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
