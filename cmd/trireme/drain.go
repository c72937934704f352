package main

import (
	"context"
	"time"

	"github.com/trireme-dev/trireme/cluster"
)

// drain lets clients leave before the node stops, for --drain: /readyz answers 503 at once, so that
// load balancers choose other nodes; replies carry "Connection: close"; deliveries and leadership
// go to another node. Everything that still arrives, on old and new connections, is answered as
// before until the time is over. A second signal ends the process, see untilSignal.
func (n *process) drain(node *cluster.Node) {
	if n.Drain <= 0 {
		return
	}
	over := time.NewTimer(n.Drain)
	defer over.Stop()
	n.log.Info("draining", "for", n.Drain.String())
	n.supervisor.notify("STATUS=draining: not ready, still answering")
	n.engine.draining.Store(true)
	n.server.Drain()
	ctx, cancel := context.WithTimeout(context.Background(), n.Drain)
	defer cancel()
	n.deliveries.close()
	node.HandOver(ctx)
	<-over.C
}
