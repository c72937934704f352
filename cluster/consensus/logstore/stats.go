package logstore

import (
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// Hooks are called from the goroutine that did the work, often from raft's main
// loop: they must return at once.
type Hooks struct {
	// Append follows every append, also a failed one.
	Append func(Append)
	// Probe follows every disk probe with the time it took.
	Probe func(took time.Duration)
	// Free follows every look at the disk with its free and total bytes.
	Free func(free, total uint64)
	// Space follows every change of level.
	Space func(level Level)
}

// Append describes one append: its entries, their data in bytes, the time until
// the sync was done.
type Append struct {
	Entries int
	Bytes   int
	Took    time.Duration
	Err     error
}

// Stats are figures since Open, except those that say "now" or "last".
type Stats struct {
	Appends       uint64        // batches stored
	Entries       uint64        // entries in them
	Bytes         uint64        // their data, in bytes
	Failures      uint64        // appends that failed
	Full          uint64        // calls that met a full disk
	Reads         uint64        // entries read from the files, not the cache
	Deletes       uint64        // deletions of a range
	Sets          uint64        // stable values written
	Scrubs        uint64        // whole readings of the log
	AppendTime    time.Duration // sum over all appends
	LastAppend    time.Duration // last
	LastProbe     time.Duration // last
	ProbeFailures uint64        // probes that returned an error
	FreeBytes     uint64        // of the disk, now
	TotalBytes    uint64        // of the disk, now
	Level         Level         // now
	LogBytes      int64         // size of the log's files, now
	SpareBytes    int64         // size of files that wait to be used for the log, now
}

// counters are the parts of Stats that change.
type counters struct {
	appends, entries, bytes, failures, full atomic.Uint64
	reads, deletes, sets, scrubs            atomic.Uint64
	appendTime, lastAppend, lastProbe       atomic.Int64
	probeFailures                           atomic.Uint64
}

// Stats returns the store's figures; cheap enough for every scrape.
func (s *Store) Stats() Stats {
	c := &s.counts
	st := Stats{
		Appends: c.appends.Load(), Entries: c.entries.Load(), Bytes: c.bytes.Load(),
		Failures: c.failures.Load(), Full: c.full.Load(), Reads: c.reads.Load(),
		Deletes: c.deletes.Load(), Sets: c.sets.Load(), Scrubs: c.scrubs.Load(),
		AppendTime: time.Duration(c.appendTime.Load()), LastAppend: time.Duration(c.lastAppend.Load()),
		LastProbe: time.Duration(c.lastProbe.Load()), ProbeFailures: c.probeFailures.Load(),
	}
	files := s.wal.Stats()
	st.LogBytes, st.SpareBytes = files.Segments, files.Spares
	st.FreeBytes, st.TotalBytes, st.Level = s.space.now()
	return st
}

// countAppend keeps the figures of one append and tells the hook.
func (s *Store) countAppend(logs []*raft.Log, took time.Duration, err error) {
	size := 0
	for _, l := range logs {
		size += len(l.Data) + len(l.Extensions)
	}
	c := &s.counts
	if err != nil {
		c.failures.Add(1)
	} else {
		c.appends.Add(1)
		c.entries.Add(uint64(len(logs)))
		c.bytes.Add(uint64(size))
		c.appendTime.Add(int64(took))
		c.lastAppend.Store(int64(took))
	}
	if s.opts.Hooks.Append != nil {
		s.opts.Hooks.Append(Append{Entries: len(logs), Bytes: size, Took: took, Err: err})
	}
}
