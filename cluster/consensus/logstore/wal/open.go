package wal

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// Open reads all segments in Options.Dir, or makes the first. It returns only if everything is as it was appended; otherwise the
// error matches ErrDamaged.
func Open(o Options) (*WAL, error) {
	w := &WAL{opts: o.withDefaults(), logs: map[uint32]*Log{}}
	if err := os.MkdirAll(w.opts.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("wal: %w", err)
	}
	if err := w.open(); err != nil {
		for _, s := range w.segments {
			s.f.Close()
		}
		for _, m := range []*Mark{w.mark, w.oldest} {
			if m != nil {
				m.Close()
			}
		}
		return nil, err
	}
	w.startAhead()
	return w, nil
}

// Orderly reports whether the files were closed in order before they were opened.
func (w *WAL) Orderly() bool { return w.closed }

func (w *WAL) open() (err error) {
	if w.mark, err = OpenMark(filepath.Join(w.opts.Dir, markFile)); err != nil {
		return err
	}
	if w.oldest, err = OpenMark(filepath.Join(w.opts.Dir, oldestFile)); err != nil {
		return err
	}
	numbers, spare, err := files(w.opts.Dir, w.opts.SegmentSize)
	if err != nil {
		return err
	}
	w.spares = spare
	all, err := w.scan(numbers)
	if err != nil {
		return err
	}
	oldest, last := uint64(0), (*found)(nil) // the first record, and the last segment with records
	for _, f := range all {
		w.segments = append(w.segments, f.segment)
		if f.segment.last = f.last.number; f.last.number != 0 {
			oldest, last = cmp.Or(oldest, f.first.number), f
		}
	}
	if err := w.link(all); err != nil {
		return err
	}
	if needed := w.oldest.Number(); oldest > needed && needed > 0 || oldest == 0 && needed > 1 {
		return damaged(w.opts.Dir, "record %d is missing: the oldest one that is there is %d", needed, oldest)
	}
	if w.number < w.mark.number {
		return damaged(w.opts.Dir, "the log ends at record %d, but had reached %d", w.number, w.mark.number)
	}
	if last != nil && !w.closed {
		w.opts.Logger.Info("the last end was not an orderly one; writing the last record again", "record", w.number)
		if err := last.settle(); err != nil {
			return err
		}
	}
	if w.mark.number != w.number {
		if err := w.mark.Align(w.number); err != nil {
			return err
		}
	}
	return w.activate(last)
}

// activate makes the segment that takes the next record the last one in use; those after it are empty.
func (w *WAL) activate(last *found) error {
	if len(w.segments) == 0 {
		s, err := w.makeSegment(1, w.opts.SegmentSize)
		if err != nil {
			return err
		}
		w.segments, w.ahead.made = []*segment{s}, 1
		return w.oldest.Align(1)
	}
	w.ahead.made = w.segments[len(w.segments)-1].number
	at := 0
	if last != nil {
		at = slices.Index(w.segments, last.segment)
	}
	w.ahead.ready = append(w.ahead.ready, w.segments[at+1:]...)
	w.segments = w.segments[: at+1 : at+1]
	return nil
}

// found holds the items of a segment's file.
type found struct {
	segment *segment
	items   []foundItem
	first   head // of the records that follow each other from the beginning; zero if there is none
	last    head
	lastAt  int64
	beyond  uint64 // number of a sound record after a damaged one; 0: none
}

type foundItem struct {
	item
	at int64 // in the file
}

// scan reads segments, several at a time.
func (w *WAL) scan(numbers []uint32) ([]*found, error) {
	all, errs := make([]*found, len(numbers)), make([]error, len(numbers))
	var group sync.WaitGroup
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, n := range numbers {
		group.Go(func() {
			turns <- struct{}{}
			all[i], errs[i] = w.scanSegment(n)
			<-turns
		})
	}
	group.Wait()
	if err := cmp.Or(errs...); err != nil {
		for _, f := range all {
			if f != nil {
				f.segment.f.Close()
			}
		}
		return nil, err
	}
	return all, nil
}

func (w *WAL) scanSegment(number uint32) (*found, error) {
	path := segmentPath(w.opts.Dir, number)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("wal: %w", err)
	}
	salt, err := decodeHeader(b, number)
	if err != nil {
		return nil, damaged(path, "%w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("wal: %w", err)
	}
	s := &segment{number: number, path: path, f: w.opts.Wrap(diskFile{f}), size: int64(len(b)), salt: salt, seed: saltSum(salt), end: headerRoom}
	out := &found{segment: s}
	out.read(b)
	return out, nil
}

// read reads the records up to the first that does not fit. That one may be an append that was cut off, and so was never
// acknowledged. A sound record after it proves damage instead, since each record is synced before the next is begun.
func (f *found) read(b []byte) {
	s := f.segment
	for {
		h, ok := readHead(b[s.end:], s.seed)
		if !ok || h.length > int64(len(b))-s.end-recordHead || f.last.number != 0 && (h.number != f.last.number+1 || h.before != f.last.sum) {
			break
		}
		had, at := len(f.items), s.end+recordHead
		err := readItems(h, b[at:at+h.length], s.seed, func(i item, in int64) { f.items = append(f.items, foundItem{i, at + in}) })
		if err != nil {
			f.items = f.items[:had]
			break
		}
		if f.first.number == 0 {
			f.first = h
		}
		f.last, f.lastAt = h, s.end
		s.end = at + h.length
	}
	var magic [4]byte
	binary.LittleEndian.PutUint32(magic[:], recordMagic)
	for at := s.end; at < int64(len(b)); at++ {
		next := bytes.Index(b[at:], magic[:])
		if next < 0 {
			break
		}
		at += int64(next)
		if h, ok := readHead(b[at:], s.seed); ok && at > s.end && h.number > f.last.number+1 {
			f.beyond = h.number
			break
		}
	}
}

// link joins the contents of the segments, and refuses them if they are not one sequence of records.
func (w *WAL) link(all []*found) error {
	for _, f := range all {
		path := f.segment.path
		if f.beyond != 0 {
			return damaged(path, "record %d: %w (record %d follows)", f.last.number+1, ErrChecksum, f.beyond)
		}
		if f.first.number == 0 {
			continue
		}
		if w.number != 0 && (f.first.number != w.number+1 || f.first.before != w.sum) {
			return damaged(path, "record %d is missing or another one: record %d follows", w.number+1, f.first.number)
		}
		w.number, w.sum = f.last.number, f.last.sum
		for _, i := range f.items {
			if err := w.replay(f.segment, i); err != nil {
				return damaged(path, "%w", err)
			}
		}
	}
	return nil
}

// replay applies an item.
func (w *WAL) replay(s *segment, i foundItem) error {
	l := w.logOf(i.log)
	w.closed = i.kind == closed
	switch i.kind {
	case entry:
		last, term := l.end()
		if err := follows(last, term, i.index, i.term); err != nil {
			return err
		}
		l.add(i.index, i.term, span{s.number, uint32(i.at), uint32(i.length)})
	case cut:
		l.dropFrom(i.index)
	case trim:
		l.dropBefore(i.index)
	case closed:
	default:
		return errors.New("an item of a kind that is not known")
	}
	return nil
}

// settle writes the last record again over itself and syncs it: after a failed sync the page cache may show bytes that the disk
// does not have.
func (f *found) settle() error {
	b := make([]byte, f.segment.end-f.lastAt)
	if _, err := f.segment.f.ReadAt(b, f.lastAt); err != nil {
		return fmt.Errorf("wal: read %s: %w", f.segment.path, err)
	}
	if err := f.segment.f.WriteParts([][]byte{b}, f.lastAt); err != nil {
		return fmt.Errorf("wal: write the last record again: %w", err)
	}
	if err := f.segment.f.Datasync(); err != nil {
		return fmt.Errorf("wal: sync the last record again: %w", err)
	}
	return nil
}
