package triremetest

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/httpapi/testapi"
	"github.com/trireme-dev/trireme/internal/httpclient"
	"github.com/trireme-dev/trireme/internal/testclock"
	"github.com/trireme-dev/trireme/node/pubsub"
	"github.com/trireme-dev/trireme/node/searchindex"
	"github.com/trireme-dev/trireme/scheduler"
	"github.com/trireme-dev/trireme/scheduler/egress"
)

// heartbeat makes a single node ready at once: its first election waits for one.
const heartbeat = 50 * time.Millisecond

// signingKeys are those of "trireme dev". They protect nothing.
var signingKeys = queue.Keys{Current: "sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r", Next: "sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs"}

// prefixes are those of the service's headers.
var prefixes = []string{"Svc", "Upstash"}

// inProcess is a node with its HTTP API in the process of a test: what "trireme dev --clock frozen" runs, but for the RESP port, the console
// and exports of metrics and spans.
type inProcess struct {
	t         testing.TB
	node      atomic.Pointer[cluster.Node]
	clock     *testclock.Clock
	test      testapi.Node
	stepper   *testapi.Stepper
	recorder  *testapi.Recorder
	sinks     *testapi.Sinks
	client    *httpclient.Client
	hub       *pubsub.Hub
	search    *searchindex.Indexes
	server    *httpapi.Server
	served    chan error
	scheduler atomic.Pointer[scheduler.Scheduler]

	stop    context.CancelFunc
	running sync.WaitGroup
}

// startHere starts a node in this process until the test ends.
func startHere(t testing.TB) *Server {
	t.Helper()
	p := &inProcess{t: t, clock: testclock.New(testclock.Frozen), served: make(chan error, 1)}
	t.Cleanup(p.close)
	p.test = testapi.OfReplica(p.replica)
	p.stepper, p.sinks = testapi.NewStepper(p.clock, p.test), testapi.NewSinks(p.test.Now)
	p.client = egress.NewClient(egress.Options{Policy: &egress.Policy{Open: true}})
	p.recorder = testapi.NewRecorder(p.client, p.test.Now)
	p.hub = pubsub.New(pubsub.Options{Log: p, Peers: p})
	s := &Server{
		Token: httpapi.NewToken(), ReadOnlyToken: httpapi.NewToken(), MessagesToken: httpapi.NewMessagesToken(), AdminToken: httpapi.NewToken(),
		CurrentSigningKey: signingKeys.Current, NextSigningKey: signingKeys.Next,
	}
	if err := p.open(s); err != nil {
		t.Fatalf("triremetest: %v", err)
	}
	if err := p.serve(s); err != nil {
		t.Fatalf("triremetest: %v", err)
	}
	for _, v := range [][2]string{
		{"UPSTASH_REDIS_REST_URL", s.URL}, {"UPSTASH_REDIS_REST_TOKEN", s.Token}, {"UPSTASH_REDIS_REST_READONLY_TOKEN", s.ReadOnlyToken},
		{"QSTASH_URL", s.URL}, {"QSTASH_TOKEN", s.MessagesToken}, {"QSTASH_CURRENT_SIGNING_KEY", s.CurrentSigningKey}, {"QSTASH_NEXT_SIGNING_KEY", s.NextSigningKey},
		{"TRIREME_URL", s.URL}, {"TRIREME_ADMIN_TOKEN", s.AdminToken},
	} {
		s.env = append(s.env, v[0]+"="+v[1])
	}
	return s
}

// open opens the node and waits until it serves.
func (p *inProcess) open(s *Server) error {
	machine := fsm.NewMachine()
	machine.Hooks = fsm.Hooks{Notifications: p.hub.Notify, Monitored: p.hub.Monitored, Followed: p.hub.Following, Restored: p.hub.Restored}
	p.search = searchindex.Attach(machine, 0)
	var tokens acl.Tokens
	for role, token := range map[acl.Role]string{acl.Standard: s.Token, acl.ReadOnly: s.ReadOnlyToken, acl.Messages: s.MessagesToken, acl.Admin: s.AdminToken} {
		tokens[role] = acl.DigestOf(token)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	node, err := cluster.Open(ctx, cluster.Options{
		NodeID: "n1", DataDir: p.t.TempDir(), Heartbeat: heartbeat, Space: logstore.Space{Reserve: -1, Floor: logstore.Floor{Bytes: 64 << 20}},
		DiskStall: startLimit, Now: p.clock.Now, Machine: machine, Log: slog.New(slog.DiscardHandler),
		Addresses: cluster.Addresses{Bind: "127.0.0.1:0", NoPort: true},
		Entrance:  cluster.Entrance{InitialCluster: []cluster.Peer{{ID: "n1", Addr: "127.0.0.1:0"}}},
		Owner: cluster.Owner{
			Fatal:     func(reason string) { p.t.Errorf("triremetest: the node must stop: %s", reason) },
			Bootstrap: func(bool) (fsm.Bootstrap, bool) { return fsm.Bootstrap{Tokens: tokens, Keys: signingKeys}, false },
			Leading:   p.lead, Monitor: p.hub.ServePoll,
		},
	})
	if err != nil {
		return err
	}
	p.node.Store(node)
	for !node.Ready(ctx) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// lead delivers while the node leads.
func (p *inProcess) lead(ctx context.Context, n *cluster.Node) {
	s := scheduler.New(scheduler.Options{Claimer: scheduler.NodeClaimer(n, n.Piggyback), Deliverer: scheduler.NewSender(scheduler.SenderOptions{
		Transport: p.recorder, Prefixes: prefixes, Keys: func(db string) queue.Keys { return scheduler.Keys(n, db) },
		Deliveries: scheduler.Deliveries(n), Propagate: true,
	})})
	p.scheduler.Store(s)
	s.Run(ctx)
}

// serve serves the API on loopback.
func (p *inProcess) serve(s *Server) (err error) {
	p.server, err = httpapi.New(httpapi.Options{
		Engine: engine{p.node.Load()}, Hub: p.hub, MaxRequestSize: httpapi.DefaultMaxRequestSize, Prefixes: prefixes, LoopbackOnly: true,
		Messages:  &messages.Parser{Prefixes: prefixes, Traces: func() bool { return true }},
		Providers: func(_ string, r *http.Request) (*http.Response, error) { return p.client.RoundTrip(r) },
		Test: func(permitted func(*http.Request) bool) http.Handler {
			return testapi.New(p.stepper, p.recorder, p.sinks, permitted)
		},
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.URL = "http://" + l.Addr().String()
	go func() { p.served <- p.server.Serve(l) }()
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.running.Go(func() { p.stepper.Run(ctx) })
	return nil
}

// close ends everything, last opened first.
func (p *inProcess) close() {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if p.stop != nil {
		p.stop()
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		if err := p.server.Shutdown(ctx); err != nil {
			p.t.Errorf("triremetest: shutdown: %v", err)
		}
		if err := <-p.served; err != nil {
			p.t.Errorf("triremetest: serve: %v", err)
		}
		p.running.Wait()
	}
	if s := p.scheduler.Load(); s != nil {
		s.Close(over)
	}
	p.client.CloseIdle()
	p.hub.Close(over)
	if n := p.node.Load(); n != nil {
		if err := n.Close(over); err != nil {
			p.t.Errorf("triremetest: close the node: %v", err)
		}
	}
	if p.search != nil {
		p.search.Close()
	}
}

// replica is the node once it is open.
func (p *inProcess) replica() testapi.Replica {
	if n := p.node.Load(); n != nil {
		return n
	}
	return nil // not a nil *cluster.Node
}

// Propose, Others and Ask have the hub, which is made before the node, reach it.
func (p *inProcess) Propose(ctx context.Context, code uint16, body []byte) (any, error) {
	if n := p.node.Load(); n != nil {
		return n.Propose(ctx, code, body)
	}
	return nil, fsm.ErrNoLeader
}

// Others returns no node: there is one.
func (p *inProcess) Others() []string { return nil }

// Ask returns an error: there is no other node.
func (p *inProcess) Ask(context.Context, string, []byte) ([]byte, error) { return nil, fsm.ErrNoLeader }

// engine is a node as the HTTP API sees it.
type engine struct{ *cluster.Node }

// Local runs fn on the node's state as it is.
func (e engine) Local(fn func(*fsm.View)) { e.Machine().View(0, [16]byte{}, fn) }

// Ready returns nil if the node can serve.
func (e engine) Ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if !e.Node.Ready(ctx) {
		return fsm.ErrNoLeader
	}
	return nil
}
