package main

import (
	"context"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/cluster"
)

// drain lets clients leave before the node stops, for --drain: /readyz answers 503 at once, so that
// load balancers choose other nodes; replies carry "Connection: close"; deliveries and leadership
// go to another node. Everything that still arrives, on old and new connections, is answered as
// before until the time is over. RESP has no such header: from half of the time on, when load balancers
// have noticed, the connections that were there end with the reply to their next command. A second signal ends
// the process, see untilSignal. It happens once, at a stop or before one (POST /admin/drain), and every call returns when it is over.
func (n *process) drain(node *cluster.Node) {
	if n.Drain > 0 {
		n.engine.drained.Do(func() { n.drainNow(node) })
	}
}

func (n *process) drainNow(node *cluster.Node) {
	half, over := time.NewTimer(n.Drain/2), time.NewTimer(n.Drain)
	defer half.Stop()
	defer over.Stop()
	n.log.Info("draining", "for", n.Drain)
	n.supervisor.notify("STATUS=draining: not ready, still answering")
	n.engine.draining.Store(true)
	n.server.Drain()
	ctx, cancel := context.WithTimeout(context.Background(), n.Drain)
	defer cancel()
	n.deliveries.close()
	var handedOver sync.WaitGroup
	handedOver.Go(func() { node.HandOver(ctx) })
	<-half.C
	if n.resp != nil {
		n.resp.Drain()
	}
	<-over.C
	handedOver.Wait()
}

// admin is what /admin asks of this node.
func (n *process) admin() *admin {
	a := &admin{engine: n.engine, gossip: n.gossip, examine: n.examine, history: n.history}
	if n.Drain > 0 {
		a.drain = n.drain
	}
	return a
}
