package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
)

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
	if err := first(errs...); err != nil {
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
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("wal: %w", err)
	}
	b, err := readAll(f)
	var salt uint64
	if err == nil {
		salt, err = decodeHeader(b, number)
		if err != nil {
			err = damaged(path, "%w", err)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	s := &segment{number: number, path: path, f: w.opts.Wrap(diskFile{f}), size: int64(len(b)), salt: salt, seed: saltSum(salt), end: headerRoom}
	out := &found{segment: s}
	if err := out.read(b); err != nil {
		s.f.Close()
		return nil, damaged(path, "%w", err)
	}
	return out, nil
}

func readAll(f *os.File) ([]byte, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("wal: %w", err)
	}
	b := make([]byte, st.Size())
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, st.Size()), b); err != nil {
		return nil, fmt.Errorf("wal: read %s: %w", f.Name(), err)
	}
	return b, nil
}

// read reads the records up to the first that does not fit. That one may be an append that was cut off, and so was
// never acknowledged. A sound record after it proves damage instead, since each record is synced before the next is
// begun.
func (f *found) read(b []byte) error {
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
	return nil
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
		term := uint64(0)
		if last := l.last(); last != 0 {
			if i.index != last+1 {
				return fmt.Errorf("entry %d follows entry %d", i.index, last)
			}
			term = l.termAt(last)
		}
		if i.index == 0 || i.term < term {
			return fmt.Errorf("entry %d is of term %d, but the one before is of term %d", i.index, i.term, term)
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
