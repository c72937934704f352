package logstore

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore/wal"
)

// The former format, that of version 0.2.0, had the log in the database, in front of it a journal of the newest appends
// (former_journal.go), and a high-water mark of entries. It is read once, at the first start of this version.
const (
	newLogDir  = logDir + ".new"
	formerMark = "raft.mark"
	// The mark's content: magic, index, term, sum.
	formerMarkMagic = "TRIMARK1"
	formerMarkLen   = 28
	// upgradeChunk bounds the bytes of entries that are copied in one append.
	upgradeChunk = 1 << 20
)

// Keys that only the former format had among the stable values.
const (
	formerCleanKey   = "logstore-clean" // "1" after an orderly end
	formerJournalKey = "logstore-journal"
)

// elsewhere is the high-water mark that stays in the former format's place. A binary of that version would take the directory for
// one of an empty log and vote with it; with this mark it refuses the directory, because the log has less than the mark says.
const elsewhere = math.MaxUint64

// isFormer reports whether the directory is in the former format.
func (s *Store) isFormer() (bool, error) {
	index, _, err := readFormerMark(s.opts.in(formerMark))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && index != elsewhere, err
}

// formerLog is the log of a directory in the former format.
type formerLog struct {
	path        string
	database    *boltdb.BoltStore
	inDatabase  uint64      // the last index there
	journal     []*raft.Log // the later entries
	first, last uint64
}

// openFormer opens the former log and changes nothing.
func (s *Store) openFormer() (*formerLog, error) {
	t, err := readTreeOf(s.path)
	if err != nil {
		return nil, err
	}
	journal, err := s.readFormerJournal(t)
	if err != nil {
		return nil, err
	}
	// What is in the database already comes from a move that was interrupted.
	journal = slices.DeleteFunc(journal, func(l *raft.Log) bool { return l.Index <= t.last })
	f := &formerLog{path: s.path, inDatabase: t.last, journal: journal, first: t.first, last: t.last}
	if n := len(journal); n > 0 {
		if t.last != 0 && journal[0].Index != t.last+1 {
			return nil, damaged(s.path, "the log ends at entry %d, but the journal goes on at %d", t.last, journal[0].Index)
		}
		f.first, f.last = cmp.Or(t.first, journal[0].Index), journal[n-1].Index
	}
	o := boltOptions(s.opts.LockTimeout)
	o.ReadOnly = true
	if f.database, err = openDatabase(s.path, o); err != nil {
		return nil, fmt.Errorf("log store: open %s: %w", s.path, err)
	}
	return f, nil
}

// read reads an entry from first to last.
func (fl *formerLog) read(index uint64, l *raft.Log) error {
	if index > fl.inDatabase {
		*l = *fl.journal[index-fl.journal[0].Index]
	} else if err := fl.database.GetLog(index, l); err != nil {
		return damaged(fl.path, "log entry %d: %w", index, err)
	}
	if !unseal(l) || l.Index != index {
		return damaged(fl.path, "log entry %d: %w", index, ErrChecksum)
	}
	return nil
}

// copyLog copies the entries from first to last, about upgradeChunk bytes at a time.
func copyLog(first, last uint64, read func(index uint64, l *raft.Log) error, write func([]*raft.Log) error) error {
	var chunk []*raft.Log
	bytes := 0
	for i := first; i <= last && i != 0; i++ {
		l := &raft.Log{}
		if err := read(i, l); err != nil {
			return err
		}
		chunk, bytes = append(chunk, l), bytes+sizeOf(l)
		if bytes < upgradeChunk && i < last {
			continue
		}
		if err := write(chunk); err != nil {
			return fmt.Errorf("log store: copy the log: %w", err)
		}
		chunk, bytes = nil, 0
	}
	return nil
}

// upgrade brings a directory of the former format into this one: the log first, under another name until it is whole. With the mark
// the directory is one of this format; then the former entries go. After a crash before the mark all of it is done again, because
// the former version may have gone on meanwhile; after a crash later only the rest is done.
func (s *Store) upgrade(t *tree, former bool) error {
	if former {
		if err := os.RemoveAll(s.opts.in(logDir)); err != nil {
			return fmt.Errorf("log store: upgrade: %w", err)
		}
		if err := s.upgradeLog(); err != nil {
			return err
		}
		if err := s.writeFormerMark(elsewhere, 0); err != nil {
			return err
		}
	}
	left, err := exists(s.opts.in(formerJournal))
	if err != nil {
		return err
	}
	if !left && t.last == 0 && t.conf[formerCleanKey] == nil {
		return nil
	}
	values := maps.Clone(t.conf)
	delete(values, formerCleanKey)
	delete(values, formerJournalKey)
	if err := s.makeDatabase(values); err != nil {
		return err
	}
	for _, name := range []string{formerJournal, formerJournal + ".new", dbFile + ".compact"} {
		if err := os.Remove(s.opts.in(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("log store: upgrade: %w", err)
		}
	}
	return wal.SyncDir(s.opts.Dir)
}

// upgradeLog writes the former log into segments.
func (s *Store) upgradeLog() error {
	markIndex, markTerm, err := readFormerMark(s.opts.in(formerMark))
	if err != nil {
		return err
	}
	f, err := s.openFormer()
	if err != nil {
		return err
	}
	defer f.database.Close()
	if f.last < markIndex {
		return damaged(s.path, "the log ends at entry %d, but had reached %d", f.last, markIndex)
	}
	dir := s.opts.in(newLogDir)
	w, err := wal.Open(wal.Options{Dir: dir, SegmentSize: s.opts.SegmentSize, Logger: s.opts.Logger})
	if err != nil {
		return err
	}
	err = copyLog(f.first, f.last, func(index uint64, l *raft.Log) error {
		err := f.read(index, l)
		if err == nil && index == markIndex && markTerm != 0 && l.Term != markTerm {
			err = damaged(s.path, "log entry %d is of term %d, but had been of term %d", index, l.Term, markTerm)
		}
		return err
	}, w.Log(raftLog).Append)
	if err != nil {
		w.Close(false)
		return err
	}
	if err := w.Close(true); err != nil {
		return fmt.Errorf("log store: upgrade: %w", err)
	}
	s.opts.Logger.Info("the log was upgraded to segments", "first", f.first, "last", f.last)
	return wal.Rename(dir, s.opts.in(logDir))
}

// WriteFormer brings a directory that no process has open into the format of version 0.2.0, so that a node can go back to it while
// the cluster's feature level allows that. It returns the indexes of the first and the last entry. A directory that it could not
// finish is still one of this format.
func WriteFormer(o Options) (from, to uint64, err error) {
	if there, err := exists(dbPath(o.Dir)); !there {
		return 0, 0, cmp.Or(err, fmt.Errorf("log store: %s has no log", o.Dir))
	}
	s, err := Open(o)
	if err != nil {
		return 0, 0, err
	}
	from, to = s.log.Bounds()
	term := s.log.Term(to)
	if err := cmp.Or(s.writeFormerDatabase(from, to), s.Close()); err != nil {
		return 0, 0, err
	}
	if s.lock, err = lockDir(o.Dir, s.opts.LockTimeout); err != nil {
		return 0, 0, err
	}
	defer s.lock.Close()
	return from, to, s.becomeFormer(to, term)
}

// writeFormerDatabase writes the database of the former format, with the log in it, under another name.
func (s *Store) writeFormerDatabase(from, to uint64) error {
	t, err := readTreeOf(s.path)
	if err != nil {
		return err
	}
	t.conf[formerCleanKey] = []byte("1")
	return s.writeDatabase(t.conf, func(b *boltdb.BoltStore) error {
		return copyLog(from, to, func(index uint64, l *raft.Log) error {
			err := s.log.Read(index, l)
			seal(l)
			return err
		}, b.StoreLogs)
	})
}

// becomeFormer puts the database in its place and then the mark, with which the directory is one of the former format.
func (s *Store) becomeFormer(last, term uint64) error {
	if err := os.Remove(s.opts.in(stableMark)); err != nil {
		return fmt.Errorf("log store: downgrade: %w", err)
	}
	if err := wal.Rename(s.opts.in(newFile), s.path); err != nil {
		return err
	}
	if err := s.writeFormerMark(last, term); err != nil {
		return err
	}
	if err := os.RemoveAll(s.opts.in(logDir)); err != nil {
		return fmt.Errorf("log store: downgrade: %w", err)
	}
	return wal.SyncDir(s.opts.Dir)
}

// readFormerMark reads the last index that was known to be in the log, and its term (0: not known).
func readFormerMark(path string) (index, term uint64, err error) {
	b, err := os.ReadFile(path)
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("log store: %w", err)
	case len(b) == 0 || len(b) == formerMarkLen && [formerMarkLen]byte(b) == [formerMarkLen]byte{}:
		return 0, 0, nil // its first write never reached the disk
	case len(b) != formerMarkLen || string(b[:8]) != formerMarkMagic || binary.LittleEndian.Uint32(b[24:]) != crc32.Checksum(b[:24], castagnoli):
		return 0, 0, damaged(path, "high-water mark: %w", ErrChecksum)
	}
	return binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:]), nil
}

// writeFormerMark writes the former format's high-water mark, durably.
func (s *Store) writeFormerMark(index, term uint64) error {
	b := append(make([]byte, 0, formerMarkLen), formerMarkMagic...)
	b = binary.LittleEndian.AppendUint64(b, index)
	b = binary.LittleEndian.AppendUint64(b, term)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	path := s.opts.in(formerMark)
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("log store: high-water mark: %w", err)
	}
	_, err = f.Write(b)
	if err = cmp.Or(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("log store: high-water mark: %w", err)
	}
	return wal.Rename(path+".new", path)
}

// formerSum returns the checksum of an entry in the former format.
func formerSum(l *raft.Log, ext []byte, place uint32) uint32 {
	le := binary.LittleEndian
	h := le.AppendUint64(nil, l.Index)
	h = append(le.AppendUint64(h, l.Term), byte(l.Type))
	h = le.AppendUint64(le.AppendUint64(h, uint64(len(l.Data))), uint64(len(ext)))
	h = le.AppendUint32(le.AppendUint64(h, uint64(l.AppendedAt.Unix())), uint32(l.AppendedAt.Nanosecond()))
	h = le.AppendUint32(h, place)
	return crc32.Update(crc32.Update(crc32.Checksum(h, castagnoli), castagnoli, l.Data), castagnoli, ext)
}

// The end of an entry's extensions in the former format: its place in its batch (4), its sum (4), and a byte that says so.
const (
	formerTail = 9
	formerSeal = 0xC6
)

// unseal checks an entry of the former format and takes off what was kept at the end of its extensions.
func unseal(l *raft.Log) bool {
	n := len(l.Extensions) - formerTail
	if n < 0 || l.Extensions[n+8] != formerSeal {
		return false
	}
	ext, tail := l.Extensions[:n:n], l.Extensions[n:]
	if l.Extensions = ext; n == 0 {
		l.Extensions = nil
	}
	return binary.LittleEndian.Uint32(tail[4:]) == formerSum(l, ext, binary.LittleEndian.Uint32(tail))
}

// seal reverses unseal, for an entry that is a batch of its own.
func seal(l *raft.Log) {
	sum := formerSum(l, l.Extensions, 0)
	b := append(slices.Clone(l.Extensions), 0, 0, 0, 0)
	l.Extensions = append(binary.LittleEndian.AppendUint32(b, sum), formerSeal)
}
