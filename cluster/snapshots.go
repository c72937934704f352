package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

// What stays of the log behind a snapshot, so that a follower that was away catches up from the log: about as many bytes
// as a full copy has, within these bounds. Nothing of it is applied at a restart, but all of it is read and verified.
const (
	leastTrailing = 64 << 20
	mostTrailing  = 256 << 20
	// fewestTrailing is the least number of entries that stay, however large they are.
	fewestTrailing = 256
)

// Bounds of what a restart has to apply, however large the state is.
const (
	// mostBytes bounds the bytes of log after a snapshot.
	mostBytes = 2 << 30
	// mostReplay bounds the time that a restart takes for the log after the snapshot. For a large state the bound is
	// loadPerKey for each key: about the time that loading the snapshot takes.
	mostReplay = 10 * time.Second
	loadPerKey = time.Microsecond
	// readEntry is the time that a restart takes for an entry in addition to applying it.
	readEntry = 5 * time.Microsecond
	// simpleCommand is the average time of a command below which a restart takes replayPart tenths of it: while the node served, the
	// apply shared the caches with requests and copied what snapshots held. Commands that take longer compute, and take as long again.
	simpleCommand = 20 * time.Microsecond
	replayPart    = 6
)

const (
	// entriesEvery is the least time after the last snapshot before the number of entries alone makes one due.
	entriesEvery = 10 * time.Second
	// tinySnapshot is the size up to which snapshots are not weighed against the log: one every entriesEvery is 105 kB a second.
	tinySnapshot = 1 << 20
)

// appliedSince sums up what was applied since the last snapshot began.
type appliedSince struct {
	bytes, entries, commands int64
	files                    int64         // bytes of payloads written to segments since then
	took                     time.Duration // by the clock of this machine
	lately                   bool          // the last snapshot is less than entriesEvery ago
}

// replay estimates how long a restart takes to read all that and apply it again.
func (s appliedSince) replay() time.Duration {
	took := s.took
	if took < time.Duration(s.commands)*simpleCommand {
		took = took / 10 * replayPart
	}
	return took + time.Duration(s.entries)*readEntry
}

// watchSnapshots takes a snapshot when enough was applied since the last one. raft's own rule counts entries only, which
// says neither what a restart has to do nor what a snapshot costs; it is switched off.
func (n *Node) watchSnapshots(ctx context.Context) {
	for last := time.Now(); pause(ctx, time.Second); {
		since := n.adapter.since()
		since.lately = time.Since(last) < entriesEvery
		if n.opts.due(since, 0, 0) == "" {
			n.turn.leave()
			continue // not even for an empty state
		}
		var keys int
		n.machine.View(0, [16]byte{}, func(v *fsm.View) { keys, _ = v.Usage() })
		reason := n.opts.due(since, n.lastSnapshotSize(), int64(keys))
		if reason == "" {
			n.turn.leave()
			continue
		}
		if !n.takeTurn(ctx, since.bytes) {
			continue
		}
		n.log.Info("a snapshot begins", "reason", reason, "bytes", since.bytes, "entries", since.entries, "commands", since.commands,
			"applied_in", since.took.Round(time.Millisecond))
		begun := time.Now()
		if err := n.Snapshot(); err != nil {
			n.log.Warn("snapshot failed", "error", err)
			n.adapter.restart() // it is not tried again at once
		}
		n.log.Info("a snapshot ends", "took", time.Since(begun).Round(time.Millisecond))
		n.turn.leave()
		last = time.Now()
	}
}

// due returns the reason why a snapshot is due, empty if none is. size is the size of the last snapshot in bytes, keys the number of keys.
//
// A snapshot waits for as many bytes of log as the last one has, so that snapshots write at most as much as the log does:
// writes are amplified at most twice. Payloads that went to segments were written a second time already: then it waits until
// all of it together is at most two and a half times the log. Beyond that it waits for SnapshotBytes, SnapshotThreshold entries or SnapshotCommands
// commands, whichever comes first. Only what a restart has to apply again can make it come earlier.
func (o *Options) due(since appliedSince, size, keys int64) (reason string) {
	switch {
	case since.bytes > mostBytes:
		return "the size of the log"
	case since.replay() > max(mostReplay, time.Duration(keys)*loadPerKey):
		return "the time of a restart"
	case since.bytes < size && size > tinySnapshot:
		return ""
	case since.bytes+since.bytes/2 < since.files+size && size > tinySnapshot:
		return ""
	case since.bytes > o.SnapshotBytes:
		return "bytes"
	case since.commands > max(o.SnapshotCommands, keys/2):
		return "commands"
	case !since.lately && since.entries >= int64(min(o.SnapshotThreshold, math.MaxInt64)):
		return "entries"
	}
	return ""
}

// lastSnapshotSize returns the size of the newest snapshot in bytes, 0 if there is none.
func (n *Node) lastSnapshotSize() int64 {
	list, err := n.snapshots.List()
	if err != nil || len(list) == 0 {
		return 0
	}
	return list[0].Size
}

// trailing returns the number of entries that stay behind a snapshot of that size; it depends on the average size of
// the entries since the last snapshot.
func (o *Options) trailing(since appliedSince, size int64) uint64 {
	keep := min(max(size, leastTrailing), mostTrailing) / max(since.bytes/max(since.entries, 1), 1)
	return min(max(uint64(keep), fewestTrailing), o.TrailingLogs)
}

// fitTrailing returns the number of entries that are worth keeping before the next snapshot, 0 if their size is not known.
func (n *Node) fitTrailing() uint64 {
	since := n.adapter.since()
	if since.entries == 0 {
		return 0
	}
	return n.opts.trailing(since, n.lastSnapshotSize())
}

// checkLevels refuses a disk whose snapshots are of a feature level that this binary doesn't know yet, or whose newest sound
// one is of a level that it doesn't read any more. It changes nothing. A level that only the log has raised is met when that
// entry is applied, and ends the process then.
func (n *Node) checkLevels(list []logstore.Snapshot) error {
	newest := true
	for _, s := range list {
		if s.Damage != nil {
			continue // whether it is needed is the log's to find out
		}
		level, err := snapshotLevel(s)
		switch {
		case err != nil:
			n.log.Warn("the feature level of a snapshot can't be read", "snapshot", s.ID, "error", err)
			continue
		case level > fsm.MaxLevel:
			return fmt.Errorf("%w: %s is at feature level %d, this version knows %d; start the node with the version that it ran last, or a newer one",
				ErrLevel, n.opts.DataDir, level, fsm.MaxLevel)
		case newest && level < env.Base:
			return n.formerLevelError(level)
		}
		newest = false
	}
	return nil
}

// formerLevelError refuses the data directory because of its level.
func (n *Node) formerLevelError(level env.Level) error {
	return fmt.Errorf("%s: %w", n.opts.DataDir, fsm.FormerLevel(level))
}

// checkFounding refuses a log without a snapshot whose cluster was founded at a level that this binary doesn't read any more.
// It is called with the data of the entries from the first on, until more is false.
func (n *Node) checkFounding(data []byte) (more bool, err error) {
	level, founds := fsm.FoundedAt(data)
	if !founds {
		return true, nil
	}
	if level < env.Base {
		return false, n.formerLevelError(level)
	}
	return false, nil
}

func snapshotLevel(s logstore.Snapshot) (env.Level, error) {
	r, err := s.Open()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	dec, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return 0, err
	}
	defer dec.Close()
	return fsm.SnapshotLevel(dec)
}

// SnapshotInfo describes a snapshot on this node's disk. Bytes is its size.
type SnapshotInfo struct {
	ID    string
	Index uint64
	Bytes int64
}

// NewestSnapshot describes the last snapshot on this node's disk.
func (n *Node) NewestSnapshot() (SnapshotInfo, error) {
	list, err := n.snapshots.List()
	if err != nil {
		return SnapshotInfo{}, err
	}
	if len(list) == 0 {
		return SnapshotInfo{}, errors.New("cluster: there is no snapshot yet")
	}
	return SnapshotInfo{ID: list[0].ID, Index: list[0].Index, Bytes: list[0].Size}, nil
}

// Snapshot writes a snapshot now.
func (n *Node) Snapshot() error { return n.consensus.Snapshot(n.fitTrailing()) }

// SnapshotDir returns the directory of the node's snapshots.
func (n *Node) SnapshotDir() string { return filepath.Join(n.opts.DataDir, "snapshots") }
