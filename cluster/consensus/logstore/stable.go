package logstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime/debug"
)

const (
	// endKey is a key of our own in the stable bucket. All other keys must sort before it: it stands last in its bucket and so
	// shows that the bucket is whole.
	endKey = "~end"
	// What is kept at the end of a value: sum (4), mark.
	valueMark = 0xC7
	valueTail = 5
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errReservedKey = errors.New("key is reserved")

// Set stores a value with the sum of key and value.
func (s *Store) Set(key, value []byte) error {
	if string(key) >= endKey {
		return fmt.Errorf("stable store: %w: %q", errReservedKey, key)
	}
	if err := s.usable(); err != nil {
		return err
	}
	s.writes.enter()
	defer s.writes.leave()
	return s.judge("write a stable value", s.retryWithRoom(func() error { return s.set(key, value) }))
}

func (s *Store) set(key, value []byte) (err error) {
	s.setting.Lock()
	defer s.setting.Unlock()
	defer catch(&err, s.path, debug.SetPanicOnFault(true))
	if err := s.values.Set(key, sealValue(key, value)); err != nil {
		return err
	}
	st, err := s.file.Stat()
	if err != nil {
		return err
	}
	m, err := readMeta(s.file, st.Size(), s.path)
	if err == nil {
		s.mark.Raise(m.txid)
	}
	return err
}

// Get reads a value; a missing one is raft-boltdb's ErrKeyNotFound, whose text raft compares.
func (s *Store) Get(key []byte) ([]byte, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	s.reads.enter()
	defer s.reads.leave()
	v, err := s.get(key)
	return v, s.judge("read a stable value", err)
}

func (s *Store) get(key []byte) (v []byte, err error) {
	defer catch(&err, s.path, debug.SetPanicOnFault(true))
	stored, err := s.values.Get(key)
	if err != nil {
		return nil, err
	}
	v, ok := openValue(key, stored)
	if !ok {
		return nil, damaged(s.path, "stable value %q: %w", key, ErrChecksum)
	}
	return v, nil
}

// SetUint64 stores eight bytes, big-endian.
func (s *Store) SetUint64(key []byte, value uint64) error {
	return s.Set(key, binary.BigEndian.AppendUint64(nil, value))
}

// GetUint64 reads what SetUint64 stored.
func (s *Store) GetUint64(key []byte) (uint64, error) {
	v, err := s.Get(key)
	if err != nil {
		return 0, err
	}
	if len(v) != 8 {
		return 0, fmt.Errorf("stable value %q has %d bytes, not 8", key, len(v))
	}
	return binary.BigEndian.Uint64(v), nil
}

// valueSum returns the checksum of a key's length, the key and its value.
func valueSum(key, value []byte) uint32 {
	b := append(binary.LittleEndian.AppendUint64(nil, uint64(len(key))), key...)
	return crc32.Update(crc32.Checksum(b, castagnoli), castagnoli, value)
}

// sealValue returns the bytes to store for a stable value: the value, then the sum of key and value.
func sealValue(key, value []byte) []byte {
	b := binary.LittleEndian.AppendUint32(bytes.Clone(value), valueSum(key, value))
	return append(b, valueMark)
}

// openValue checks a stored value and returns the caller's part of it.
func openValue(key, stored []byte) ([]byte, bool) {
	n := len(stored) - valueTail
	if n < 0 || stored[n+4] != valueMark {
		return nil, false
	}
	v := stored[:n:n]
	return v, binary.LittleEndian.Uint32(stored[n:]) == valueSum(key, v)
}
