package wal

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"

	"github.com/hashicorp/raft"
)

const (
	// segmentSize is the default size of a segment in bytes.
	segmentSize = 8 << 20
	// spares is the default number of unused segments that are kept for reuse at least: as much as a log keeps behind a snapshot.
	spares = 32
	// mostSpares is the number that are kept at most, as a multiple of those: where a log is shortened by more at a time, as many as
	// it was shortened by. It needs as many before it is shortened again, and each new one is written twice.
	mostSpares = 8
	// controlRoom is the space in bytes that stays free after the entries of a segment, so that a log can be shortened on a full disk.
	controlRoom = 4 << 10
	// mostRecord bounds a record: places and lengths have 32 bits.
	mostRecord = math.MaxUint32 - headerRoom - controlRoom
)

var (
	// ErrDamaged says that the files hold something else than what was appended.
	ErrDamaged = errors.New("damaged")
	// ErrChecksum is the kind of damage where a checksum does not fit. It always comes together with ErrDamaged.
	ErrChecksum = errors.New("checksum mismatch")
)

// Options say where the segments are. Dir is required.
type Options struct {
	// Dir is the folder of the segments. It is made if it is missing.
	Dir string
	// SegmentSize is the size of a segment in bytes. 0 is the default, segmentSize. A larger record gets a larger segment.
	SegmentSize int64
	// Spares is the number of unused segments that are kept for reuse at least; see mostSpares. 0 is the default, spares; negative
	// keeps none.
	Spares int
	// Wrap comes between a segment and its file, for tests.
	Wrap func(File) File
	// Logger logs what goes wrong in the background; nil logs nothing.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.SegmentSize, o.Spares = cmp.Or(o.SegmentSize, segmentSize), cmp.Or(o.Spares, spares)
	if o.Wrap == nil {
		o.Wrap = func(f File) File { return f }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// WAL keeps the logs of a node in segments. All methods may be called from any goroutine.
type WAL struct {
	opts Options

	writing sync.Mutex // one record at a time; guards what only writers need
	record  record
	spans   []span // of the record
	number  uint64 // of the last record
	sum     uint32 // of it
	mark    *Mark
	oldest  *Mark    // number of the oldest record that is needed
	torn    *segment // where a record was left that could not be written whole, nil: nowhere

	retiring sync.Mutex // segments are dropped in order

	mu       sync.RWMutex // guards what readers need
	segments []*segment   // in order; the last one takes records
	logs     map[uint32]*Log
	spares   []string

	ahead  ahead
	closed bool // the last record says that the files were closed in order
}

// Batch holds entries of one log that are appended together with those of others.
type Batch struct {
	Log     *Log
	Entries []*raft.Log
}

// Log returns the log of a number, an empty one if nothing was appended to it.
func (w *WAL) Log(id uint32) *Log {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logOf(id)
}

func (w *WAL) logOf(id uint32) *Log {
	l := w.logs[id]
	if l == nil {
		l = &Log{w: w, id: id}
		w.logs[id] = l
	}
	return l
}

// segment returns the segment of a number, which has to be there; the lock is held.
func (w *WAL) segment(number uint32) *segment { return w.segments[number-w.segments[0].number] }

// note writes an item that shortens a log, and releases the segments that no log needs any more.
func (w *WAL) note(k kind, l *Log, index uint64) error {
	if err := w.control(k, l, index); err != nil {
		return err
	}
	w.retiring.Lock()
	defer w.retiring.Unlock()
	old := w.needless()
	if len(old) == 0 {
		return nil
	}
	last := uint64(0)
	for _, s := range old {
		last = max(last, s.last)
	}
	if err := w.oldest.Align(max(w.oldest.Number(), last+1)); err != nil {
		return err
	}
	return w.retire(old)
}

func (w *WAL) control(k kind, l *Log, index uint64) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	s, err := w.roomFor(recordHead + itemHead)
	if err != nil {
		return err
	}
	w.record.begin(recordHead+itemHead, s.salt)
	w.record.add(k, l.id, &raft.Log{Index: index})
	return w.write(s, func() {
		switch k {
		case cut:
			l.dropFrom(index)
		case trim:
			l.dropBefore(index)
		}
	})
}

// needless removes from the list the oldest segments that hold no entry of any log, and returns them.
func (w *WAL) needless() []*segment {
	w.mu.Lock()
	defer w.mu.Unlock()
	needed := w.segments[len(w.segments)-1].number
	for _, l := range w.logs { // unordered: the least counts
		if len(l.spans) > 0 {
			needed = min(needed, l.spans[0].segment)
		}
	}
	n := int(needed - w.segments[0].number)
	old := slices.Clone(w.segments[:n])
	w.segments = slices.Clone(w.segments[n:])
	return old
}

// Close notes an orderly end if the caller says so, and closes the files.
func (w *WAL) Close(orderly bool) error {
	w.stopAhead()
	var err error
	if orderly {
		if err = w.control(closed, &Log{}, 0); err == nil {
			err = w.mark.Sync()
		}
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range slices.Concat(w.segments, w.ahead.ready) {
		err = cmp.Or(err, s.f.Close())
	}
	return cmp.Or(err, w.mark.Close(), w.oldest.Close())
}

// Records counts the records that were written since the folder was made.
func (w *WAL) Records() uint64 {
	w.writing.Lock()
	defer w.writing.Unlock()
	return w.number
}

// damageError is damage of a file.
type damageError struct {
	path string
	err  error
}

func damaged(path, format string, args ...any) error {
	return &damageError{path, fmt.Errorf(format, args...)}
}

// Error names the file and what is wrong with it.
func (e *damageError) Error() string { return e.path + ": " + e.err.Error() }

// Unwrap returns what is wrong, and that it is damage.
func (e *damageError) Unwrap() []error { return []error{ErrDamaged, e.err} }
