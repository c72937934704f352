package cluster

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/slowdisk"
)

// errNoHealthySuccessor says that no voter with a healthy disk answers.
var errNoHealthySuccessor = errors.New("cluster: no other voter with a healthy disk answers")

// watchDisk judges this node's disk by the times of its appends and probes, and gives leadership away while the disk is so much
// slower than those of the others that writes would be faster without it.
func (n *Node) watchDisk(ctx context.Context) {
	for pause(ctx, slowdisk.Interval) {
		now := time.Now()
		syncs, change := n.ownDisk.Tick(now)
		switch since, took := n.ownDisk.SlowSince(); change {
		case slowdisk.StaysSlow:
			level := slog.LevelWarn
			if n.opts.Addresses.NoPort { // of dev
				level = slog.LevelInfo
			}
			n.log.Log(ctx, level, "this node's disk is slow: look at the disk, and at what else writes to it", "since", since.UTC().Truncate(time.Second),
				"sync", took.Round(time.Millisecond), "dir", n.opts.DataDir)
		case slowdisk.Recovered:
			n.log.Info("this node's disk is not slow any more", "sync", took.Round(time.Microsecond))
		}
		others, _ := n.consensus.Voters()
		fast := n.slowLeader.Judge(now, n.openTerm.Load(), syncs, idsOf(others))
		if len(fast) > 0 {
			n.giveWay(syncs.Time, fast)
		}
	}
}

func idsOf(servers []consensus.Server) (ids []string) {
	for _, s := range servers {
		ids = append(ids, s.ID)
	}
	return ids
}

// giveWay transfers leadership to the voter furthest ahead of those whose disks are fast.
func (n *Node) giveWay(sync time.Duration, fast []string) {
	n.log.Warn("handing leadership over: the disks of the others are much faster", "sync", sync.Round(time.Millisecond))
	err := n.transferToOne(errNoHealthySuccessor, func(h peerStatus) bool { return !h.SlowDisk && slices.Contains(fast, h.Node) })
	if err != nil {
		n.slowLeader.Failed(time.Now())
		n.log.Warn("leadership was not transferred", "error", err)
		return
	}
	n.slowLeader.GaveWay(time.Now())
	n.metrics.gaveWay.Inc()
}

// SlowDiskSince returns since when this node's disk has been slow. The time is zero if the disk is not slow, or only for a few
// seconds.
func (n *Node) SlowDiskSince() time.Time {
	since, _ := n.ownDisk.SlowSince()
	return since
}
