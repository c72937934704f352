package resptest

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/node/pubsub"
	"github.com/trireme-dev/trireme/node/searchindex"
	"github.com/trireme-dev/trireme/resp"
)

// The tokens of the nodes.
const (
	Token         = "standard-token"
	ReadOnlyToken = "readonly-token"
	AdminToken    = "admin-token"
)

// Nodes is a cluster of real nodes on real sockets and disks, each with a RESP server.
type Nodes struct {
	*clustertest.Cluster
	// Servers and their addresses, in the order of the nodes.
	Servers []*resp.Server
	Addrs   []string
	// Engines execute on the nodes as other entry points do.
	Engines []resp.Engine
}

// Serve starts n nodes and their servers; they end with the test. adjust, if not nil, may
// change the options of every server but Engine and Hub.
func Serve(t testing.TB, n int, adjust func(*resp.Options)) *Nodes {
	t.Helper()
	var mu sync.Mutex
	links := map[string]*link{}
	c := clustertest.Start(t, n, func(o *cluster.Options) {
		var tokens acl.Tokens
		tokens[acl.Standard], tokens[acl.ReadOnly], tokens[acl.Admin] = acl.DigestOf(Token), acl.DigestOf(ReadOnlyToken), acl.DigestOf(AdminToken)
		o.Bootstrap = func(bool) (fsm.Bootstrap, bool) { return fsm.Bootstrap{Tokens: tokens}, false }
		l := newLink(t)
		o.RESP = l.listen(t)
		o.Machine, o.Monitor = fsm.NewMachine(), l.hub.ServePoll
		o.Machine.Hooks = fsm.Hooks{Notifications: l.notes, Restored: l.restored, Monitored: l.hub.Monitored}
		t.Cleanup(searchindex.Attach(o.Machine, 0).Close)
		mu.Lock()
		defer mu.Unlock()
		links[o.NodeID] = l
	})
	nodes := &Nodes{Cluster: c}
	for i, node := range c.Nodes {
		l := links[c.List[i].ID]
		l.node.Store(node)
		var o resp.Options
		if adjust != nil {
			adjust(&o)
		}
		o.Engine, o.Hub = clusterNode{node, l.hub}, l.hub
		nodes.Engines = append(nodes.Engines, o.Engine)
		s, err := resp.New(o)
		if err != nil {
			t.Fatal(err)
		}
		l.server.Store(s)
		nodes.Servers = append(nodes.Servers, s)
		l.serve(t, s)
		nodes.Addrs = append(nodes.Addrs, l.listener.Addr().String())
	}
	return nodes
}

// stopTimeout bounds the wait for the connections of a test to end.
const stopTimeout = 10 * time.Second

// listen opens the node's RESP port.
func (l *link) listen(t testing.TB) string {
	var err error
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	return l.listener.Addr().String()
}

// serve answers on the port until the test ends.
func (l *link) serve(t testing.TB, s *resp.Server) {
	served := make(chan error, 1)
	go func() { served <- s.Serve(l.listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

// clusterNode is a node as the port wants it.
type clusterNode struct {
	*cluster.Node
	hub *pubsub.Hub
}

func (n clusterNode) AwaitUncounted(ctx context.Context, db string) { n.hub.AwaitUncounted(ctx, db) }

func (n clusterNode) Local(fn func(*fsm.View)) { n.Machine().View(0, [16]byte{}, fn) }

func (n clusterNode) Track(on bool) { n.Machine().Track(on) }

// A link holds the parts that a node's options refer to before the node exists: its hub, and the server that takes its
// notifications.
type link struct {
	hub      *pubsub.Hub
	listener net.Listener
	node     atomic.Pointer[cluster.Node]
	server   atomic.Pointer[resp.Server]
}

func newLink(t testing.TB) *link {
	l := &link{}
	l.hub = pubsub.New(pubsub.Options{Log: l, Peers: l, MaxTopicBytes: 4 << 20})
	t.Cleanup(func() {
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		l.hub.Close(gone)
	})
	return l
}

func (l *link) notes(notes []env.Notification) {
	l.hub.Notify(notes)
	if s := l.server.Load(); s != nil {
		s.Notify(notes)
	}
}

func (l *link) restored() {
	l.hub.Restored()
	if s := l.server.Load(); s != nil {
		s.Restored()
	}
}

// Propose puts a request into the log, once there is a node.
func (l *link) Propose(ctx context.Context, code uint16, body []byte) (any, error) {
	if n := l.node.Load(); n != nil {
		return n.Propose(ctx, code, body)
	}
	return nil, fsm.ErrNoLeader
}

// Others are the ids of the other nodes.
func (l *link) Others() []string {
	if n := l.node.Load(); n != nil {
		return n.Others()
	}
	return nil
}

// Ask puts a monitor's question to another node.
func (l *link) Ask(ctx context.Context, node string, question []byte) ([]byte, error) {
	if n := l.node.Load(); n != nil {
		return n.Ask(ctx, node, question)
	}
	return nil, fsm.ErrNoLeader
}
