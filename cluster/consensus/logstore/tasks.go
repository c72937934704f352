package logstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
)

// tasks owns the store's goroutines: watchdog, disk probe, scrub.
type tasks struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func (t *tasks) stop() {
	if t.cancel != nil {
		t.cancel()
		t.wg.Wait()
	}
}

func (s *Store) startTasks() {
	ctx, cancel := context.WithCancel(context.Background())
	s.tasks.cancel = cancel
	dog := &watchdog{limit: cmp.Or(s.opts.Stall, stallLimit(s.opts.Heartbeat)), last: time.Now()}
	dog.add("write", &s.writes)
	dog.add("read", &s.reads)
	probes := &gauge{}
	if s.opts.ProbeEvery > 0 {
		dog.add("disk probe", probes)
		s.every(ctx, s.opts.ProbeEvery, func(time.Time) { s.probe(probes) })
	}
	s.every(ctx, spaceEvery, func(time.Time) { s.checkSpace() })
	if s.opts.ScrubEvery > 0 {
		s.every(ctx, s.opts.ScrubEvery, func(time.Time) { s.scrub(ctx) })
	}
	s.every(ctx, watchEvery, func(now time.Time) {
		if err := dog.tick(now); err != nil {
			s.fail(err)
		}
	})
}

// every runs f on each tick until ctx ends.
func (s *Store) every(ctx context.Context, d time.Duration, f func(now time.Time)) {
	c, stop := s.opts.ticks(d)
	s.tasks.wg.Go(func() {
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

const (
	probeFile = "raft.probe"
	probeLen  = 4096
)

// probe writes and syncs one block, so that a stalled disk is also seen on a
// node that has nothing to write.
func (s *Store) probe(calls *gauge) {
	calls.enter()
	defer calls.leave()
	began := time.Now()
	if err := probeDisk(s.opts.Dir); err != nil {
		s.counts.probeFailures.Add(1)
		s.opts.Logger.Warn("disk probe failed", "dir", s.opts.Dir, "error", err)
	} else {
		took := time.Since(began)
		s.counts.lastProbe.Store(int64(took))
		if s.opts.Hooks.Probe != nil {
			s.opts.Hooks.Probe(took)
		}
	}
}

const spaceEvery = time.Second

func (s *Store) checkSpace() {
	if err := s.space.check(); err != nil {
		s.opts.Logger.Warn("free space is not known", "dir", s.opts.Dir, "error", err)
	}
}

// probeDisk overwrites the same block each time: the disk is tried, the file
// system's journal is not burdened.
func probeDisk(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, probeFile), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	var block [probeLen]byte
	if _, err := f.WriteAt(block[:], 0); err != nil {
		return err
	}
	for {
		if err := sysDatasync(f); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

const (
	scrubStep  = 256
	scrubPause = 5 * time.Millisecond
)

// scrub reads the whole log once and ends the process if an entry is damaged,
// so that a fault is found while the other nodes still have the entry.
func (s *Store) scrub(ctx context.Context) {
	if err := s.Scrub(ctx); err != nil && !errors.Is(err, context.Canceled) {
		s.opts.Logger.Error("scrub of the log", "error", err)
	}
}

// Scrub reads every entry of the log and checks its sum, with pauses. Damage
// ends the process as it does for any reader.
func (s *Store) Scrub(ctx context.Context) error {
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
	s.counts.scrubs.Add(1)
	return nil
}
