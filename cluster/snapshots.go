package cluster

import (
	"context"
	"math"
	"time"

	"github.com/hashicorp/raft"
)

const (
	// trailingBytes is about how many bytes of log stay behind a snapshot, so that a
	// follower that was away for a moment catches up from the log; a restart reads them all.
	trailingBytes = 64 << 20
	// fewestTrailing is how many entries stay at least, however large they are.
	fewestTrailing = 256
)

const (
	// mostBytes is how many bytes of log are behind a snapshot at most, however large the state
	// is: a restart reads and applies them all.
	mostBytes = 1 << 30
	// mostThresholds is after how many times Options.SnapshotThreshold a snapshot is taken in
	// any case, for the same reason. raft itself watches this bound.
	mostThresholds = 20
	// entriesEvery is how long the next snapshot waits that only the number of entries asks for.
	entriesEvery = 10 * time.Second
)

// appliedSince is what was applied since the last snapshot began.
type appliedSince struct{ bytes, entries, commands int64 }

// watchSnapshots takes a snapshot when enough was applied since the last one: raft itself counts
// entries only, which says neither what a restart has to do nor what a snapshot costs.
func (n *Node) watchSnapshots(ctx context.Context) {
	for last := time.Now(); pause(ctx, time.Second); {
		since := appliedSince{n.adapter.bytes.Load(), n.adapter.entries.Load(), n.adapter.commands.Load()}
		if time.Since(last) < entriesEvery {
			since.entries = 0
		}
		if !n.opts.due(since, 0, 0) {
			continue // not even for an empty state
		}
		keys, _ := n.metrics.usage()
		if !n.opts.due(since, n.lastSnapshotSize(), int64(keys)) {
			continue
		}
		n.fitTrailing(since.bytes, n.adapter.entries.Load())
		n.adapter.restart()
		if err := n.Snapshot(); err != nil {
			n.log.Warn("snapshot failed", "error", err)
		}
		last = time.Now()
	}
}

// due reports whether a snapshot is due. size is that of the last one in bytes, keys how many
// keys there are.
//
// Snapshots of a large state wait for as many bytes of log as the last one has, so that they
// write at most about as much as clients do; a small state, below SnapshotBytes, is written
// whenever SnapshotThreshold entries were applied. What a restart has to apply again bounds both.
func (o *Options) due(since appliedSince, size, keys int64) bool {
	enough := since.bytes > min(max(o.SnapshotBytes, size), mostBytes)
	small := since.entries >= int64(min(o.SnapshotThreshold, math.MaxInt64)) && size <= max(o.SnapshotBytes, since.bytes)
	many := since.commands > max(o.SnapshotCommands, keys/2)
	return enough || small || many
}

// entriesLimit is after how many entries raft takes a snapshot by itself.
func (o *Options) entriesLimit() uint64 {
	return mostThresholds * min(o.SnapshotThreshold, math.MaxInt64/mostThresholds)
}

// lastSnapshotSize is the size of the newest snapshot in bytes, 0 without one.
func (n *Node) lastSnapshotSize() int64 {
	list, err := n.snapshots.List()
	if err != nil || len(list) == 0 {
		return 0
	}
	return list[0].Size
}

// fitTrailing has raft keep fewer entries behind snapshots when they are large.
func (n *Node) fitTrailing(bytes, entries int64) {
	keep := uint64(trailingBytes / max(bytes/max(entries, 1), 1))
	err := n.settings.change(n.raft, func(c *raft.ReloadableConfig) { c.TrailingLogs = min(max(keep, fewestTrailing), n.opts.TrailingLogs) })
	if err != nil {
		n.log.Warn("the number of trailing entries was not changed", "error", err)
	}
}
