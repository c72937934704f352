package logstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
)

// Open opens the log store in Options.Dir, or makes an empty one. It reads the
// whole log and returns only if every page, entry and value is as it was
// written; otherwise the error matches ErrDamaged (also ErrChecksum where a sum
// does not fit) or ErrLocked, and is one line that says what, where and what to
// do. It must return before raft starts, since it also makes durable what an
// unclean end may have left in the page cache alone.
func Open(o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("log store: %w", err)
	}
	s := &Store{opts: o, path: dbPath(o.Dir)}
	if s.lock, err = lockDir(o.Dir, o.LockTimeout); err != nil {
		return nil, err
	}
	s.space = newSpace(o)
	if err := s.open(); err != nil {
		s.abandon()
		if isNoSpace(err) {
			return nil, fmt.Errorf("%w: %w; free space on the disk of %s", ErrNoSpace, err, o.Dir)
		}
		return nil, err
	}
	s.cache = newCache(s, cacheEntries, cacheBytes)
	s.checkSpace()
	s.startTasks()
	return s, nil
}

// abandon lets go of everything after a failed open.
func (s *Store) abandon() {
	s.closed.Store(true)
	if s.inner != nil {
		s.inner.Close()
	}
	if s.mark != nil {
		s.mark.close()
	}
	s.lock.Close()
}

func (s *Store) open() error {
	var err error
	if s.mark, err = openMark(s.opts.Dir); err != nil {
		return err
	}
	h := horizonOf(s.opts.Snapshots)
	if err := s.prepareFile(h); err != nil {
		return err
	}
	t, waiting, err := s.inspect()
	if err != nil {
		return err
	}
	unclean := string(t.conf[cleanKey]) != "1"
	if unclean {
		if err := s.settleMeta(t.meta); err != nil {
			return err
		}
	}
	if err := s.connect(); err != nil {
		return err
	}
	if t, err = s.replay(waiting, t); err != nil {
		return err
	}
	if err := s.verify(t); err != nil {
		return err
	}
	if err := s.compact(t); err != nil {
		return err
	}
	if err := s.fit(h, t); err != nil {
		return err
	}
	if err := s.settle(unclean); err != nil {
		return err
	}
	giveBack(s.inner) // all of it was read
	return s.layJournal()
}

// prepareFile removes what an interrupted start left, and makes the database
// file if this directory never had one.
func (s *Store) prepareFile(h horizon) error {
	for _, name := range []string{newFile, compactFile, newJournal} {
		if err := os.Remove(filepath.Join(s.opts.Dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("log store: remove the leftover: %w", err)
		}
	}
	_, err := os.Stat(s.path)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("log store: %w", err)
	case s.mark.index > 0:
		return damaged(s.path, "the file is missing, but the log had reached entry %d", s.mark.index)
	case h.any:
		return damaged(s.path, "the file is missing, but there are snapshots")
	}
	return s.create()
}

const newFile = dbFile + ".new"

// create makes the database under another name, with both buckets and the end
// key, and renames it: a file named raft.db is never half made.
func (s *Store) create() error {
	temp := filepath.Join(s.opts.Dir, newFile)
	b, err := boltdb.New(boltdb.Options{Path: temp, BoltOptions: boltOptions(s.opts.LockTimeout)})
	if err != nil {
		return fmt.Errorf("log store: make %s: %w", s.path, err)
	}
	err = first(
		b.Set([]byte(cleanKey), sealValue([]byte(cleanKey), []byte("1"))),
		b.Set([]byte(endKey), sealValue([]byte(endKey), nil)),
		b.Close())
	if err != nil {
		return fmt.Errorf("log store: make %s: %w", s.path, err)
	}
	return replaceFile(temp, s.path)
}

// replaceFile moves a finished, synced file into its place, durably.
func replaceFile(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("log store: %w", err)
	}
	return syncDir(filepath.Dir(to))
}

// inspect reads the database's pages without the database, and what the journal holds
// beside it.
func (s *Store) inspect() (*tree, *leftover, error) {
	t, err := readTreeOf(s.path)
	if err != nil {
		return nil, nil, err
	}
	waiting, err := s.readJournal(t)
	if err != nil {
		return nil, nil, err
	}
	if last := max(t.last, waiting.last()); last < s.mark.index {
		return nil, nil, damaged(s.path, "the log ends at entry %d, but had reached %d", last, s.mark.index)
	}
	return t, waiting, nil
}

func (s *Store) settleMeta(m meta) error {
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("log store: %w", err)
	}
	defer f.Close()
	return rewriteMeta(f, m)
}

// connect opens the database proper. It may have to write; if the disk is full,
// the reserve makes room.
func (s *Store) connect() error {
	open := func() error {
		b, err := openDatabase(s.path, s.opts.LockTimeout)
		if err == nil {
			s.inner = s.opts.wrap(b)
		}
		return err
	}
	err := s.retryWithReserve(open)
	switch {
	case err == nil:
		return nil
	case isTimeout(err):
		return locked(s.opts.Dir)
	case errors.Is(err, ErrDamaged):
		return err
	}
	return fmt.Errorf("log store: open %s: %w", s.path, err)
}

// settle makes durable, before this node votes, what an unclean end may have
// left in the page cache only, and notes that the store is open.
func (s *Store) settle(unclean bool) error {
	if unclean {
		if err := s.storeLastBatch(); err != nil {
			return fmt.Errorf("log store: store the last batch again: %w", err)
		}
	}
	_, last, err := s.rawBounds()
	if err != nil {
		return damaged(s.path, "%w", err)
	}
	if err := s.alignMark(last); err != nil {
		return err
	}
	err = s.retryWithReserve(func() error {
		return s.inner.Set([]byte(cleanKey), sealValue([]byte(cleanKey), []byte("0")))
	})
	if err != nil {
		return fmt.Errorf("log store: note that it is open: %w", err)
	}
	return nil
}

// alignMark brings the mark up to the log, for it may be behind.
func (s *Store) alignMark(last uint64) error {
	if last == 0 {
		return nil
	}
	l, _, err := s.read(last)
	if err != nil {
		return err
	}
	s.mark.raise(last, l.Term)
	if err := s.mark.sync(); err != nil {
		return fmt.Errorf("log store: sync the high-water mark: %w", err)
	}
	return nil
}

const restoreChunk = 32 << 20 // bytes stored again in one transaction

// storeLastBatch appends the newest batch once more over itself. Each entry
// knows its place in its batch, so the newest tells where it began.
func (s *Store) storeLastBatch() error {
	first, last, err := s.rawBounds()
	if err != nil || last == 0 {
		return err
	}
	_, pos, err := s.read(last)
	if err != nil {
		return err
	}
	from := first
	if uint64(pos) < last-first {
		from = last - uint64(pos)
	}
	s.opts.Logger.Info("the last end was not an orderly one; storing the last batch again", "from", from, "to", last)
	for from <= last {
		if from, err = s.storeAgain(from, last); err != nil {
			return err
		}
	}
	return nil
}

// storeAgain rewrites one chunk and returns the index behind it.
func (s *Store) storeAgain(from, last uint64) (next uint64, err error) {
	var logs []*raft.Log
	for size := 0; from <= last && size < restoreChunk; from++ {
		l, _, err := s.read(from)
		if err != nil {
			return 0, err
		}
		size += len(l.Data)
		logs = append(logs, &l)
	}
	err = s.retryWithReserve(func() error { return s.appendBatch(logs) })
	return from, err
}
