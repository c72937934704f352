package logstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

const (
	markFile  = "raft.mark"
	markMagic = "TRIMARK1"
	markLen   = 28 // magic, last index, its term, sum
)

// mark is the high-water mark beside the database: the last index known to be
// in the log, and its term (0: not known). Damage to the database's tree can
// hide the log's tail without breaking anything that is left, and only a figure
// kept elsewhere shows that.
//
// It never stands above a sound log: an append writes it after its commit and
// without a sync (so a power cut may leave it lower than the log, which costs
// sharpness and nothing else), a deletion of the tail lowers and syncs it
// first. Guarded by Store.mu once the store is open.
type mark struct {
	f           *os.File
	index, term uint64
	buf         [markLen]byte
	misses      uint64 // writes that failed: the mark on disk is lower
}

// openMark reads the mark, or makes one at 0.
func openMark(dir string) (*mark, error) {
	path := filepath.Join(dir, markFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log store: high-water mark: %w", err)
	}
	m := &mark{f: f}
	if err := m.load(path); err != nil {
		f.Close()
		return nil, err
	}
	return m, nil
}

func (m *mark) load(path string) error {
	var b [markLen]byte
	n, err := m.f.ReadAt(b[:], 0)
	switch {
	case n == 0 && errors.Is(err, io.EOF), n == markLen && b == [markLen]byte{}:
		if err := m.write(0, 0); err != nil { // new, or its first write never reached the disk
			return err
		}
		return m.sync()
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("log store: read %s: %w", path, err)
	}
	if n < markLen || string(b[:8]) != markMagic ||
		binary.LittleEndian.Uint32(b[24:]) != crc32.Checksum(b[:24], castagnoli) {
		return damaged(path, "high-water mark: %w", ErrChecksum)
	}
	m.index, m.term = binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	return nil
}

// raise follows a commit. A failure leaves the mark lower, which is allowed.
func (m *mark) raise(index, term uint64) {
	if index <= m.index && term == m.term {
		return
	}
	if m.write(index, term) != nil {
		m.misses++
	}
}

// lower puts the mark down to index and syncs it. Already lower: nothing to do.
func (m *mark) lower(index uint64) error {
	if index >= m.index {
		return nil
	}
	if err := m.write(index, 0); err != nil {
		return err
	}
	return m.sync()
}

func (m *mark) write(index, term uint64) error {
	b := append(m.buf[:0], markMagic...)
	b = binary.LittleEndian.AppendUint64(b, index)
	b = binary.LittleEndian.AppendUint64(b, term)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := m.f.WriteAt(b, 0); err != nil {
		return fmt.Errorf("high-water mark: %w", err)
	}
	m.index, m.term = index, term
	return nil
}

func (m *mark) sync() error { return m.f.Sync() }

func (m *mark) close() error { return m.f.Close() }
