package logstore

import (
	"math"
	"runtime/debug"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/internal/failpoint"
)

// IsMonotonic makes raft empty the log after it installs or restores a
// snapshot, which also drops a follower's conflicting entries (raft issue 697).
func (s *Store) IsMonotonic() bool { return true }

// FirstIndex is the lowest index in the log, 0 when it is empty.
func (s *Store) FirstIndex() (uint64, error) {
	first, _, err := s.bounds()
	return first, err
}

// LastIndex is the highest index in the log, 0 when it is empty. Entries of an
// append that failed are not counted.
func (s *Store) LastIndex() (uint64, error) {
	_, last, err := s.bounds()
	return last, err
}

func (s *Store) bounds() (first, last uint64, err error) {
	if err := s.usable(); err != nil {
		return 0, 0, err
	}
	s.reads.enter()
	defer s.reads.leave()
	first, last, err = s.rawBounds()
	if from := s.suspect.Load(); from != 0 && last >= from {
		last = from - 1
	}
	if first > last {
		first, last = 0, 0
	}
	return first, last, s.judge("read the log's bounds", err)
}

// rawBounds is what the database says, failed appends included.
func (s *Store) rawBounds() (first, last uint64, err error) {
	defer catch(&err, s.path, debug.SetPanicOnFault(true))
	if first, err = s.inner.FirstIndex(); err == nil {
		last, err = s.inner.LastIndex()
	}
	return first, last, err
}

// GetLog reads the entry at index into out, or returns raft.ErrLogNotFound. An
// entry that does not fit its checksum is never returned: the error matches
// ErrChecksum and ErrDamaged, and the process ends.
func (s *Store) GetLog(index uint64, out *raft.Log) error {
	if err := s.usable(); err != nil {
		return err
	}
	if from := s.suspect.Load(); from != 0 && index >= from {
		return raft.ErrLogNotFound
	}
	s.reads.enter()
	defer s.reads.leave()
	l, _, err := s.read(index)
	if err = s.judge("read a log entry", err); err == nil {
		s.counts.reads.Add(1)
		*out = l
	}
	return err
}

// read decodes into a fresh Log, because a decoder may leave fields of a reused
// one as they were.
func (s *Store) read(index uint64) (l raft.Log, pos uint32, err error) {
	defer catch(&err, s.path, debug.SetPanicOnFault(true))
	if err = s.inner.GetLog(index, &l); err != nil {
		return raft.Log{}, 0, err
	}
	pos, ok := unseal(&l)
	if !ok || l.Index != index {
		return raft.Log{}, 0, damaged(s.path, "log entry %d: %w", index, ErrChecksum)
	}
	return l, pos, nil
}

// StoreLog stores one entry; see StoreLogs.
func (s *Store) StoreLog(l *raft.Log) error { return s.StoreLogs([]*raft.Log{l}) }

// StoreLogs appends a batch and returns when it is synced. After an error the
// outcome is unknown: the entries may be there after a restart. An error that
// matches ErrNoSpace leaves the store usable; after any other the process ends.
// The entries are not changed, since the cache, the replication and the state
// machine hold the same ones.
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
	err := s.appendBatch(logs)
	failpoint.Eval(failpoint.AfterFsync)
	s.countAppend(logs, time.Since(began), err)
	return s.judge("append to the log", err)
}

func (s *Store) appendBatch(logs []*raft.Log) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer catch(&err, s.path, debug.SetPanicOnFault(true))
	if err := s.dropSuspects(logs[0].Index); err != nil {
		return err
	}
	defer s.batch.reset()
	if err := s.inner.StoreLogs(s.batch.seal(logs)); err != nil {
		s.suspect.Store(logs[0].Index)
		return err
	}
	last := logs[len(logs)-1]
	s.mark.raise(last.Index, last.Term)
	return nil
}

// dropSuspects deletes what a failed append may have left behind, before the
// next one: a shorter batch over it would leave its rest in the log.
func (s *Store) dropSuspects(next uint64) error {
	from := s.suspect.Load()
	if from == 0 {
		return nil
	}
	from = min(from, next)
	for done := false; !done; {
		var err error
		if done, err = s.deleteSome(from, math.MaxUint64); err != nil {
			return err
		}
	}
	s.suspect.Store(0)
	return nil
}

// batch is the reused memory of one append, guarded by Store.mu.
type batch struct {
	logs []raft.Log
	ptrs []*raft.Log
	ext  []byte
}

const keepScratch = 1 << 20 // bytes of extensions kept for the next batch

// seal copies the entries' structs, never their data, and returns the copies
// extensions with the trailer.
func (b *batch) seal(logs []*raft.Log) []*raft.Log {
	need := 0
	for _, l := range logs {
		need += sealedRoom(l)
	}
	if cap(b.ext) < need {
		b.ext = make([]byte, 0, need)
	}
	if cap(b.logs) < len(logs) {
		b.logs, b.ptrs = make([]raft.Log, len(logs)), make([]*raft.Log, len(logs))
	}
	b.logs, b.ptrs, b.ext = b.logs[:len(logs)], b.ptrs[:len(logs)], b.ext[:0]
	for i, l := range logs {
		at := len(b.ext)
		b.ext = appendSealed(b.ext, l, uint32(i))
		b.logs[i] = *l
		b.logs[i].Extensions = b.ext[at:len(b.ext):len(b.ext)]
		b.ptrs[i] = &b.logs[i]
	}
	return b.ptrs
}

// reset lets go of the callers' data.
func (b *batch) reset() {
	clear(b.logs)
	if cap(b.ext) > keepScratch {
		b.ext = nil
	}
}
