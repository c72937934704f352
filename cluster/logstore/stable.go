package logstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
)

// Keys of our own in the stable bucket. All other keys must sort before endKey,
// which stands last in its bucket and so shows that the bucket is whole.
const (
	cleanKey = "logstore-clean" // "1" after an orderly Close, "0" while open
	endKey   = "~end"
)

var errReservedKey = errors.New("key is reserved")

// Set stores a value with the sum of key and value.
func (s *Store) Set(key, value []byte) error {
	if string(key) >= endKey || string(key) == cleanKey || string(key) == journalKey {
		return fmt.Errorf("stable store: %w: %q", errReservedKey, key)
	}
	if err := s.usable(); err != nil {
		return err
	}
	s.writes.enter()
	defer s.writes.leave()
	s.counts.sets.Add(1)
	return s.judge("write a stable value", s.retryWithReserve(func() error { return s.set(key, value) }))
}

func (s *Store) set(key, value []byte) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer catch(&err, s.path, debug.SetPanicOnFault(true))
	return s.inner.Set(key, sealValue(key, value))
}

// Get reads a value; a missing one is raft-boltdb's ErrKeyNotFound, whose text
// raft compares.
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
	stored, err := s.inner.Get(key)
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
