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
func (pr *process) drain(node *cluster.Node) {
	if pr.Drain > 0 {
		pr.engine.drained.Do(func() { pr.drainNow(node) })
	}
}

func (pr *process) drainNow(node *cluster.Node) {
	half, over := time.NewTimer(pr.Drain/2), time.NewTimer(pr.Drain)
	defer half.Stop()
	defer over.Stop()
	pr.log.Info("draining", "for", pr.Drain)
	pr.supervisor.notify("STATUS=draining: not ready, still answering")
	pr.engine.draining.Store(true)
	pr.server.Drain()
	ctx, cancel := context.WithTimeout(context.Background(), pr.Drain)
	defer cancel()
	pr.deliveries.close()
	var handedOver sync.WaitGroup
	handedOver.Go(func() { node.HandOver(ctx) })
	<-half.C
	if pr.resp != nil {
		pr.resp.Drain()
	}
	<-over.C
	handedOver.Wait()
}

// admin returns the implementation of /admin for this node.
func (pr *process) admin() *admin {
	a := &admin{engine: pr.engine, gossip: pr.gossip, examine: pr.examine, history: pr.history}
	if pr.Drain > 0 {
		a.drain = pr.drain
	}
	return a
}
