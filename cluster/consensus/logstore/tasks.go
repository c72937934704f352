package logstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore/wal"
)

// startTasks starts the background work: watchdog, disk probe, scrub, looks at the free space.
func (s *Store) startTasks() {
	ctx, cancel := context.WithCancel(context.Background())
	var tasks sync.WaitGroup
	s.stopTasks = func() { cancel(); tasks.Wait() }
	every := func(d time.Duration, f func(now time.Time)) {
		c, stop := s.opts.ticks(d)
		tasks.Go(func() {
			defer stop()
			for {
				select {
				case <-ctx.Done():
					return
				case now := <-c:
					f(now)
				}
			}
		})
	}
	dog := &watchdog{limit: cmp.Or(s.opts.Stall, stallLimit(s.opts.Heartbeat)), last: time.Now()}
	dog.add("write", &s.writes)
	dog.add("read", &s.reads)
	probes := &gauge{}
	if s.opts.ProbeEvery > 0 {
		dog.add("disk probe", probes)
		every(s.opts.ProbeEvery, func(time.Time) { s.probe(probes) })
	}
	every(spaceEvery, func(time.Time) { s.checkSpace() })
	if s.opts.ScrubEvery > 0 {
		every(s.opts.ScrubEvery, func(time.Time) {
			if err := s.scrub(ctx); err != nil && !errors.Is(err, context.Canceled) {
				s.opts.Logger.Error("scrub of the log", "error", err)
			}
		})
	}
	every(watchEvery, func(now time.Time) {
		if err := dog.tick(now); err != nil {
			s.fail(err)
		}
	})
}

const (
	probeFile = "raft.probe"
	probeLen  = 4096
	// spaceEvery is the time between two looks at the free space.
	spaceEvery = time.Second
	// scrubStep is the number of entries that are read before a scrubPause.
	scrubStep  = 256
	scrubPause = 5 * time.Millisecond
)

// probe writes and syncs one block, so that a stalled disk is also seen on a node that has nothing to write.
func (s *Store) probe(calls *gauge) {
	calls.enter()
	defer calls.leave()
	began := time.Now()
	if err := probeDisk(s.opts.in(probeFile)); err != nil {
		s.opts.Logger.Warn("disk probe failed", "dir", s.opts.Dir, "error", err)
	} else if s.opts.Hooks.Probe != nil {
		s.opts.Hooks.Probe(time.Since(began))
	}
}

// checkSpace looks at the free space of the disk. Spare segments are given up before writes are refused.
func (s *Store) checkSpace() {
	err := s.space.check()
	if err == nil && s.space.low.Load() && s.wal != nil && s.wal.DropSpares() {
		err = s.space.check()
	}
	if err != nil {
		s.opts.Logger.Warn("free space is not known", "dir", s.opts.Dir, "error", err)
	}
}

// probeDisk overwrites the same block each time, which does not burden the file system's journal.
func probeDisk(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	var block [probeLen]byte
	if _, err := f.WriteAt(block[:], 0); err != nil {
		return err
	}
	return wal.Datasync(f)
}

// scrub reads every entry of the log and checks its sum, with pauses. Damage ends the process as it does for any reader, so
// that it is found while the other nodes still have the entry.
func (s *Store) scrub(ctx context.Context) error {
	first, last, err := s.bounds()
	if err != nil || last == 0 {
		return err
	}
	var l raft.Log
	for i := first; i <= last; i++ {
		if err := s.read(i, &l); errors.Is(err, raft.ErrLogNotFound) {
			continue // deleted since
		} else if err != nil {
			return fmt.Errorf("scrub: %w", err)
		}
		if (i-first)%scrubStep != scrubStep-1 {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(scrubPause):
		}
	}
	return nil
}

// ErrStalled is the reason given to Options.Fatal when a call on the disk does not come back. A leader in that state goes on
// sending heartbeats for ever, so only the end of its process lets the others elect.
var ErrStalled = errors.New("disk stalled")

const (
	watchEvery = 100 * time.Millisecond
	// watchGap is the longest time between two ticks that still counts. A longer one means that this process itself stood still.
	watchGap = 500 * time.Millisecond
	minStall = 2 * time.Second
)

// gauge counts the calls of one kind that are under way and those that have returned.
type gauge struct {
	pending atomic.Int64
	done    atomic.Uint64
}

func (g *gauge) enter() { g.pending.Add(1) }

func (g *gauge) leave() {
	g.done.Add(1)
	g.pending.Add(-1)
}

// watchdog counts, tick by tick, for how long each kind of call has been pending without one coming back. Kinds are counted
// apart: reads that are served from memory must not hide a write that is stuck.
type watchdog struct {
	limit time.Duration
	kinds []*watched
	last  time.Time
}

type watched struct {
	name  string
	calls *gauge
	done  uint64
	stuck time.Duration
}

// stallLimit returns the default of Options.Stall.
func stallLimit(heartbeat time.Duration) time.Duration { return max(minStall, 4*heartbeat) }

func (w *watchdog) add(name string, g *gauge) {
	w.kinds = append(w.kinds, &watched{name: name, calls: g})
}

// tick checks the calls once. Only ticks that were seen count, each for the nominal time between two.
func (w *watchdog) tick(now time.Time) error {
	gap := now.Sub(w.last)
	w.last = now
	for _, k := range w.kinds {
		done := k.calls.done.Load()
		if gap > watchGap || done != k.done || k.calls.pending.Load() == 0 {
			k.done, k.stuck = done, 0
			continue
		}
		if k.stuck += watchEvery; k.stuck >= w.limit {
			return fmt.Errorf("%w: no %s came back for %v; check the disk", ErrStalled, k.name, k.stuck)
		}
	}
	return nil
}
