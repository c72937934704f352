package wal

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

const (
	markFile   = "mark"   // the last record
	oldestFile = "oldest" // the oldest record that is needed
	markMagic  = "TRIMARK2"
	markLen    = 20 // magic, number, sum
)

// Mark is a high-water mark of other files: a number that they have reached, such as the number of the last record. Without it files
// whose newest part is missing look complete.
//
// It is never higher than the number that sound files have reached: it is written after their sync, and without one of
// its own. A power cut may leave it lower; then it only detects less.
type Mark struct {
	f      *os.File
	number uint64
	buf    [markLen]byte
}

// OpenMark reads the mark of a path, or makes one at 0.
func OpenMark(path string) (*Mark, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("wal: high-water mark: %w", err)
	}
	m := &Mark{f: f}
	if err := m.load(path); err != nil {
		f.Close()
		return nil, err
	}
	return m, nil
}

func (m *Mark) load(path string) error {
	var b [markLen]byte
	n, err := m.f.ReadAt(b[:], 0)
	switch {
	case n == 0 && errors.Is(err, io.EOF), n == markLen && b == [markLen]byte{}:
		return m.Align(0) // new, or its first write never reached the disk
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("wal: read %s: %w", path, err)
	}
	if n < markLen || string(b[:8]) != markMagic || binary.LittleEndian.Uint32(b[16:]) != crc32.Checksum(b[:16], castagnoli) {
		return damaged(path, "high-water mark: %w", ErrChecksum)
	}
	m.number = binary.LittleEndian.Uint64(b[8:])
	return nil
}

// Number returns the mark's number.
func (m *Mark) Number() uint64 { return m.number }

// Raise raises the mark to a number that was synced. A failure leaves the mark lower, which is allowed.
func (m *Mark) Raise(number uint64) {
	if m.write(number) == nil {
		m.number = number
	}
}

// Align writes the mark durably.
func (m *Mark) Align(number uint64) error {
	if err := cmp.Or(m.write(number), m.Sync()); err != nil {
		return fmt.Errorf("wal: high-water mark: %w", err)
	}
	m.number = number
	return nil
}

func (m *Mark) write(number uint64) error {
	b := append(m.buf[:0], markMagic...)
	b = binary.LittleEndian.AppendUint64(b, number)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	_, err := m.f.WriteAt(b, 0)
	return err
}

// Sync makes the mark durable.
func (m *Mark) Sync() error { return m.f.Sync() }

// Close lets go of the file.
func (m *Mark) Close() error { return m.f.Close() }
