package wal

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	var last *found // with records
	for _, f := range all {
		w.segments = append(w.segments, f.segment)
		if f.segment.last = f.last.number; f.last.number != 0 {
			last = f
		}
	}
	if err := w.link(all); err != nil {
		return err
	}
	if first, needed := firstRecord(all), w.oldest.Number(); first > needed && needed > 0 || first == 0 && needed > 1 {
		return damaged(w.opts.Dir, "record %d is missing: the oldest one that is there is %d", needed, first)
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

// firstRecord returns the number of the oldest record, 0 if there is none.
func firstRecord(all []*found) uint64 {
	for _, f := range all {
		if f.first.number != 0 {
			return f.first.number
		}
	}
	return 0
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
