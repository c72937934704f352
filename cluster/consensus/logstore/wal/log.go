package wal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/raft"
)

// Log is one of the logs. All methods may be called from any goroutine.
type Log struct {
	w  *WAL
	id uint32

	// Guarded by WAL.mu.
	first uint64 // index of the first entry
	spans []span // of first and the entries after it
	terms []termRun
}

// span locates an entry.
type span struct {
	segment uint32 // its number
	at      uint32 // in the file
	length  uint32
}

// termRun is the term of the entries from an index on, up to the next run.
type termRun struct{ from, term uint64 }

// last returns the index of the last entry, 0 if there is none; the lock is held.
func (l *Log) last() uint64 {
	if len(l.spans) == 0 {
		return 0
	}
	return l.first + uint64(len(l.spans)) - 1
}

// has reports whether an entry is there; the lock is held.
func (l *Log) has(index uint64) bool {
	return len(l.spans) > 0 && index >= l.first && index <= l.last()
}

// Bounds returns the indexes of the first and the last entry, 0 and 0 of an empty log.
func (l *Log) Bounds() (first, last uint64) {
	l.w.mu.RLock()
	defer l.w.mu.RUnlock()
	if len(l.spans) == 0 {
		return 0, 0
	}
	return l.first, l.last()
}

// Term returns the term of an entry without reading it, 0 if the log does not have it.
func (l *Log) Term(index uint64) uint64 {
	l.w.mu.RLock()
	defer l.w.mu.RUnlock()
	if !l.has(index) {
		return 0
	}
	return l.termAt(index)
}

// termAt returns the term of an entry that is there; the lock is held.
func (l *Log) termAt(index uint64) uint64 {
	i, found := slices.BinarySearchFunc(l.terms, index, func(r termRun, index uint64) int { return cmp.Compare(r.from, index) })
	if !found {
		i--
	}
	return l.terms[i].term
}

// Read reads an entry. The error is raft.ErrLogNotFound if the log does not have it, and matches ErrDamaged if the file holds
// something else than what was appended.
func (l *Log) Read(index uint64, out *raft.Log) error {
	w := l.w
	w.mu.RLock() // until the entry is read, so that its segment is not used again meanwhile
	defer w.mu.RUnlock()
	if !l.has(index) {
		return raft.ErrLogNotFound
	}
	at := l.spans[index-l.first]
	s := w.segment(at.segment)
	b := make([]byte, at.length)
	if _, err := s.f.ReadAt(b, int64(at.at)); err != nil {
		return fmt.Errorf("read %s: %w", s.path, err)
	}
	i, err := readItem(b, s.seed, out)
	if err != nil || i.kind != entry || i.log != l.id || i.index != index || i.length != int64(len(b)) {
		return damaged(s.path, "entry %d at %d: %w", index, at.at, ErrChecksum)
	}
	return nil
}

// Append appends entries and returns when they are synced; see WAL.Append.
func (l *Log) Append(entries []*raft.Log) error { return l.w.Append(Batch{l, entries}) }

// Cut drops the entry at an index and all later ones, durably.
func (l *Log) Cut(from uint64) error { return l.w.note(cut, l, from) }

// Trim drops the entries before an index, durably. The log may be empty then, and goes on at any index.
func (l *Log) Trim(to uint64) error { return l.w.note(trim, l, to) }

// end returns the index and the term of the last entry, 0 and 0 of an empty log; the lock is held.
func (l *Log) end() (last, term uint64) {
	if last = l.last(); last != 0 {
		term = l.termAt(last)
	}
	return last, term
}

var errOrder = errors.New("wal: entries out of order")

// follows refuses an entry that does not follow the last one of a log, at an index of a term.
func follows(last, term, index, newTerm uint64) error {
	switch {
	case index == 0:
		return fmt.Errorf("%w: entry 0 cannot be", errOrder)
	case last != 0 && index != last+1:
		return fmt.Errorf("%w: entry %d follows entry %d", errOrder, index, last)
	case newTerm < term:
		return fmt.Errorf("%w: entry %d of term %d follows one of term %d", errOrder, index, newTerm, term)
	}
	return nil
}

// add takes an entry that was written; the lock is held.
func (l *Log) add(index, term uint64, at span) {
	if len(l.spans) == 0 {
		l.first, l.terms = index, l.terms[:0]
	}
	l.spans = append(l.spans, at)
	if n := len(l.terms); n == 0 || l.terms[n-1].term != term {
		l.terms = append(l.terms, termRun{index, term})
	}
}

// dropFrom drops the entries from an index on; the lock is held.
func (l *Log) dropFrom(index uint64) {
	switch {
	case len(l.spans) == 0 || index > l.last():
		return
	case index <= l.first:
		l.spans, l.terms = l.spans[:0], l.terms[:0]
		return
	}
	l.spans = l.spans[:index-l.first]
	for n := len(l.terms); n > 0 && l.terms[n-1].from >= index; n-- {
		l.terms = l.terms[:n-1]
	}
}

// dropBefore drops the entries before an index; the lock is held.
func (l *Log) dropBefore(index uint64) {
	switch {
	case len(l.spans) == 0 || index <= l.first:
		return
	case index > l.last():
		l.spans, l.terms = nil, nil
		return
	}
	l.spans = slices.Clone(l.spans[index-l.first:])
	l.first = index
	for len(l.terms) > 1 && l.terms[1].from <= index {
		l.terms = l.terms[1:]
	}
}
