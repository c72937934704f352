package main

import (
	"context"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/trireme-dev/trireme/cli/doctor"
	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/fsm"
)

// examine returns the doctor's report of a running node on itself and on the other nodes.
func (pr *process) examine(ctx context.Context) doctor.Report {
	s := *pr.settings
	node := pr.engine.node.Load()
	if node == nil {
		return doctor.NewReport(pr.NodeID, pr.mode(), append(s.examineMachine(ctx), doctor.State(errStarting, "")))
	}
	var short []doctor.Finding
	node.Machine().View(0, [16]byte{}, func(v *fsm.View) {
		s.MaxMemory = byteSize(v.Settings().MaxMemory)
		if c := v.Totals(); c.Messages.Stopped+c.Workflows.Paused > 0 {
			short = append(short, doctor.Stopped(c.Messages.Stopped, c.Workflows.Paused))
		}
		for _, h := range v.ShortHistories(namedHistories) {
			short = append(short, doctor.History(h.Database, historyOf(&h), milliseconds(v.Now()-h.Oldest), milliseconds(h.Age), h.Bytes))
		}
	})
	all := append(s.examineMachine(ctx), doctor.State(pr.engine.Ready(), node.Status(ctx).Leader))
	if ahead, lasts := node.TimeDifference(); ahead != 0 {
		all = append(all, doctor.ClusterTime(ahead, lasts))
	}
	peers := node.Examine(ctx)
	if p := node.Poison(); p != nil {
		all = append(all, doctor.Poison("", p.Index, p.Database, p.Operation))
	}
	if since := node.SlowDiskSince(); !since.IsZero() {
		all = append(all, doctor.SlowDisk("", time.Since(since)))
	}
	all = append(all, short...)
	all = append(all, doctor.Peers(node.Address(), peers, time.Now())...)
	all = append(all, doctor.Versions(version, uint32(fsm.MaxLevel), node.FeatureLevel(), peers)...)
	return doctor.NewReport(node.ID(), pr.mode(), all)
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// mode returns the way in which the node was started: serve, local-cluster or dev.
func (pr *process) mode() doctor.Mode {
	if _, is := pr.profile.(*devNode); is {
		return doctor.Development
	}
	return pr.settings.mode()
}

// mode returns doctor.LocalCluster for a node of a cluster on loopback, and doctor.Production otherwise.
func (s *settings) mode() doctor.Mode {
	if peers, err := parsePeers(s.InitialCluster); loopback(s.Cluster) && (len(s.Join) > 0 || err == nil && len(peers) > 1) {
		return doctor.LocalCluster
	}
	return doctor.Production
}

// survey returns the doctor's report on a node that does not run yet.
func (s *settings) survey(ctx context.Context, o cluster.Options) doctor.Report {
	all := s.examineMachine(ctx)
	all = append(all, doctor.Address("http", s.HTTP)...)
	all = append(all, doctor.Address("resp", s.RESP)...)
	all = append(all, doctor.Address("gossip", s.Gossip)...)
	peers, err := cluster.PeerStatuses(ctx, o)
	if err != nil {
		all = append(all, doctor.Start(err))
	}
	all = append(all, doctor.Peers(o.Advertise, peers, time.Now())...)
	all = append(all, doctor.Versions(version, uint32(fsm.MaxLevel), 0, peers)...)
	return doctor.NewReport(s.NodeID, s.mode(), all)
}

// examineMachine returns the findings that do not depend on whether the node runs.
func (s *settings) examineMachine(ctx context.Context) []doctor.Finding {
	now := time.Now()
	all := doctor.Disk(ctx, s.DataDir)
	all = append(all, doctor.Space(s.DataDir, logstore.Floor(s.MinFreeDisk)), doctor.OpenFiles(s.maxConnections()), doctor.Memory(memory(), int64(s.MaxMemory)))
	all = append(all, doctor.Pair(s.TLSCert, s.TLSKey, now)...)
	all = append(all, doctor.Pair(s.ClusterCert, s.ClusterKey, now)...)
	return append(all, doctor.Authority(s.ClusterCA, s.ClusterCert, s.NodeID, now)...)
}

// maxConnections returns the number of connections that the settings let clients and deliveries open together.
func (s *settings) maxConnections() int {
	total := s.Limits.Connections + s.Deliveries.Senders
	if s.RESP != off && s.RESP != "" {
		total += s.RESPLimits.Connections
	}
	return total
}

// memory returns the memory limit of this process's container, or the machine's memory, in bytes; 0 if
// neither can be read.
func memory() int64 {
	limit, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil || limit > 1<<62 {
		return 0
	}
	return int64(limit)
}
