package main

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
)

// hostInterval is the time between two updates of what INFO and ROLE return about the node.
const hostInterval = 2 * time.Second

// updateHostInfo keeps what INFO and ROLE return about this node up to date until ctx ends.
func (n *process) updateHostInfo(ctx context.Context, node *cluster.Node) {
	started := time.Now().UnixMilli()
	collector := &nodeCollector{n: n, node: node}
	if err := n.registry.Register(collector); err != nil {
		n.log.Error("the node's metrics are not registered", "error", err)
	}
	if err := n.registry.Register(n.figures.Collector(n.databaseNames)); err != nil {
		n.log.Error("the metrics of commands are not registered", "error", err)
	}
	tick := time.NewTicker(hostInterval)
	defer tick.Stop()
	for {
		node.Machine().SetHost(n.hostInfo(collector.poll(ctx), node, started))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (n *process) hostInfo(status cluster.Status, node *cluster.Node, started int64) *command.Host {
	h := &command.Host{NodeID: n.NodeID, Version: version, StartedMs: started, SavedMs: lastSnapshot(node.SnapshotDir()), Leads: node.IsLeader(),
		Process: aboutProcess(), Figures: n.figures.Of}
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

// databaseNames are those of the databases that there are.
func (n *process) databaseNames() (names []string) {
	n.engine.Local(func(v *fsm.View) {
		for _, d := range v.Databases() {
			names = append(names, d.Name)
		}
	})
	return names
}
