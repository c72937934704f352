package main

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"

	"trireme/cluster"
	"trireme/fsm/command"
)

// hostEvery is how often a node looks anew at what INFO and ROLE say of it.
const hostEvery = 2 * time.Second

// tellHost keeps what INFO and ROLE say of this node up to date until ctx ends.
func (n *process) tellHost(ctx context.Context, node *cluster.Node) {
	started := time.Now().UnixMilli()
	stands := &standing{n: n, node: node}
	if err := n.registry.Register(stands); err != nil {
		n.log.Error("the metrics of how this node stands are missing", "error", err)
	}
	tick := time.NewTicker(hostEvery)
	defer tick.Stop()
	for {
		node.Machine().SetHost(n.host(stands.look(ctx), node, started))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (n *process) host(status cluster.Status, node *cluster.Node, started int64) *command.Host {
	h := &command.Host{NodeID: n.NodeID, Version: version, StartedMs: started, SavedMs: lastSnapshot(node.SnapshotDir()), Leads: node.IsLeader(),
		Process: aboutProcess(), Figures: n.figures.Figures}
	if _, port, err := net.SplitHostPort(n.HTTP); err == nil {
		h.Port, _ = strconv.Atoi(port) // a name stays 0
	}
	for _, one := range status.Nodes {
		if one.ID == status.Leader {
			h.Leader = one.Cluster
		}
		if one.ID != n.NodeID && len(status.Nodes) > 1 {
			h.Others = append(h.Others, one.Cluster)
		}
	}
	return h
}

// lastSnapshot is when the newest snapshot was written, in unix milliseconds, 0 without
// one.
func lastSnapshot(dir string) (newest int64) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, e := range list {
		if info, err := e.Info(); err == nil && e.IsDir() {
			newest = max(newest, info.ModTime().UnixMilli())
		}
	}
	return newest
}
