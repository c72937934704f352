package httpapitest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/node/pubsub"
	"github.com/trireme-dev/trireme/node/searchindex"
)

// Nodes is a cluster of real nodes on real sockets and disks, each behind an HTTP server of its own, in one process.
// Its tokens are the tokens of this package.
type Nodes struct {
	*clustertest.Cluster
	// Addrs are the HTTP addresses, in the order of the nodes.
	Addrs []string
}

// ServeNodes starts n nodes and their servers and waits until all can serve; they end
// with the test. adjust, if not nil, may change the options of every server but Engine.
func ServeNodes(t testing.TB, n int, adjust func(*httpapi.Options)) *Nodes {
	t.Helper()
	return ServeNodesOver(t, clustertest.NewNetwork(), n, adjust)
}

// ServeNodesOver does what ServeNodes does, over a network that can cut nodes off from each other; clients reach them
// nevertheless.
func ServeNodesOver(t testing.TB, network *clustertest.Network, n int, adjust func(*httpapi.Options)) *Nodes {
	t.Helper()
	return serveNodes(t, network, n, nil, adjust)
}

// ServeNodesLed does what ServeNodes does, with work for the leader; see cluster.Options.
func ServeNodesLed(t testing.TB, n int, leading func(context.Context, *cluster.Node), adjust func(*httpapi.Options)) *Nodes {
	t.Helper()
	return serveNodes(t, clustertest.NewNetwork(), n, leading, adjust)
}

func serveNodes(t testing.TB, network *clustertest.Network, n int, leading func(context.Context, *cluster.Node), adjust func(*httpapi.Options)) *Nodes {
	t.Helper()
	var mu sync.Mutex
	links := map[string]*nodeHub{}
	c := clustertest.Start(t, n, func(o *cluster.Options) {
		network.Adjust(o)
		o.Leading = leading
		o.Bootstrap = func(bool) (fsm.Bootstrap, bool) { return fsm.Bootstrap{Tokens: Tokens()}, false }
		link := newNodeHub(t)
		o.Machine, o.Monitor = fsm.NewMachine(), link.hub.ServePoll
		o.Machine.Hooks = fsm.Hooks{Notifications: link.hub.Notify, Followed: link.hub.Following, Restored: link.hub.Restored}
		t.Cleanup(searchindex.Attach(o.Machine, 0).Close)
		mu.Lock()
		defer mu.Unlock()
		links[o.NodeID] = link
	})
	nodes := &Nodes{Cluster: c}
	for i := range c.Nodes {
		o := httpapi.Options{MaxRequestSize: httpapi.DefaultMaxRequestSize}
		if adjust != nil {
			adjust(&o)
		}
		o.Engine = NodeEngine(c.Nodes[i])
		link := links[c.List[i].ID]
		link.node.Store(c.Nodes[i])
		o.Hub = link.hub
		nodes.Addrs = append(nodes.Addrs, Serve(t, o))
	}
	return nodes
}

// NodeEngine returns a node as an engine of the HTTP edge.
func NodeEngine(n *cluster.Node) httpapi.Engine { return nodeEngine{n} }

type nodeEngine struct{ *cluster.Node }

// Local runs fn on the node's state as it is.
func (e nodeEngine) Local(fn func(*fsm.View)) { e.Machine().View(0, [16]byte{}, fn) }

// readyWithin bounds the time that a node may take to say that it is ready.
const readyWithin = time.Second

var errNotReady = errors.New("httpapitest: the node has no leader or has not caught up")

// Ready returns nil if the node can serve.
func (e nodeEngine) Ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	if !e.Node.Ready(ctx) {
		return errNotReady
	}
	return nil
}

// nodeHub is a hub with its node. The hub has to be made before the node.
type nodeHub struct {
	hub  *pubsub.Hub
	node atomic.Pointer[cluster.Node]
}

// newNodeHub returns a hub without a node. It ends with the test, after its node.
func newNodeHub(t testing.TB) *nodeHub {
	l := &nodeHub{}
	l.hub = pubsub.New(pubsub.Options{Log: l, Peers: l})
	t.Cleanup(func() {
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		l.hub.Close(gone)
	})
	return l
}

// Propose puts a request into the log, once there is a node.
func (nh *nodeHub) Propose(ctx context.Context, code uint16, body []byte) (any, error) {
	if n := nh.node.Load(); n != nil {
		return n.Propose(ctx, code, body)
	}
	return nil, fsm.ErrNoLeader
}

// Others returns the ids of the other nodes.
func (nh *nodeHub) Others() []string {
	if n := nh.node.Load(); n != nil {
		return n.Others()
	}
	return nil
}

// Ask puts a monitor's question to another node.
func (nh *nodeHub) Ask(ctx context.Context, node string, question []byte) ([]byte, error) {
	if n := nh.node.Load(); n != nil {
		return n.Ask(ctx, node, question)
	}
	return nil, fsm.ErrNoLeader
}
