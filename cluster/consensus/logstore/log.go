package logstore

import (
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/internal/failpoint"
)

// IsMonotonic makes raft empty the log after it installs or restores a snapshot, which also drops a follower's conflicting
// entries (raft issue 697).
func (s *Store) IsMonotonic() bool { return true }

// FirstIndex returns the lowest index in the log, 0 when it is empty.
func (s *Store) FirstIndex() (uint64, error) {
	first, _, err := s.bounds()
	return first, err
}

// LastIndex returns the highest index in the log, 0 when it is empty. Entries of an append that failed are not counted.
func (s *Store) LastIndex() (uint64, error) {
	_, last, err := s.bounds()
	return last, err
}

func (s *Store) bounds() (first, last uint64, err error) {
	if err := s.usable(); err != nil {
		return 0, 0, err
	}
	first, last = s.log.Bounds()
	return first, last, nil
}

// GetLog reads the entry at index into out, from memory if it is one of the newest, or returns raft.ErrLogNotFound. An entry
// that does not fit its checksum is never returned: the error matches ErrChecksum and ErrDamaged, and the process ends.
func (s *Store) GetLog(index uint64, out *raft.Log) error {
	if s.cache.get(index, out) {
		return nil
	}
	return s.read(index, out)
}

// read does what GetLog does, from the disk.
func (s *Store) read(index uint64, out *raft.Log) error {
	if err := s.usable(); err != nil {
		return err
	}
	s.reads.enter()
	defer s.reads.leave()
	return s.judge("read a log entry", s.log.Read(index, out))
}

// StoreLog stores one entry; see StoreLogs.
func (s *Store) StoreLog(l *raft.Log) error { return s.StoreLogs([]*raft.Log{l}) }

// StoreLogs appends a batch and returns when it is synced. After an error the outcome is unknown: the entries may be there after
// a restart. An error that matches ErrNoSpace leaves the store usable; after any other the process ends. The entries are not
// changed, since the cache, the replication and the state machine hold the same ones.
func (s *Store) StoreLogs(logs []*raft.Log) error {
	if len(logs) == 0 {
		return nil
	}
	if err := s.usable(); err != nil {
		return err
	}
	s.writes.enter()
	defer s.writes.leave()
	began := time.Now()
	err := s.log.Append(logs)
	failpoint.Eval(failpoint.AfterFsync)
	if s.opts.Hooks.Append != nil {
		a := Append{Entries: len(logs), Took: time.Since(began), Err: err}
		for _, l := range logs {
			a.Bytes += sizeOf(l)
		}
		s.opts.Hooks.Append(a)
	}
	if err != nil {
		return s.judge("append to the log", err)
	}
	s.cache.put(logs)
	return nil
}

// DeleteRange deletes the entries from..to, both included: the log's beginning, its end, or all of it. It takes one record, however
// many there are. They leave the memory first, so that no reader finds more there than on the disk.
func (s *Store) DeleteRange(from, to uint64) error {
	s.cache.forget(from, to)
	if err := s.usable(); err != nil {
		return err
	}
	s.writes.enter()
	defer s.writes.leave()
	return s.judge("delete log entries", s.retryWithRoom(func() error { return s.deleteRange(from, to) }))
}

func (s *Store) deleteRange(from, to uint64) error {
	begin, last := s.log.Bounds()
	switch {
	case last == 0 || from > last || to < begin:
		return nil
	case from > begin && to < last:
		return errHole
	case to < last:
		return s.log.Trim(to + 1)
	}
	return s.log.Cut(max(from, begin))
}
