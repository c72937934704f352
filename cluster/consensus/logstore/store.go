package logstore

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore/wal"
)

const (
	dbFile = "raft.db"
	// logDir is the folder of the log's segments.
	logDir = "log"
	// stableMark holds the number of the database's newest transaction.
	stableMark = "stable.mark"
	// raftLog is the number of raft's log among the logs of the segments.
	raftLog = 0
)

// stable has the methods of the database of stable values that the store calls.
type stable interface {
	raft.StableStore
	Close() error
}

// Store is the raft log and the stable store of one node: the log in segments (package wal), raft's values in raft-boltdb behind
// checks. See the package documentation. All methods may be called at once from any goroutine.
type Store struct {
	opts Options
	path string // of the database
	lock *os.File

	setting sync.Mutex // one stable value at a time
	values  stable
	file    *os.File  // the database's, which stays open: where no file can be opened a term still has to be stored
	mark    *wal.Mark // of the values
	wal     *wal.WAL
	log     *wal.Log
	cache   *cache

	reads, writes gauge // calls under way, for the watchdog
	space         *space
	stopTasks     func() // ends the background work and waits for it

	failed atomic.Pointer[error]
	closed atomic.Bool
}

var (
	_ raft.LogStore          = (*Store)(nil)
	_ raft.StableStore       = (*Store)(nil)
	_ raft.MonotonicLogStore = (*Store)(nil)
)

// Close ends the background work, notes the orderly end on the disk and lets go of the directory. Raft must have been shut
// down. After a failure it notes nothing, so that the next Open treats the end as unclean.
func (s *Store) Close() error {
	if !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	s.cache.forget(0, math.MaxUint64)
	s.stopTasks()
	s.setting.Lock()
	defer s.setting.Unlock()
	err := s.wal.Close(s.failed.Load() == nil)
	if err != nil {
		err = fmt.Errorf("log store: close the log: %w", err)
	}
	return cmp.Or(err, s.mark.Sync(), s.mark.Close(), s.file.Close(), s.values.Close(), s.lock.Close())
}

// usable reports whether calls still go through.
func (s *Store) usable() error {
	if s.closed.Load() {
		return ErrClosed
	}
	if cause := s.failed.Load(); cause != nil {
		return fmt.Errorf("%w: %w", ErrFailed, *cause)
	}
	return nil
}

// judge decides what an error means for the process, and puts it into words. Answers such as "not found" pass as they are: raft
// compares them.
func (s *Store) judge(doing string, err error) error {
	switch severityOf(err) {
	case harmless:
		return err
	case full:
		s.MakeRoom()
		return fmt.Errorf("log store: %s: %w: %w; free space on the disk of %s", doing, ErrNoSpace, err, s.opts.Dir)
	}
	if s.closed.Load() {
		return ErrClosed
	}
	if severityOf(err) == noFiles {
		return fmt.Errorf("log store: %s: %w", doing, err)
	}
	err = fmt.Errorf("log store: %s: %w", doing, told(err))
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

// MakeRoom releases the space that is reserved on the disk, and reports whether there was any.
func (s *Store) MakeRoom() bool {
	spares := s.wal != nil && s.wal.DropSpares()
	return s.space.releaseReserve() || spares
}

// retryWithRoom tries once more after a full disk, with the reserve freed: raft panics when it cannot store its term, and a node
// must be able to shorten its log. Appends do not get this: their error moves leadership elsewhere.
func (s *Store) retryWithRoom(f func() error) error {
	err := f()
	if severityOf(err) == full && s.MakeRoom() {
		return f()
	}
	return err
}

func dbPath(dir string) string { return filepath.Join(dir, dbFile) }
