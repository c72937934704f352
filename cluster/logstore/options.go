package logstore

import (
	"errors"
	"log/slog"
	"time"

	"go.etcd.io/bbolt"
)

// Options says where the store is and what it does about faults. Dir and Fatal
// are required; for everything else zero means the default named below.
type Options struct {
	// Dir holds raft.db and the store's small files beside it. It is made if
	// it is missing.
	Dir string
	// Fatal is called once, from any goroutine, when the process must end:
	// damage, a failed sync, a stalled disk. It must not wait for the store or
	// for raft: both may be blocked. If it returns, every later call of the
	// store answers ErrFailed.
	Fatal func(reason error)
	// Snapshots are the snapshots on this node's disk, as CheckSnapshots
	// returned them. They say how far the log must reach back, whether it is
	// older than the newest snapshot, and which damaged ones it can replace.
	Snapshots []Snapshot
	// Heartbeat is raft's heartbeat timeout.
	Heartbeat time.Duration
	// Stall is how long a call on the disk may be stuck before the disk counts
	// as stalled: max(2 s, 4 heartbeats).
	Stall time.Duration
	// LockTimeout is how long Open waits for another process to let go of the
	// directory: 3 s.
	LockTimeout time.Duration
	// Compaction says when Open rewrites the file.
	Compaction Compaction
	// Space says how much free disk the node wants.
	Space Space
	// Journal is the size in bytes of each of the two halves of the file that takes
	// appends before they are moved into the database: 8 MiB. Negative: none.
	Journal int64
	// ProbeEvery is the time between disk probes: 1 s. Negative: no probe.
	ProbeEvery time.Duration
	// ScrubEvery is the time between two readings of the whole log: 24 h.
	// Negative: no scrub.
	ScrubEvery time.Duration
	// Hooks observe; nil ones are skipped.
	Hooks Hooks
	// Logger gets what happens at open and what goes wrong; nil is silence.
	Logger *slog.Logger

	ticks func(every time.Duration) (c <-chan time.Time, stop func()) // tests
	wrap  func(backend) backend                                       // tests
}

// Compaction of the database file at open: it never shrinks by itself.
type Compaction struct {
	// Over is the file size in bytes above which the file is looked at, 0 = defaultCompactOver.
	Over int64
	// Below is the live share of the file under which it is rewritten: 0.25.
	Below float64
}

const defaultCompactOver = 512 << 20

func (o Options) withDefaults() (Options, error) {
	if o.Dir == "" || o.Fatal == nil {
		return o, errors.New("log store: Options.Dir and Options.Fatal are required")
	}
	o.Heartbeat = orDefault(o.Heartbeat, 500*time.Millisecond)
	o.LockTimeout = orDefault(o.LockTimeout, 3*time.Second)
	o.Journal = orDefault(o.Journal, journalHalf)
	o.ProbeEvery = orDefault(o.ProbeEvery, time.Second)
	o.ScrubEvery = orDefault(o.ScrubEvery, 24*time.Hour)
	o.Compaction.Over = orDefault(o.Compaction.Over, defaultCompactOver)
	o.Compaction.Below = orDefault(o.Compaction.Below, 0.25)
	o.Space = o.Space.withDefaults()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.ticks == nil {
		o.ticks = realTicks
	}
	if o.wrap == nil {
		o.wrap = func(b backend) backend { return b }
	}
	return o, nil
}

func orDefault[T comparable](v, d T) T {
	var zero T
	if v == zero {
		return d
	}
	return v
}

func realTicks(every time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(every)
	return t.C, t.Stop
}

// boltOptions are the database's settings. The free list is not written: it
// grows with every burst and is part of every commit otherwise.
func boltOptions(timeout time.Duration) *bbolt.Options {
	return &bbolt.Options{
		Timeout:        timeout,
		FreelistType:   bbolt.FreelistMapType,
		NoFreelistSync: true,
	}
}
