package main

import (
	"context"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/fsm"
)

// begin waits in the background until the node serves, then reports it and starts gossip. The
// channel that it returns closes when that is done, at the latest with ctx.
func (pr *process) begin(ctx context.Context, node *cluster.Node) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		if !pr.await(ctx, node) {
			return
		}
		pr.log.Info("ready", "http", pr.HTTP, "version", version)
		pr.supervisor.notify("READY=1", "STATUS=ready")
		pr.ready(node)
		pr.testing.begin(ctx)
		if pr.Gossip == "" {
			return
		}
		if err := pr.startGossip(node); err != nil {
			pr.log.Warn("no gossip: no node can join through this one, and cluster status has no addresses of nodes that do not answer; free the address of --gossip, or choose another, and start again", "gossip", pr.Gossip, "error", err)
		}
	}()
	return over
}

// await returns when the node serves and is settled, or ctx has ended.
func (pr *process) await(ctx context.Context, node *cluster.Node) bool {
	for {
		settled := false
		if node.Ready(ctx) {
			node.Machine().View(0, [16]byte{}, func(v *fsm.View) { settled = pr.settled(v) })
		}
		if settled {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
}
