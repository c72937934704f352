package logstore

import (
	"cmp"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore/wal"
)

// Options says where the store is and what it does about faults. Dir and Fatal
// are required; for everything else zero means the default named below.
type Options struct {
	// Dir holds the log, raft.db and the store's small files. It is made if it is missing.
	Dir string
	// Fatal is called once, from any goroutine, when the process must end: damage, a failed sync, a stalled disk. It must not
	// wait for the store or for raft: both may be blocked. If it returns, every later call of the store answers ErrFailed.
	Fatal func(reason error)
	// Snapshots are the snapshots on this node's disk, as CheckSnapshots returned them. They say how far the log must reach
	// back, whether it is older than the newest snapshot, and which damaged ones it can replace.
	Snapshots []Snapshot
	// CheckEntry, if set, is given the data of the log's commands, from the first on, until more is false. It is not called
	// if there is a sound snapshot. Its error refuses the directory before Open changes anything there.
	CheckEntry func(data []byte) (more bool, err error)
	// Heartbeat is raft's heartbeat timeout.
	Heartbeat time.Duration
	// Stall is the time after which a disk with a stuck call counts as stalled. The default is max(2 s, 4 heartbeats).
	Stall time.Duration
	// LockTimeout bounds how long Open waits for another process to release the directory. The default is 3 s.
	LockTimeout time.Duration
	// Space says how much free disk the node wants.
	Space Space
	// SegmentSize is the size in bytes of a file of the log; see package wal.
	SegmentSize int64
	// ProbeEvery is the time between disk probes: 1 s. Negative: no probe.
	ProbeEvery time.Duration
	// ScrubEvery is the time between two readings of the whole log: 24 h. Negative: no scrub.
	ScrubEvery time.Duration
	// Hooks observe; nil ones are skipped.
	Hooks Hooks
	// Logger logs what happens at open and what goes wrong; nil logs nothing.
	Logger *slog.Logger

	ticks func(every time.Duration) (c <-chan time.Time, stop func()) // tests
	wrap  func(stable) stable                                         // tests
	// wrapFile comes between the log and its files, for tests.
	wrapFile func(wal.File) wal.File
}

// Hooks are called from the goroutine that did the work, often from raft's main loop: they must return at once.
type Hooks struct {
	// Append follows every append, also a failed one.
	Append func(Append)
	// Probe follows every disk probe with the time it took.
	Probe func(took time.Duration)
	// Free follows every look at the disk with its free and total bytes.
	Free func(free, total uint64)
}

// Append describes one append: its entries, their data in bytes, the time until the sync was done.
type Append struct {
	Entries, Bytes int
	Took           time.Duration
	Err            error
}

func (o Options) withDefaults() (Options, error) {
	if o.Dir == "" || o.Fatal == nil {
		return o, errors.New("log store: Options.Dir and Options.Fatal are required")
	}
	o.Heartbeat = cmp.Or(o.Heartbeat, 500*time.Millisecond)
	o.LockTimeout = cmp.Or(o.LockTimeout, 3*time.Second)
	o.ProbeEvery = cmp.Or(o.ProbeEvery, time.Second)
	o.ScrubEvery = cmp.Or(o.ScrubEvery, 24*time.Hour)
	o.Space = o.Space.withDefaults()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.ticks == nil {
		o.ticks = realTicks
	}
	if o.wrap == nil {
		o.wrap = func(v stable) stable { return v }
	}
	return o, nil
}

func realTicks(every time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(every)
	return t.C, t.Stop
}

// in returns the path of a file, or a folder, of the store.
func (o Options) in(names ...string) string { return filepath.Join(o.Dir, filepath.Join(names...)) }

// boltOptions returns the database's settings. The free list is not written: it
// grows with every burst and is part of every commit otherwise.
func boltOptions(timeout time.Duration) *bbolt.Options {
	return &bbolt.Options{Timeout: timeout, FreelistType: bbolt.FreelistMapType, NoFreelistSync: true}
}
