package cluster

import (
	"context"
	"time"

	"trireme/fsm"
)

const (
	// trailingBytes is about how many bytes of log stay behind a snapshot, so that a
	// follower that was away for a moment catches up from the log; a restart reads them all.
	trailingBytes = 64 << 20
	// fewestTrailing is how many entries stay at least, however large they are.
	fewestTrailing = 256
)

// watchSize takes a snapshot when many bytes were applied since the last one: raft
// itself counts entries only, and a restart reads what lies behind the snapshot. A large
// state waits for more, so that snapshots write at most about twice what clients do.
func (n *Node) watchSize(ctx context.Context) {
	for pause(ctx, time.Second) {
		applied := n.adapter.bytes.Load()
		if applied <= n.opts.SnapshotBytes || applied <= n.memory()/2 {
			continue
		}
		n.fitTrailing(applied, n.adapter.entries.Load())
		n.adapter.bytes.Store(0)
		n.adapter.entries.Store(0)
		if err := n.Snapshot(); err != nil {
			n.log.Warn("snapshot failed", "error", err)
		}
	}
}

// memory is the logical memory of the state in bytes.
func (n *Node) memory() (bytes int64) {
	n.machine.View(0, [16]byte{}, func(v *fsm.View) { _, bytes = v.Usage() })
	return bytes
}

// fitTrailing has raft keep fewer entries behind snapshots when they are large.
func (n *Node) fitTrailing(bytes, entries int64) {
	keep := uint64(trailingBytes / max(bytes/max(entries, 1), 1))
	c := n.raft.ReloadableConfig()
	c.TrailingLogs = min(max(keep, fewestTrailing), n.opts.TrailingLogs)
	if err := n.raft.ReloadConfig(c); err != nil {
		n.log.Warn("the number of trailing entries was not changed", "error", err)
	}
}
