package logstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
)

// endKey is a key of our own in the stable bucket. All other keys must sort before it:
// it stands last in its bucket and so shows that the bucket is whole.
const endKey = "~end"

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
	s.counts.sets.Add(1)
	return s.judge("write a stable value", s.retryWithRoom(func() error { return s.set(key, value) }))
}

func (s *Store) set(key, value []byte) (err error) {
	s.setting.Lock()
	defer s.setting.Unlock()
	defer catch(&err, s.path, debug.SetPanicOnFault(true))
	if err := s.values.Set(key, sealValue(key, value)); err != nil {
		return err
	}
	return s.raiseMark()
}

// raiseMark notes the transaction that the database has come to.
func (s *Store) raiseMark() error {
	m, err := readMeta(s.file, fileSize(s.path), s.path)
	if err == nil {
		s.mark.Raise(m.txid)
	}
	return err
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
