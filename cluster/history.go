package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
)

// historyTimeout bounds how long the history of one node may take: a page waits for it.
const historyTimeout = 2 * time.Second

var errNoHistory = errors.New("this node keeps no history")

// NodeHistory holds the last hours of one node, or the reason why it did not answer.
type NodeHistory struct {
	Node string
	Data []byte
	Err  error
}

// Histories asks every server for its history, this node first.
func (n *Node) Histories(ctx context.Context) []NodeHistory {
	ctx, cancel := context.WithTimeout(ctx, historyTimeout)
	defer cancel()
	servers := n.consensus.Servers()
	all := make([]NodeHistory, len(servers))
	var wg sync.WaitGroup
	for i, server := range servers {
		wg.Go(func() {
			h := NodeHistory{Node: server.ID}
			if h.Node == n.opts.NodeID {
				h.Data, h.Err = n.history()
			} else {
				h.Data, h.Err = n.peers.ask(ctx, server.Addr, callHistory, nil)
			}
			all[i] = h
		})
	}
	wg.Wait()
	slices.SortFunc(all, func(a, b NodeHistory) int {
		if own := n.opts.NodeID; (a.Node == own) != (b.Node == own) {
			if a.Node == own {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Node, b.Node)
	})
	return all
}

// history returns this node's history.
func (n *Node) history() ([]byte, error) {
	if n.opts.History == nil {
		return nil, errNoHistory
	}
	return n.opts.History()
}
