package logstore

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore/wal"
)

// Open opens the log store in Options.Dir, or makes an empty one. It reads the whole log and returns only if every value and
// entry is as it was written; otherwise the error matches ErrDamaged (also ErrChecksum where a sum does not fit) or ErrLocked,
// and is one line that says what, where and what to do. It must return before raft starts, since it also makes durable what an
// unclean end may have left in the page cache alone. An error that matches ErrNoSpace means that the disk is full, also without
// the reserve, which is given up then. Open may be called again.
func Open(o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("log store: %w", err)
	}
	s := &Store{cache: newCache(cacheEntries, cacheBytes), opts: o, path: dbPath(o.Dir)}
	if s.lock, err = lockDir(o.Dir, o.LockTimeout); err != nil {
		return nil, err
	}
	s.space = newSpace(o)
	if err := s.open(); err != nil {
		s.abandon()
		if isNoSpace(err) {
			if s.space.releaseReserve() {
				return Open(o)
			}
			return nil, fmt.Errorf("%w: %w; free space on the disk of %s", ErrNoSpace, err, o.Dir)
		}
		return nil, told(err)
	}
	s.checkSpace()
	s.startTasks()
	return s, nil
}

// abandon lets go of everything after a failed open.
func (s *Store) abandon() {
	s.closed.Store(true)
	if s.values != nil {
		s.values.Close()
	}
	s.file.Close() // nil is an error, not a fault
	if s.mark != nil {
		s.mark.Close()
	}
	if s.wal != nil {
		s.wal.Close(false)
	}
	s.lock.Close()
}

func (s *Store) open() error {
	h := horizonOf(s.opts.Snapshots)
	former, err := s.isFormer()
	if err != nil {
		return err
	}
	if former {
		if err := s.checkFormerBeginning(h); err != nil {
			return err
		}
	}
	if err := s.prepareFiles(h, former); err != nil {
		return err
	}
	t, err := readTreeOf(s.path)
	if err != nil {
		return err
	}
	if err := s.upgrade(t, former); err != nil {
		return err
	}
	if t, err = readTreeOf(s.path); err != nil {
		return err
	}
	if s.mark, err = wal.OpenMark(s.opts.in(stableMark)); err != nil {
		return err
	}
	if t.meta.txid < s.mark.Number() {
		return damaged(s.path, "its last transaction is %d, but had been %d", t.meta.txid, s.mark.Number())
	}
	if err := s.openLog(); err != nil {
		return err
	}
	first, last := s.log.Bounds()
	if err := s.checkBeginning(h, first, last, s.log.Read); err != nil {
		return err
	}
	if !s.wal.Orderly() {
		if err := s.retryWithRoom(func() error { return rewriteMeta(s.path, t.meta) }); err != nil {
			return err
		}
	}
	if err := s.connect(); err != nil {
		return err
	}
	if s.file, err = os.Open(s.path); err != nil {
		return fmt.Errorf("log store: %w", err)
	}
	return s.fit(h)
}

func (s *Store) openLog() (err error) {
	return s.retryWithRoom(func() (err error) {
		s.wal, err = wal.Open(wal.Options{Dir: s.opts.in(logDir), SegmentSize: s.opts.SegmentSize, Wrap: s.opts.wrapFile, Logger: s.opts.Logger})
		if err == nil {
			s.log = s.wal.Log(raftLog)
		}
		return err
	})
}

// checkFormerBeginning does what checkBeginning does, for a log in the former format that is about to be upgraded.
func (s *Store) checkFormerBeginning(h horizon) error {
	if database, err := exists(s.path); err != nil || !database {
		return err
	}
	f, err := s.openFormer()
	if err != nil {
		return err
	}
	defer f.database.Close()
	return s.checkBeginning(h, f.first, f.last, f.read)
}

// checkBeginning shows the beginning of the log to Options.CheckEntry.
func (s *Store) checkBeginning(h horizon, first, last uint64, read func(index uint64, l *raft.Log) error) error {
	if s.opts.CheckEntry == nil || h.index != 0 {
		return nil
	}
	for i := first; i <= last && i != 0; i++ {
		var l raft.Log
		if err := read(i, &l); err != nil {
			return err
		}
		if l.Type != raft.LogCommand {
			continue
		}
		if more, err := s.opts.CheckEntry(l.Data); err != nil || !more {
			return err
		}
	}
	return nil
}

// prepareFiles removes what an interrupted start left, and makes the database and the log's folder if this directory never had
// them: the folder first, so that a database without one has lost its log.
func (s *Store) prepareFiles(h horizon, former bool) error {
	for _, name := range []string{newFile, newLogDir, formerMark + ".new"} {
		if err := os.RemoveAll(s.opts.in(name)); err != nil {
			return fmt.Errorf("log store: remove the leftover: %w", err)
		}
	}
	database, err := exists(s.path)
	log, err2 := exists(s.opts.in(logDir, "mark"))
	had, err3 := exists(s.opts.in(stableMark))
	switch err := cmp.Or(err, err2, err3); {
	case err != nil:
		return err
	case database && (log || former):
		return nil
	case database:
		return damaged(s.opts.in(logDir), "the log's files are missing")
	case had:
		return damaged(s.path, "the file is missing, but there is its high-water mark")
	case h.any:
		return damaged(s.path, "the file is missing, but there are snapshots")
	}
	if err := s.openLog(); err != nil {
		return err
	}
	records := s.wal.Records()
	if err := s.wal.Close(records == 0); err != nil {
		return fmt.Errorf("log store: make the log: %w", err)
	}
	s.wal = nil
	if records > 1 { // more than the note of the end above
		return damaged(s.path, "the file is missing, but there is a log of %d records", records)
	}
	if err := s.writeFormerMark(elsewhere, 0); err != nil {
		return err
	}
	return s.makeDatabase(nil)
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("log store: %w", err)
	}
	return true, nil
}

const newFile = dbFile + ".new"

// makeDatabase makes the database under another name and renames it: a file named raft.db is never half made.
func (s *Store) makeDatabase(values map[string][]byte) error {
	if err := s.writeDatabase(values, func(*boltdb.BoltStore) error { return nil }); err != nil {
		return err
	}
	return wal.Rename(s.opts.in(newFile), s.path)
}

// writeDatabase makes a database named newFile, with what fill puts there, the values, and the end key.
func (s *Store) writeDatabase(values map[string][]byte, fill func(*boltdb.BoltStore) error) error {
	b, err := openDatabase(s.opts.in(newFile), boltOptions(s.opts.LockTimeout))
	if err == nil {
		err = fill(b)
		for key, value := range values { // unordered: the database orders them
			err = cmp.Or(err, b.Set([]byte(key), sealValue([]byte(key), value)))
		}
		err = cmp.Or(err, b.Set([]byte(endKey), sealValue([]byte(endKey), nil)), b.Close())
	}
	if err != nil {
		return fmt.Errorf("log store: make %s: %w", s.path, err)
	}
	return nil
}

// connect opens the database proper. It may have to write; if the disk is full, the reserve makes room.
func (s *Store) connect() error {
	err := s.retryWithRoom(func() error {
		b, err := openDatabase(s.path, boltOptions(s.opts.LockTimeout))
		if err == nil {
			s.values = s.opts.wrap(b)
		}
		return err
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, berrors.ErrTimeout):
		return locked(s.opts.Dir)
	case errors.Is(err, ErrDamaged):
		return err
	}
	return fmt.Errorf("log store: open %s: %w", s.path, err)
}

// openDatabase opens the database of a path.
func openDatabase(path string, o *bbolt.Options) (b *boltdb.BoltStore, err error) {
	defer catch(&err, path, debug.SetPanicOnFault(true))
	return boltdb.New(boltdb.Options{Path: path, BoltOptions: o})
}
