package clients_test

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"time"

	"trireme/clients"
	"trireme/cluster"
	"trireme/egress"
	"trireme/fsm"
	"trireme/fsm/queue"
	"trireme/httpapi"
	"trireme/httpapi/httpapitest"
	"trireme/httpapi/messages"
	"trireme/scheduler"
)

// The client of messages runs against three real nodes, of which the leader delivers.
func TestMessagesClient(t *testing.T) {
	install(t)
	transport := egress.NewTransport(egress.Options{Policy: &egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}})
	prefixes := []string{"Svc", "Upstash"}
	var mu sync.Mutex
	var couriers []*scheduler.Scheduler
	deliver := func(ctx context.Context, n *cluster.Node) {
		s := scheduler.New(scheduler.Options{Engine: scheduler.OnNode(n), Courier: scheduler.NewSender(scheduler.SenderOptions{
			Transport: transport, Prefixes: prefixes, Keys: func() queue.Keys { return scheduler.Keys(n) },
		})})
		mu.Lock()
		couriers = append(couriers, s)
		mu.Unlock()
		s.Run(ctx)
	}
	nodes := httpapitest.ServeNodesLed(t, 3, deliver, func(o *httpapi.Options) { o.Messages = &messages.Parser{Prefixes: prefixes} })
	t.Cleanup(func() {
		ended, end := context.WithCancel(context.Background())
		end()
		for _, s := range couriers {
			s.Close(ended)
		}
		transport.Close()
	})
	if _, err := fsm.Do(t.Context(), nodes.Nodes[0], fsm.RotateKeys, queue.Rotation{}); err != nil {
		t.Fatal(err)
	}
	urls := make([]string, len(nodes.Addrs))
	for i, addr := range nodes.Addrs {
		urls[i] = "http://" + addr
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if output, err := clients.Messages(ctx, urls, httpapitest.MessagesToken); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}
