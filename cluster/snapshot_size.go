package cluster

import (
	"context"
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

// watchSize takes a snapshot when many bytes or commands were applied since the last one:
// raft itself counts entries only, and a restart reads and applies what lies behind the
// snapshot. A large state waits for more, so that snapshots write at most about twice what
// clients do.
func (n *Node) watchSize(ctx context.Context) {
	for pause(ctx, time.Second) {
		bytes, commands := n.adapter.bytes.Load(), n.adapter.commands.Load()
		keys, memory := n.metrics.usage()
		large := bytes > n.opts.SnapshotBytes && bytes > memory/2
		many := commands > n.opts.SnapshotCommands && commands > int64(keys/2)
		if !large && !many {
			continue
		}
		n.fitTrailing(bytes, n.adapter.entries.Load())
		n.adapter.restart()
		if err := n.Snapshot(); err != nil {
			n.log.Warn("snapshot failed", "error", err)
		}
	}
}

// fitTrailing has raft keep fewer entries behind snapshots when they are large.
func (n *Node) fitTrailing(bytes, entries int64) {
	keep := uint64(trailingBytes / max(bytes/max(entries, 1), 1))
	err := n.settings.change(n.raft, func(c *raft.ReloadableConfig) { c.TrailingLogs = min(max(keep, fewestTrailing), n.opts.TrailingLogs) })
	if err != nil {
		n.log.Warn("the number of trailing entries was not changed", "error", err)
	}
}
