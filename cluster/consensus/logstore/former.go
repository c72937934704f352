package logstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
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
	// upgradeChunk bounds the bytes of entries in a record of the new log.
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
	found, err := exists(filepath.Join(s.opts.Dir, formerMark))
	if !found || err != nil {
		return false, err
	}
	index, _, err := readFormerMark(filepath.Join(s.opts.Dir, formerMark))
	return index != elsewhere, err
}

// upgrade brings a directory of the former format into this one: the log first, under another name until it is whole. With the mark
// the directory is one of this format; then the former entries go. After a crash before the mark all of it is done again, because
// the former version may have gone on meanwhile; after a crash later only the rest is done.
func (s *Store) upgrade(t *tree) error {
	former, err := s.isFormer()
	if err != nil {
		return err
	}
	if former {
		if err := os.RemoveAll(filepath.Join(s.opts.Dir, logDir)); err != nil {
			return fmt.Errorf("log store: upgrade: %w", err)
		}
		if err := s.upgradeLog(t); err != nil {
			return err
		}
		if err := s.writeFormerMark(elsewhere, 0); err != nil {
			return err
		}
	}
	left, err := exists(filepath.Join(s.opts.Dir, formerJournal))
	if err != nil {
		return err
	}
	if !left && t.last == 0 && t.conf[formerCleanKey] == nil {
		return nil
	}
	values := maps.Clone(t.conf)
	for _, key := range []string{formerCleanKey, formerJournalKey, endKey} {
		delete(values, key)
	}
	if err := s.create(values); err != nil {
		return err
	}
	for _, name := range []string{formerJournal, formerJournal + ".new", dbFile + ".compact"} {
		if err := os.Remove(filepath.Join(s.opts.Dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("log store: upgrade: %w", err)
		}
	}
	return syncDir(s.opts.Dir)
}

// upgradeLog writes the former log into segments.
func (s *Store) upgradeLog(t *tree) error {
	markIndex, markTerm, err := readFormerMark(filepath.Join(s.opts.Dir, formerMark))
	if err != nil {
		return err
	}
	waiting, err := s.readFormerJournal(t)
	if err != nil {
		return err
	}
	if last := max(t.last, waiting.last()); last < markIndex {
		return damaged(s.path, "the log ends at entry %d, but had reached %d", last, markIndex)
	}
	b, err := openDatabase(s.path, s.opts)
	if err != nil {
		return fmt.Errorf("log store: open %s: %w", s.path, err)
	}
	defer b.Close()
	dir := filepath.Join(s.opts.Dir, newLogDir)
	w, err := wal.Open(wal.Options{Dir: dir, SegmentSize: s.opts.SegmentSize, Logger: s.opts.Logger})
	if err != nil {
		return err
	}
	c := &formerCopy{to: w.Log(raftLog), path: s.path, markIndex: markIndex, markTerm: markTerm}
	if err := c.all(b, t, waiting); err != nil {
		w.Close(false)
		return err
	}
	if err := w.Close(true); err != nil {
		return fmt.Errorf("log store: upgrade: %w", err)
	}
	s.opts.Logger.Info("the log was upgraded to segments", "first", c.first, "last", c.last)
	return replaceFile(dir, filepath.Join(s.opts.Dir, logDir))
}

// formerCopy copies entries and checks them on the way.
type formerCopy struct {
	to                  *wal.Log
	path                string
	markIndex, markTerm uint64
	first, last         uint64
	chunk               []*raft.Log
	bytes               int
}

// all copies the entries of the database, and the later ones of the journal.
func (c *formerCopy) all(b *boltdb.BoltStore, t *tree, waiting *leftover) error {
	for i := t.first; i <= t.last && i != 0; i++ {
		l := &raft.Log{}
		if err := b.GetLog(i, l); err != nil {
			return damaged(c.path, "log entry %d: %w", i, err)
		}
		if err := c.take(i, l); err != nil {
			return err
		}
	}
	if waiting != nil {
		for _, l := range waiting.logs {
			if l.Index <= t.last { // there already: a move was interrupted
				continue
			}
			if c.last != 0 && l.Index != c.last+1 {
				return damaged(c.path, "the log ends at entry %d, but the journal goes on at %d", c.last, l.Index)
			}
			if err := c.take(l.Index, l); err != nil {
				return err
			}
		}
	}
	return c.flush()
}

func (c *formerCopy) take(index uint64, l *raft.Log) error {
	if ok := unseal(l); !ok || l.Index != index {
		return damaged(c.path, "log entry %d: %w", index, ErrChecksum)
	}
	if index == c.markIndex && c.markTerm != 0 && l.Term != c.markTerm {
		return damaged(c.path, "log entry %d is of term %d, but had been of term %d", index, l.Term, c.markTerm)
	}
	if c.first == 0 {
		c.first = index
	}
	c.last = index
	c.chunk, c.bytes = append(c.chunk, l), c.bytes+len(l.Data)+len(l.Extensions)
	if c.bytes < upgradeChunk {
		return nil
	}
	return c.flush()
}

func (c *formerCopy) flush() error {
	if len(c.chunk) == 0 {
		return nil
	}
	err := c.to.Append(c.chunk)
	c.chunk, c.bytes = nil, 0
	if err != nil {
		return fmt.Errorf("log store: upgrade: %w", err)
	}
	return nil
}

// readFormerMark reads the last index that was known to be in the log, and its term (0: not known).
func readFormerMark(path string) (index, term uint64, err error) {
	b, err := os.ReadFile(path)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
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
	path := filepath.Join(s.opts.Dir, formerMark)
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("log store: high-water mark: %w", err)
	}
	_, err = f.Write(b)
	if err = first(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("log store: high-water mark: %w", err)
	}
	return replaceFile(path+".new", path)
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
