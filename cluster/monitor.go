package cluster

import (
	"context"
	"fmt"
	"time"
)

// A node that serves a MONITOR client asks the others what their clients execute. Package resp defines the contents of
// question and answer.

// monitorTimeout bounds the time for which another node's call is held.
const monitorTimeout = 4 * time.Second

// Others returns the ids of the other servers of the cluster.
func (n *Node) Others() (ids []string) {
	for _, s := range n.others() {
		ids = append(ids, s.ID)
	}
	return ids
}

// Ask sends a monitor's question to another node, which answers by its Options.Monitor.
func (n *Node) Ask(ctx context.Context, node string, question []byte) ([]byte, error) {
	addr, ok := n.serverAddr(node)
	if !ok {
		return nil, fmt.Errorf("cluster: no server %s", node)
	}
	return n.peers.ask(ctx, addr, callMonitor, question)
}

// answerMonitor answers another node's question, in a goroutine: it may wait for commands.
func (n *Node) answerMonitor(question []byte, answer func([]byte, error)) {
	if n.opts.Monitor == nil {
		answer(nil, errUnknownCall)
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), monitorTimeout)
		defer cancel()
		answer(n.opts.Monitor(ctx, question))
	}()
}
