package logstore

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/hashicorp/raft"
)

const (
	journalFile = "raft.journal"
	// journalHalf is the default size of a half in bytes.
	journalHalf = 8 << 20
	// journalKey holds the epoch up to which everything is in the database.
	journalKey = "logstore-journal"
	// directShare of a half is the largest batch that goes through the journal. A larger
	// one gains nothing from it: its bytes would be written twice.
	directShare = 4
)

// journal is a backend that takes appends into a file of its own, one write and one
// sync each, and moves them into the database later, many to a transaction. A commit
// of the database costs two syncs and several pages for each append, which was a third
// of a follower's processor time and half of the wait of a write.
//
// The file has two halves. One takes appends; when it is full it is sealed, the other
// takes over, and the sealed one is moved and made ready again in the background. An
// entry is in the journal, in the database, or for a moment in both, and then equal.
// Whatever is not a plain append (a batch that does not follow the last entry, a
// deletion that reaches into the journal) first moves everything, so that the rules of
// the database hold there without exception. After an orderly Close the journal holds
// nothing.
//
// StoreLogs, StoreLog and DeleteRange are called one at a time, as Store.mu sees to.
type journal struct {
	under  backend
	f      *os.File
	path   string
	size   int64         // bytes of a half
	failed func(error)   // told of a move that failed in the background
	moves  gauge         // for the watchdog
	writes *gauge        // the store's, likewise
	moved  atomic.Uint64 // entries moved

	mu     sync.RWMutex
	halves [2]half
	active int

	moving sync.Mutex // one mover at a time
	room   []byte     // of the mover, for entries on their way
	buf    []byte     // of the next record
	wake   chan struct{}
	quit   chan struct{}
	wg     sync.WaitGroup
}

// half is one half of the file while the store is open.
type half struct {
	base   int64 // where it begins in the file
	epoch  uint64
	salt   uint64
	end    int64 // where the next record goes
	seq    uint32
	first  uint64 // index of the first entry
	spans  []span // of first and the entries after it
	sealed bool   // to be moved
	empty  bool   // moved; its header is still that of the old epoch
}

// span is where an entry lies in the file.
type span struct {
	at int64
	n  uint32
}

func (h *half) last() uint64 {
	if len(h.spans) == 0 {
		return 0
	}
	return h.first + uint64(len(h.spans)) - 1
}

func (h *half) holds(index uint64) bool {
	return len(h.spans) > 0 && index >= h.first && index <= h.last()
}

// start lets the mover run; stop ends it.
func (j *journal) start() {
	j.wake, j.quit = make(chan struct{}, 1), make(chan struct{})
	j.wg.Go(func() {
		for {
			select {
			case <-j.quit:
				return
			case <-j.wake:
			}
			if err := j.move(); err != nil {
				j.failed(err)
			}
		}
	})
}

func (j *journal) stop() {
	close(j.quit)
	j.wg.Wait()
}

func (j *journal) nudge() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// StoreLog appends one entry; see StoreLogs.
func (j *journal) StoreLog(l *raft.Log) error { return j.StoreLogs([]*raft.Log{l}) }

// StoreLogs appends a batch as one record and returns when it is synced.
func (j *journal) StoreLogs(logs []*raft.Log) error {
	follows, err := j.follows(logs)
	if err != nil {
		return err
	}
	room := recordRoom(logs)
	if !follows || room > j.size/directShare {
		return j.direct(logs)
	}
	if h := &j.halves[j.active]; h.end+room > h.base+j.size {
		if err := j.turn(); err != nil {
			return err
		}
	}
	h := &j.halves[j.active]
	b, spans := appendRecord(j.buf[:0], h, logs)
	if cap(b) <= keepScratch {
		j.buf = b
	}
	if _, err := j.f.WriteAt(b, h.end); err != nil {
		return err
	}
	if err := datasync(j.f); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(h.spans) == 0 {
		h.first = logs[0].Index
	}
	h.spans = append(h.spans, spans...)
	h.end += int64(len(b))
	h.seq++
	return nil
}

// follows says whether a batch is without gaps and goes on where the log ends.
func (j *journal) follows(logs []*raft.Log) (bool, error) {
	for i, l := range logs {
		if l.Index != logs[0].Index+uint64(i) {
			return false, nil
		}
	}
	last, err := j.LastIndex()
	return err == nil && (last == 0 || logs[0].Index == last+1), err
}

// direct appends to the database itself.
func (j *journal) direct(logs []*raft.Log) error {
	if err := j.drain(); err != nil {
		return err
	}
	return j.under.StoreLogs(logs)
}

// turn seals the half in use and goes on in the other one, which may first have to be
// moved.
func (j *journal) turn() error {
	j.mu.RLock()
	busy := j.halves[1-j.active].sealed
	j.mu.RUnlock()
	if busy {
		if err := j.move(); err != nil {
			return err
		}
	}
	j.mu.Lock()
	j.halves[j.active].sealed = true
	j.active = 1 - j.active
	j.mu.Unlock()
	j.nudge()
	return nil
}

// drain moves everything into the database.
func (j *journal) drain() error {
	if len(j.halves[j.active].spans) > 0 {
		if err := j.turn(); err != nil {
			return err
		}
	}
	return j.move()
}

// DeleteRange deletes the entries from..to, both included.
func (j *journal) DeleteRange(from, to uint64) error {
	if first := j.lowest(); first != 0 && to >= first {
		if err := j.drain(); err != nil {
			return err
		}
	}
	return j.under.DeleteRange(from, to)
}

// lowest is the first index in the journal, 0 when it is empty.
func (j *journal) lowest() uint64 {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if h := &j.halves[1-j.active]; len(h.spans) > 0 { // the older one
		return h.first
	}
	return j.halves[j.active].first
}

// FirstIndex is the lowest index of the log, 0 when it is empty. The journal is asked
// before the database, for entries move that way.
func (j *journal) FirstIndex() (uint64, error) {
	here := j.lowest()
	if first, err := j.under.FirstIndex(); err != nil || first != 0 {
		return first, err
	}
	return here, nil
}

// LastIndex is the highest index of the log, 0 when it is empty.
func (j *journal) LastIndex() (uint64, error) {
	j.mu.RLock()
	last := max(j.halves[0].last(), j.halves[1].last())
	j.mu.RUnlock()
	if last != 0 {
		return last, nil
	}
	return j.under.LastIndex()
}

// GetLog reads an entry. The lock is held while it is read, so that the half is not
// made ready for new records meanwhile.
func (j *journal) GetLog(index uint64, out *raft.Log) error {
	j.mu.RLock()
	for i := range j.halves {
		if h := &j.halves[i]; h.holds(index) {
			defer j.mu.RUnlock()
			return j.read(h.spans[index-h.first], out)
		}
	}
	j.mu.RUnlock()
	return j.under.GetLog(index, out)
}

func (j *journal) read(s span, out *raft.Log) error { return j.readInto(make([]byte, s.n), s, out) }

// readInto is read into bytes that the entry will alias.
func (j *journal) readInto(b []byte, s span, out *raft.Log) error {
	if _, err := j.f.ReadAt(b, s.at); err != nil {
		return fmt.Errorf("read %s: %w", j.path, err)
	}
	if _, ok := decodeEntry(b, out); !ok {
		return damaged(j.path, "entry at %d: %w", s.at, ErrChecksum)
	}
	return nil
}

func (j *journal) Set(k, v []byte) error { return j.under.Set(k, v) }

func (j *journal) Get(k []byte) ([]byte, error) { return j.under.Get(k) }

func (j *journal) SetUint64(k []byte, v uint64) error { return j.under.SetUint64(k, v) }

func (j *journal) GetUint64(k []byte) (uint64, error) { return j.under.GetUint64(k) }

// datasync returns the bare errno, as the database does: see isSyncError.
func datasync(f *os.File) error {
	for {
		if err := sysDatasync(f); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
