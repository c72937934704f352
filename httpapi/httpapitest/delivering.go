package httpapitest

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/scheduler"
	"github.com/trireme-dev/trireme/scheduler/egress"
)

// Prefixes returns the prefixes of service headers at nodes that deliver.
func Prefixes() []string { return []string{"Svc", "Upstash"} }

// ServeDelivering starts n nodes that serve /v2, have signing keys, and deliver to
// loopback. Their requests to providers of API destinations carry apiToken. They end with
// the test.
func ServeDelivering(t testing.TB, n int, apiToken string, adjust func(*httpapi.Options)) *Nodes {
	t.Helper()
	transport := egress.NewClient(egress.Options{Policy: &egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}})
	set := &schedulerSet{}
	deliver := func(ctx context.Context, n *cluster.Node) {
		set.join(scheduler.New(scheduler.Options{Claimer: scheduler.NodeClaimer(n, n.Piggyback), Deliverer: scheduler.NewSender(scheduler.SenderOptions{
			Transport: transport, Prefixes: Prefixes(), APITokens: map[string]string{"llm": apiToken}, Keys: func(db string) queue.Keys { return scheduler.Keys(n, db) },
			Deliveries: scheduler.Deliveries(n), Propagate: true,
		})})).Run(ctx)
	}
	nodes := ServeNodesLed(t, n, deliver, func(o *httpapi.Options) {
		o.Messages = &messages.Parser{Prefixes: Prefixes(), Traces: func() bool { return true }}
		o.Providers = func(_ string, r *http.Request) (*http.Response, error) {
			r.Header.Set("Authorization", "Bearer "+apiToken)
			return transport.RoundTrip(r)
		}
		if adjust != nil {
			adjust(o)
		}
	})
	t.Cleanup(func() {
		set.dismiss()
		transport.CloseIdle()
	})
	if _, err := fsm.Do(context.Background(), nodes.Nodes[0], fsm.RotateKeys, queue.Rotation{}); err != nil {
		t.Fatal(err)
	}
	return nodes
}

// schedulerSet holds the schedulers of the nodes that have led.
type schedulerSet struct {
	mu  sync.Mutex
	all []*scheduler.Scheduler
}

func (ss *schedulerSet) join(s *scheduler.Scheduler) *scheduler.Scheduler {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.all = append(ss.all, s)
	return s
}

// dismiss ends the deliveries that they still make.
func (ss *schedulerSet) dismiss() {
	ended, end := context.WithCancel(context.Background())
	end()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for _, s := range ss.all {
		s.Close(ended)
	}
}
