package logstore

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
)

const dbFile = "raft.db"

// backend is what the wrapper asks of the store below it.
type backend interface {
	raft.LogStore
	raft.StableStore
	Close() error
	Stats() bbolt.Stats
}

// Store is the raft log and the stable store of one node: raft-boltdb behind
// checks. See the package documentation. All methods may be called at once from
// any goroutine.
type Store struct {
	opts  Options
	path  string
	inner backend
	// journal is inner as well, nil where there is none.
	journal *journal
	lock    *os.File
	cache   *cache

	mu    sync.Mutex // one write at a time; guards batch and mark
	batch batch
	mark  *mark
	// suspect is the first index of an append that failed, 0 if there is none:
	// from there on nothing is served, and the next append deletes it.
	suspect atomic.Uint64

	reads, writes gauge // calls under way, for the watchdog
	counts        counters
	space         *space
	tasks         tasks

	failed atomic.Pointer[error]
	closed atomic.Bool
}

var (
	_ raft.LogStore          = (*Store)(nil)
	_ raft.StableStore       = (*Store)(nil)
	_ raft.MonotonicLogStore = (*Store)(nil)
	_ backend                = (*database)(nil)
)

// LogStore is the store to give raft as its log: this one behind a cache of the
// newest entries, up to cacheEntries and cacheBytes. The cache lies above the checks, so what raft and the
// state machine read from it are the very entries that were appended.
func (s *Store) LogStore() raft.LogStore { return s.cache }

// Close ends the background work, notes the orderly end on the disk and lets go
// of the directory. Raft must have been shut down. After a failure it notes
// nothing, so that the next Open treats the end as unclean.
func (s *Store) Close() error {
	if !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	s.tasks.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.failed.Load() == nil && s.suspect.Load() == 0 {
		err = s.endClean()
	}
	return first(err, s.inner.Close(), s.mark.close(), s.lock.Close())
}

// endClean leaves the journal empty and notes the orderly end.
func (s *Store) endClean() error {
	if s.journal != nil {
		if err := s.journal.drain(); err != nil {
			return fmt.Errorf("log store: move the journal into the database: %w", err)
		}
	}
	return s.noteClean()
}

func (s *Store) noteClean() error {
	if err := s.mark.sync(); err != nil {
		return fmt.Errorf("log store: sync the high-water mark: %w", err)
	}
	if err := s.inner.Set([]byte(cleanKey), sealValue([]byte(cleanKey), []byte("1"))); err != nil {
		return fmt.Errorf("log store: note the orderly end: %w", err)
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// usable says whether calls still go through.
func (s *Store) usable() error {
	if s.closed.Load() {
		return ErrClosed
	}
	if cause := s.failed.Load(); cause != nil {
		return fmt.Errorf("%w: %w", ErrFailed, *cause)
	}
	return nil
}

// judge decides what an error means for the process, and puts it into words.
// Answers such as "not found" pass as they are: raft compares them.
func (s *Store) judge(doing string, err error) error {
	switch severityOf(err) {
	case harmless:
		return err
	case full:
		s.counts.full.Add(1)
		s.space.releaseReserve()
		return fmt.Errorf("log store: %s: %w: %w; free space on the disk of %s", doing, ErrNoSpace, err, s.opts.Dir)
	}
	if s.closed.Load() {
		return ErrClosed
	}
	err = fmt.Errorf("log store: %s: %w", doing, err)
	s.fail(err)
	return err
}

// fail ends the process through Options.Fatal, once.
func (s *Store) fail(err error) {
	if s.failed.CompareAndSwap(nil, &err) {
		s.opts.Logger.Error("the log store has failed; this process must end", "error", err)
		s.opts.Fatal(err)
	}
}

// retryWithReserve tries once more after a full disk, with the reserve freed:
// raft panics when it cannot store its term, and a node must be able to shorten
// its log. Appends do not get this: their error moves leadership elsewhere.
func (s *Store) retryWithReserve(f func() error) error {
	err := f()
	if severityOf(err) == full && s.space.releaseReserve() {
		return f()
	}
	return err
}

func dbPath(dir string) string { return filepath.Join(dir, dbFile) }
