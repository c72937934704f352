package wal

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	segmentSuffix = ".seg"
	spareSuffix   = ".spare" // of segments that wait to be used again
	newSuffix     = ".new"   // of files that are being made
)

// segment is one file of records.
type segment struct {
	number uint32
	path   string
	f      File
	size   int64
	salt   uint64
	seed   uint32 // of its sums
	end    int64  // where the next record goes
	last   uint64 // number of its last record, 0: none; guarded by WAL.mu
}

func segmentPath(dir string, number uint32) string {
	return filepath.Join(dir, fmt.Sprintf("%010d%s", number, segmentSuffix))
}

// encodeHeader returns a segment's first block.
func encodeHeader(number uint32, salt uint64) []byte {
	b := append(make([]byte, 0, headerRoom), headerMagic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(number))
	b = binary.LittleEndian.AppendUint64(b, salt)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return b[:headerRoom]
}

// decodeHeader reads a segment's salt.
func decodeHeader(b []byte, number uint32) (salt uint64, err error) {
	le := binary.LittleEndian
	switch {
	case len(b) < headerRoom || string(b[:8]) != headerMagic || le.Uint32(b[24:]) != crc32.Checksum(b[:24], castagnoli):
		return 0, fmt.Errorf("header: %w", ErrChecksum)
	case le.Uint64(b[8:]) != uint64(number):
		return 0, fmt.Errorf("it says that it is segment %d", le.Uint64(b[8:]))
	}
	return le.Uint64(b[16:]), nil
}

// makeSegment makes an empty segment of a size: from a spare file of that size, which needs no new blocks, or from a new file with all
// its blocks. Either way an append takes no room on the disk, and its sync never writes the file's own description.
func (w *WAL) makeSegment(number uint32, size int64) (*segment, error) {
	from := w.takeSpare(size)
	temp := from
	if from == "" {
		temp = filepath.Join(w.opts.Dir, strconv.FormatUint(uint64(number), 10)+newSuffix)
	}
	var salt [8]byte
	rand.Read(salt[:])
	s := &segment{number: number, path: segmentPath(w.opts.Dir, number), size: size, salt: binary.LittleEndian.Uint64(salt[:]), end: headerRoom}
	s.seed = saltSum(s.salt)
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("wal: make a segment: %w", err)
	}
	s.f = w.opts.Wrap(diskFile{f})
	if from == "" {
		err = fill(s.f, size)
	}
	if err = cmp.Or(err, s.f.WriteParts([][]byte{encodeHeader(number, s.salt)}, 0), s.f.Datasync()); err == nil {
		err = Rename(temp, s.path)
	}
	if err != nil {
		s.f.Close()
		os.Remove(temp)
		return nil, fmt.Errorf("wal: make a segment: %w", err)
	}
	return s, nil
}

// fillStep is the number of bytes of a new file that are written between two syncs. So few bytes wait for the disk, and
// an append to another segment does not wait for them.
const fillStep = 1 << 20

func fill(f File, size int64) error {
	zero := make([]byte, fillStep)
	for at := int64(0); at < size; at += fillStep {
		if err := f.WriteParts([][]byte{zero[:min(size-at, fillStep)]}, at); err != nil {
			return err
		}
		if err := f.Datasync(); err != nil {
			return err
		}
	}
	return nil
}

// takeSpare returns the path of a spare file of a size, "" if there is none.
func (w *WAL) takeSpare(size int64) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if size != w.opts.SegmentSize || len(w.spares) == 0 {
		return ""
	}
	path := w.spares[len(w.spares)-1]
	w.spares = w.spares[:len(w.spares)-1]
	return path
}

// retire closes segments that no log needs, the oldest first. Some stay as spare files: as many as were needed since the log was
// shortened last. The folder is synced after each, so that a crash leaves no gap.
func (w *WAL) retire(segments []*segment) error {
	most := max(w.opts.Spares, min(len(segments), mostSpares*w.opts.Spares))
	for _, s := range segments {
		s.f.Close()
		spare := strings.TrimSuffix(s.path, segmentSuffix) + spareSuffix
		w.mu.Lock()
		keep := s.size == w.opts.SegmentSize && len(w.spares) < most
		w.mu.Unlock()
		var err error
		if keep {
			err = Rename(s.path, spare)
		} else {
			err = cmp.Or(os.Remove(s.path), SyncDir(w.opts.Dir))
		}
		if err != nil {
			return fmt.Errorf("wal: drop a segment: %w", err)
		}
		if keep {
			w.mu.Lock()
			w.spares = append(w.spares, spare)
			w.mu.Unlock()
		}
	}
	w.mu.Lock()
	extra := w.spares[:max(0, len(w.spares)-most)]
	w.spares = w.spares[len(extra):]
	w.mu.Unlock()
	for _, path := range extra {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("wal: drop a spare file: %w", err)
		}
	}
	return nil
}

// DropSpares deletes the files that wait to be used again, and reports whether there were any: it makes room on a full disk.
func (w *WAL) DropSpares() bool {
	w.mu.Lock()
	spares := w.spares
	w.spares = nil
	w.mu.Unlock()
	for _, path := range spares {
		os.Remove(path)
	}
	return len(spares) > 0
}

// files lists the segments of a folder in order, and its spare files. Files that were not finished are removed.
func files(dir string, size int64) (numbers []uint32, spares []string, err error) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("wal: %w", err)
	}
	for _, e := range all {
		path := filepath.Join(dir, e.Name())
		switch filepath.Ext(e.Name()) {
		case newSuffix:
			if err := os.Remove(path); err != nil {
				return nil, nil, fmt.Errorf("wal: remove what was not finished: %w", err)
			}
		case spareSuffix:
			if st, err := e.Info(); err == nil && st.Size() == size {
				spares = append(spares, path)
			} else {
				os.Remove(path)
			}
		case segmentSuffix:
			n, err := strconv.ParseUint(strings.TrimSuffix(e.Name(), segmentSuffix), 10, 32)
			if err != nil {
				return nil, nil, damaged(path, "the name is not one of a segment")
			}
			numbers = append(numbers, uint32(n))
		}
	}
	slices.Sort(numbers)
	for i, n := range numbers {
		if i > 0 && n != numbers[i-1]+1 {
			return nil, nil, damaged(segmentPath(dir, numbers[i-1]+1), "the file is missing")
		}
	}
	return numbers, spares, nil
}

// ahead makes the next segment before it is needed, since making one takes many writes.
type ahead struct {
	mu     sync.Mutex // held while a segment is made
	ready  []*segment // empty, in order
	made   uint32     // number of the newest segment
	failed time.Time  // when making one failed last

	wake, quit chan struct{}
	wg         sync.WaitGroup
}

// failedPause is the pause between two tries to make a segment ahead of time on a disk without room.
const failedPause = time.Second

func (w *WAL) startAhead() {
	a := &w.ahead
	a.wake, a.quit = make(chan struct{}, 1), make(chan struct{})
	a.wg.Go(func() {
		for {
			select {
			case <-a.quit:
				return
			case <-a.wake:
			}
			if err := w.makeAhead(); err != nil { // an append that needs it meets the error
				w.opts.Logger.Warn("the next segment of the log could not be made yet", "error", err)
			}
		}
	})
}

func (w *WAL) stopAhead() {
	close(w.ahead.quit)
	w.ahead.wg.Wait()
}

func (w *WAL) wakeAhead() {
	select {
	case w.ahead.wake <- struct{}{}:
	default:
	}
}

func (w *WAL) makeAhead() error {
	a := &w.ahead
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.ready) > 0 || time.Since(a.failed) < failedPause {
		return nil
	}
	s, err := w.makeSegment(a.made+1, w.opts.SegmentSize)
	if err != nil {
		a.failed = time.Now()
		return err
	}
	a.made++
	a.ready = append(a.ready, s)
	return nil
}

// nextSegment returns the segments up to one that has room for n bytes after its header. Those before it stay empty.
func (w *WAL) nextSegment(n int64) (all []*segment, err error) {
	a := &w.ahead
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.ready) > 0 {
		s := a.ready[0]
		all, a.ready = append(all, s), a.ready[1:]
		if s.end+n <= s.size {
			return all, nil
		}
	}
	s, err := w.makeSegment(a.made+1, max(w.opts.SegmentSize, headerRoom+n))
	if err != nil {
		a.ready = all // for the next try
		return nil, err
	}
	a.made++
	return append(all, s), nil
}
