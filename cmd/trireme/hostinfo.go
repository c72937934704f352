package main

import (
	"context"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
)

// hostInterval is the time between two updates of the node's figures in INFO and ROLE.
const hostInterval = 2 * time.Second

// updateHostInfo updates this node's figures in INFO and ROLE until ctx ends.
func (pr *process) updateHostInfo(ctx context.Context, node *cluster.Node) {
	started := time.Now().UnixMilli()
	collector := &nodeCollector{n: pr, node: node}
	if err := pr.registry.Register(collector); err != nil {
		pr.log.Error("the node's metrics are not registered", "error", err)
	}
	if err := pr.registry.Register(pr.figures.Collector(pr.haveDatabases)); err != nil {
		pr.log.Error("the metrics of commands are not registered", "error", err)
	}
	tick := time.NewTicker(hostInterval)
	defer tick.Stop()
	for {
		node.Machine().SetHost(pr.hostInfo(collector.poll(ctx), node, started))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (pr *process) hostInfo(status cluster.Status, node *cluster.Node, started int64) *command.Host {
	h := &command.Host{NodeID: pr.NodeID, Version: version, StartedMs: started, SavedMs: lastSnapshot(node.SnapshotDir()), Leads: node.IsLeader(),
		Process: processStats(), Figures: pr.figures.Of}
	if _, port, err := net.SplitHostPort(pr.HTTP); err == nil {
		h.Port, _ = strconv.Atoi(port) // a name stays 0
	}
	for _, one := range status.Nodes {
		if one.ID == status.Leader {
			h.Leader = one.Cluster
		}
		if one.ID != pr.NodeID && len(status.Nodes) > 1 {
			h.Others = append(h.Others, one.Cluster)
		}
	}
	return h
}

// lastSnapshot returns the time of the newest snapshot in unix milliseconds, or 0 without
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

// haveDatabases returns those of some names that are names of databases.
func (pr *process) haveDatabases(names []string) []string {
	pr.engine.Local(func(v *fsm.View) {
		names = slices.DeleteFunc(names, func(name string) bool { return !v.HasDatabase(name) })
	})
	return names
}
