package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

const (
	// unreachableAfter is the time without an answer after which the subscribers of a node no longer count.
	unreachableAfter = 5 * time.Second
	// reachInterval is the interval at which the leader asks nodes that have subscribers, and the timeout of each question.
	reachInterval = 500 * time.Millisecond
)

// watchSubscribers drops, while this node leads, the subscriber counts of nodes that
// can't be reached: their subscribers receive nothing.
func (n *Node) watchSubscribers(ctx context.Context, term uint64) {
	answered := map[string]time.Time{}
	began := time.Now()
	for pause(ctx, reachInterval) {
		var nodes []fsm.SubscribedNode
		n.machine.View(0, [16]byte{}, func(v *fsm.View) { nodes = v.SubscribedNodes() })
		for _, id := range n.reachable(ctx, nodes) {
			answered[id] = time.Now()
		}
		for _, s := range nodes {
			last := began
			if at, ok := answered[s.Node]; ok {
				last = at
			}
			if time.Since(last) < unreachableAfter {
				continue
			}
			n.log.Info("a node that can't be reached has no subscribers any more", "subscriber_node", s.Node)
			if _, err := n.command(term, fsm.ForgetSubscribers.Code, fsm.ForgetSubscribers.Body(fsm.SessionRef{Session: s.Session})); err != nil {
				n.log.Debug("subscribers were not forgotten", "error", err)
			}
		}
	}
}

// reachable returns the ids of the nodes that answer within reachInterval.
func (n *Node) reachable(ctx context.Context, nodes []fsm.SubscribedNode) (ids []string) {
	ctx, cancel := context.WithTimeout(ctx, reachInterval)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, s := range nodes {
		wg.Go(func() {
			if s.Node != n.opts.NodeID {
				to, ok := n.serverAddr(s.Node)
				if !ok {
					return
				}
				if h, err := n.peers.status(ctx, to); err != nil || h.Node != s.Node {
					return
				}
			}
			mu.Lock()
			ids = append(ids, s.Node)
			mu.Unlock()
		})
	}
	wg.Wait()
	return ids
}

// serverAddr returns the address of a server of raft's configuration.
func (n *Node) serverAddr(id string) (string, bool) {
	for _, s := range n.consensus.Servers() {
		if s.ID == id {
			return s.Addr, true
		}
	}
	return "", false
}

// dropFormerSubscribers drops the subscribers of this node's former process. Its registration does that too, but comes
// with the first request.
func (n *Node) dropFormerSubscribers(ctx context.Context) {
	for pause(ctx, reachInterval) {
		if n.proposer.Session() != 0 {
			return
		}
		var nodes []fsm.SubscribedNode
		n.machine.View(0, [16]byte{}, func(v *fsm.View) { nodes = v.SubscribedNodes() })
		for _, s := range nodes {
			if s.Node == n.opts.NodeID {
				// What it asks for is done by the registration already.
				_, _ = n.Propose(ctx, fsm.ForgetSubscribers.Code, fsm.ForgetSubscribers.Body(fsm.SessionRef{Session: s.Session}))
			}
		}
	}
}
