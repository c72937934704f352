package cluster

import (
	"context"
	"fmt"
	"time"
)

// A node that serves a monitor asks the others what their doors execute. What question
// and answer hold is the doors' affair.

// monitorTime is how long another node's question may be held.
const monitorTime = 4 * time.Second

// Others are the ids of the other servers of the cluster.
func (n *Node) Others() (ids []string) {
	for _, s := range n.servers() {
		if string(s.ID) != n.opts.NodeID {
			ids = append(ids, string(s.ID))
		}
	}
	return ids
}

// Ask puts a monitor's question to another node, which answers by its Options.Monitor.
func (n *Node) Ask(ctx context.Context, node string, question []byte) ([]byte, error) {
	addr, ok := n.serverAddr(node)
	if !ok {
		return nil, fmt.Errorf("cluster: no server %s", node)
	}
	return n.peers.ask(ctx, addr, callMonitor, question)
}

// answerMonitor answers another node's question. It may take its time.
func (n *Node) answerMonitor(question []byte, answer func([]byte, error)) {
	if n.opts.Monitor == nil {
		answer(nil, errUnknownCall)
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), monitorTime)
		defer cancel()
		answer(n.opts.Monitor(ctx, question))
	}()
}
