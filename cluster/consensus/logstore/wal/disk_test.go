package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/raft"
)

// watched is a file whose calls a test sees.
type watched struct {
	File
	reads  func()
	closes func()
	syncs  func() error
}

func (w *watched) ReadAt(b []byte, at int64) (int, error) {
	if w.reads != nil {
		w.reads()
	}
	return w.File.ReadAt(b, at)
}

func (w *watched) Close() error {
	if w.closes != nil {
		w.closes()
	}
	return w.File.Close()
}

func (w *watched) Datasync() error {
	if w.syncs != nil {
		if err := w.syncs(); err != nil {
			return err
		}
	}
	return w.File.Datasync()
}

// TestReadsHoldTheSegment: while an entry is read, its segment can't be reused.
func TestReadsHoldTheSegment(t *testing.T) {
	var w *WAL
	seen := 0
	w, err := Open(Options{Dir: t.TempDir(), SegmentSize: small, Wrap: func(f File) File {
		return &watched{File: f, reads: func() {
			if seen++; w.mu.TryLock() {
				w.mu.Unlock()
				t.Error("an entry is read while segments may go")
			}
		}}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, w, true)
	if err := w.Log(0).Append([]*raft.Log{made(0, 1, 1)}); err != nil {
		t.Fatal(err)
	}
	var got raft.Log
	if err := w.Log(0).Read(1, &got); err != nil || seen != 1 {
		t.Errorf("read %d times, %v", seen, err)
	}
}

// TestSegmentsGoInOrder drops several segments at once: the oldest first, and none before the disk says that its records are not needed,
// since a crash may come at any moment.
func TestSegmentsGoInOrder(t *testing.T) {
	dir := t.TempDir()
	var w *WAL
	var dropping bool
	var gone []uint64 // the last record of each
	w, err := Open(Options{Dir: dir, SegmentSize: small, Wrap: func(f File) File {
		return &watched{File: f, closes: func() {
			if !dropping {
				return
			}
			w.mu.RLock()
			defer w.mu.RUnlock()
			last := uint64(len(gone) + 1) // one record in each
			gone = append(gone, last)
			if needed := binary.LittleEndian.Uint64(readFile(t, filepath.Join(dir, oldestFile))[8:]); needed <= last {
				t.Errorf("a segment goes while the disk says that record %d is needed", needed)
			}
			for n := range last - 1 {
				if _, err := os.Stat(segmentPath(dir, uint32(n+1))); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("segment %d is still there (%v) while segment %d goes", n+1, err, last)
				}
			}
			if _, err := os.Stat(segmentPath(dir, uint32(last))); err != nil {
				t.Errorf("segment %d went before its turn: %v", last, err)
			}
		}}
	}})
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, small-headerRoom-controlRoom-recordHead-itemHead)
	for i := range uint64(6) {
		if err := w.Log(0).Append([]*raft.Log{{Index: i + 1, Term: 1, Data: data}}); err != nil {
			t.Fatal(err)
		}
	}
	dropping = true
	if err := w.Log(0).Trim(5); err != nil {
		t.Fatal(err)
	}
	dropping = false
	if !slices.Equal(gone, []uint64{1, 2, 3, 4}) {
		t.Errorf("%v went, want the first four", gone)
	}
	shut(t, w, true)
	w = open(t, dir)
	if first, last := w.Log(0).Bounds(); first != 5 || last != 6 {
		t.Errorf("the log has %d..%d, want 5..6", first, last)
	}
	shut(t, w, true)
}

// TestFailedSync: an entry whose sync failed is not there for readers, and another one takes its place.
func TestFailedSync(t *testing.T) {
	var fail atomic.Bool
	dir := t.TempDir()
	w, err := Open(Options{Dir: dir, SegmentSize: small, Wrap: func(f File) File {
		return &watched{File: f, syncs: func() error {
			if fail.Load() {
				return errFaulty
			}
			return nil
		}}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, w, true)
	l := w.Log(0)
	fail.Store(true)
	if err := l.Append([]*raft.Log{made(0, 1, 1)}); !errors.Is(err, errFaulty) {
		t.Fatalf("%v, want %v", err, errFaulty)
	}
	var got raft.Log
	if first, last := l.Bounds(); first != 0 || last != 0 || l.Read(1, &got) == nil {
		t.Errorf("the log has %d..%d", first, last)
	}
	if n, mark := w.Records(), binary.LittleEndian.Uint64(readFile(t, filepath.Join(dir, markFile))[8:]); n != 0 || mark != 0 {
		t.Errorf("%d records, and a mark at %d, want none", n, mark)
	}
	fail.Store(false)
	if err := l.Append([]*raft.Log{made(0, 7, 2)}); err != nil {
		t.Fatal(err)
	}
	if first, last := l.Bounds(); first != 7 || last != 7 {
		t.Errorf("the log has %d..%d, want the entry that came instead", first, last)
	}
}

// TestRecordOfTwoTries mixes the bytes of two records at one place, as a power cut during the second write may: the head of one with the
// entries of the other is neither.
func TestRecordOfTwoTries(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir)
	l := w.Log(0)
	if err := l.Append([]*raft.Log{made(0, 1, 1)}); err != nil {
		t.Fatal(err)
	}
	s := w.segments[0]
	at := s.end
	image := func(data string) []byte { // of the same record with other data, as a try that failed leaves it
		var r record
		r.begin(1<<10, s.salt)
		r.add(entry, 0, &raft.Log{Index: 2, Term: 1, Data: []byte(data)})
		r.finish(w.number+1, w.sum)
		return bytes.Join(r.parts, nil)
	}
	first, second := image("one"), image("two")
	shut(t, w, false)
	b := readFile(t, s.path)
	for _, c := range []struct {
		head, body []byte
		last       uint64
	}{{first, first, 2}, {second, first, 1}, {first, second, 1}, {second, second, 2}} {
		copy(b[at:], c.head[:recordHead])
		copy(b[at+recordHead:], c.body[recordHead:])
		writeFile(t, s.path, b)
		os.Remove(filepath.Join(dir, markFile)) // it was not raised yet
		w := open(t, dir)
		if _, last := w.Log(0).Bounds(); last != c.last {
			t.Errorf("head %q, entries %q: the log ends at %d, want %d", c.head[recordHead:], c.body[recordHead:], last, c.last)
		}
		for _, f := range append(w.segments, w.ahead.ready...) {
			f.f.Close() // without a note
		}
		w.stopAhead()
	}
}

// TestMisplacedEntry puts one entry over another of the same length: a reader gets neither.
func TestMisplacedEntry(t *testing.T) {
	w := open(t, t.TempDir())
	defer shut(t, w, true)
	l := w.Log(0)
	for i := range uint64(2) {
		if err := l.Append([]*raft.Log{{Index: i + 1, Term: 1, Data: []byte("data")}}); err != nil {
			t.Fatal(err)
		}
	}
	s := w.segments[0]
	b := make([]byte, l.spans[0].length)
	if _, err := s.f.ReadAt(b, int64(l.spans[0].at)); err != nil {
		t.Fatal(err)
	}
	if err := s.f.WriteParts([][]byte{b}, int64(l.spans[1].at)); err != nil {
		t.Fatal(err)
	}
	var got raft.Log
	if err := l.Read(2, &got); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v, want ErrDamaged", err)
	}
}

// TestRoomInSegments appends entries of all sizes: a segment keeps room to shorten the log on a full disk, and every file has all its
// blocks before anything is appended.
func TestRoomInSegments(t *testing.T) {
	w := open(t, t.TempDir())
	defer shut(t, w, true)
	l := w.Log(0)
	r := rand.New(rand.NewPCG(4, 4))
	for i := range uint64(300) {
		size := r.IntN(3000)
		if r.IntN(10) == 0 {
			size = small - headerRoom - r.IntN(controlRoom)
		}
		if err := l.Append([]*raft.Log{{Index: i + 1, Term: 1, Data: make([]byte, size)}}); err != nil {
			t.Fatal(err)
		}
		s := w.segments[len(w.segments)-1]
		if left := s.size - s.end; left < controlRoom {
			t.Fatalf("%d bytes are left of a segment, want %d", left, controlRoom)
		}
		if st, err := os.Stat(s.path); err != nil || st.Size() != s.size {
			t.Fatalf("a segment of %d bytes has a file of %d (%v)", s.size, st.Size(), err)
		}
		if i%20 == 19 {
			if err := l.Trim(i); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestLargestRecord refuses entries whose places 32 bits could not hold: they would be found elsewhere.
func TestLargestRecord(t *testing.T) {
	w := open(t, t.TempDir())
	defer shut(t, w, true)
	var entries []*raft.Log
	data := make([]byte, 1<<30)
	for i := range uint64(5) {
		entries = append(entries, &raft.Log{Index: i + 1, Term: 1, Data: data})
	}
	if err := w.Log(0).Append(entries); !errors.Is(err, errTooLarge) {
		t.Errorf("%v, want %v", err, errTooLarge)
	}
	if first, last := w.Log(0).Bounds(); first != 0 || last != 0 {
		t.Errorf("the log has %d..%d", first, last)
	}
}
