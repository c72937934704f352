package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

const small = 32 << 10 // size of segments

func open(t testing.TB, dir string) *WAL {
	t.Helper()
	w, err := Open(Options{Dir: dir, SegmentSize: small, Spares: 3})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func shut(t testing.TB, w *WAL, orderly bool) {
	t.Helper()
	if err := w.Close(orderly); err != nil {
		t.Fatal(err)
	}
}

// made returns an entry whose content follows from its log, index and term.
func made(log uint32, index, term uint64) *raft.Log {
	r := rand.New(rand.NewPCG(uint64(log)<<32+index, term))
	n := r.IntN(300)
	if r.IntN(40) == 0 {
		n = copiedData + r.IntN(3*small) // from where it is, and larger than a segment
	}
	l := &raft.Log{Index: index, Term: term, Type: raft.LogType(r.IntN(3)), AppendedAt: time.Unix(r.Int64N(1<<33), r.Int64N(1e9)).UTC()}
	for range n {
		l.Data = append(l.Data, byte(r.Uint32()))
	}
	if r.IntN(3) == 0 {
		l.Extensions = []byte("extension")
	}
	return l
}

// model is the expected content of the logs: the terms of the entries from first on.
type model map[uint32]*struct {
	first uint64
	terms []uint64
}

func (m model) check(t testing.TB, w *WAL) {
	t.Helper()
	for id, want := range m {
		l := w.Log(id)
		first, last := l.Bounds()
		if n := uint64(len(want.terms)); n == 0 && (first != 0 || last != 0) || n > 0 && (first != want.first || last != want.first+n-1) {
			t.Fatalf("log %d has %d..%d, want %d entries from %d", id, first, last, n, want.first)
		}
		for i, term := range want.terms {
			index := want.first + uint64(i)
			var got raft.Log
			if err := l.Read(index, &got); err != nil {
				t.Fatalf("log %d: %v", id, err)
			}
			wanted := made(id, index, term)
			if got.Index != index || got.Term != term || got.Type != wanted.Type || !got.AppendedAt.Equal(wanted.AppendedAt) ||
				!bytes.Equal(got.Data, wanted.Data) || !bytes.Equal(got.Extensions, wanted.Extensions) || l.Term(index) != term {
				t.Fatalf("log %d: entry %d is another one", id, index)
			}
		}
		var l2 raft.Log
		for _, index := range []uint64{0, want.first - 1, want.first + uint64(len(want.terms))} {
			if err := l.Read(index, &l2); !errors.Is(err, raft.ErrLogNotFound) || l.Term(index) != 0 {
				t.Fatalf("log %d: entry %d: %v, want that it is not found", id, index, err)
			}
		}
	}
}

// step does something at random to the logs and to the model.
func (m model) step(t testing.TB, w *WAL, r *rand.Rand, term uint64) {
	t.Helper()
	var batches []Batch
	var after []func()
	for id, l := range m {
		n := uint64(len(l.terms))
		switch what := r.IntN(12); {
		case what == 0 && n > 1:
			from := l.first + r.Uint64N(n)
			if err := w.Log(id).Cut(from); err != nil {
				t.Fatal(err)
			}
			l.terms = l.terms[:from-l.first]
		case what == 1 && n > 1:
			to := l.first + r.Uint64N(n+1)
			if err := w.Log(id).Trim(to); err != nil {
				t.Fatal(err)
			}
			l.terms = l.terms[to-l.first:]
			l.first = to
		case what > 4:
			next := l.first + n
			if n == 0 {
				next += r.Uint64N(5)
			}
			var entries []*raft.Log
			for i := range 1 + r.Uint64N(8) {
				entries = append(entries, made(id, next+i, term))
			}
			batches = append(batches, Batch{w.Log(id), entries})
			after = append(after, func() {
				if n == 0 {
					l.first = next
				}
				for range entries {
					l.terms = append(l.terms, term)
				}
			})
		}
	}
	if len(batches) == 0 {
		return
	}
	if err := w.Append(batches...); err != nil {
		t.Fatal(err)
	}
	for _, done := range after {
		done()
	}
}

func newModel(logs int) model {
	m := model{}
	for id := range uint32(logs) {
		m[id] = &struct {
			first uint64
			terms []uint64
		}{first: 1}
	}
	return m
}

// TestLogsAreTheModel appends, cuts, trims and starts again at random, and compares the logs with a model.
func TestLogsAreTheModel(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		dir, m := t.TempDir(), newModel(1+int(seed%3))
		w := open(t, dir)
		for i := range 250 {
			m.step(t, w, r, uint64(1+i/40))
			if r.IntN(25) == 0 {
				m.check(t, w)
				shut(t, w, r.IntN(2) == 0)
				w = open(t, dir)
				m.check(t, w)
			}
		}
		m.check(t, w)
		shut(t, w, true)
	}
}

// filled returns a folder with logs, closed as after a crash, and the file and place of its last record.
func filled(t *testing.T) (dir string, m model, path string, at, end int64) {
	t.Helper()
	dir, m = t.TempDir(), newModel(2)
	w := open(t, dir)
	r := rand.New(rand.NewPCG(7, 7))
	for range 60 {
		m.step(t, w, r, 1)
	}
	s := w.segments[len(w.segments)-1]
	at = s.end
	if err := w.Append(Batch{w.Log(9), []*raft.Log{{Index: 5, Term: 1, Data: bytes.Repeat([]byte("last"), 700)}}}); err != nil {
		t.Fatal(err)
	}
	if last := w.segments[len(w.segments)-1]; last != s {
		s, at = last, headerRoom
	}
	shut(t, w, false)
	return dir, m, s.path, at, s.end
}

// TestCutOffRecord leaves of the last record each number of sectors, old or new in any mixture that a power cut may leave: it is gone, or
// whole, and the logs go on.
func TestCutOffRecord(t *testing.T) {
	dir, m, path, at, end := filled(t)
	whole := readFile(t, path)
	marks := readFile(t, filepath.Join(dir, markFile))
	before := binary.LittleEndian.Uint64(marks[8:]) - 1
	r := rand.New(rand.NewPCG(3, 3))
	for range 60 {
		torn := bytes.Clone(whole)
		kept := true
		for sector := at / 512 * 512; sector < end; sector += 512 {
			if from := max(sector, at); r.IntN(2) == 0 {
				clear(torn[from:min(sector+512, end)])
				kept = false
			}
		}
		writeFile(t, path, torn)
		os.Remove(filepath.Join(dir, markFile)) // it was written after the record
		w := open(t, dir)
		if w.number < before {
			t.Fatalf("the log ends at record %d, want %d", w.number, before)
		}
		m.check(t, w)
		if first, _ := w.Log(9).Bounds(); (first == 5) != kept {
			t.Fatalf("the log of the last record begins at %d", first)
		}
		if kept {
			shut(t, w, false)
			continue
		}
		if err := w.Log(9).Append([]*raft.Log{made(9, 1, 1)}); err != nil {
			t.Fatal(err)
		}
		shut(t, w, false)
		w = open(t, dir)
		if _, last := w.Log(9).Bounds(); last != 1 {
			t.Fatalf("an entry appended behind a record that was cut off is gone: the log ends at %d", last)
		}
		m.check(t, w)
		shut(t, w, false)
	}
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFlippedBits flips bits of everything that was written: no start takes the files for sound. Without the mark that holds for all but
// the last record, which may have been cut off.
func TestFlippedBits(t *testing.T) {
	dir, m, last, begins, _ := filled(t)
	w := open(t, dir)
	used := map[string]int64{}
	for _, s := range w.segments {
		used[s.path] = s.end
	}
	shut(t, w, false)
	mark := filepath.Join(dir, markFile)
	reached := readFile(t, mark)
	r := rand.New(rand.NewPCG(5, 5))
	for path, end := range used {
		whole := readFile(t, path)
		for i := range 160 {
			marked := i%2 == 0
			most := end
			if !marked && path == last {
				most = begins
			}
			at := r.Int64N(most)
			if at >= headerLen && at < headerRoom {
				continue // nothing is there
			}
			broken := bytes.Clone(whole)
			broken[at] ^= 1 << r.IntN(8)
			writeFile(t, path, broken)
			if writeFile(t, mark, reached); !marked {
				os.Remove(mark)
			}
			if w, err := Open(Options{Dir: dir, SegmentSize: small}); !errors.Is(err, ErrDamaged) {
				t.Errorf("a flipped bit at %d of %s, mark %t: %v, want ErrDamaged", at, filepath.Base(path), marked, err)
				if err == nil {
					shut(t, w, false)
				}
			}
		}
		writeFile(t, path, whole)
	}
	m.check(t, reopened(t, dir))
}

func reopened(t *testing.T, dir string) *WAL {
	w := open(t, dir)
	t.Cleanup(func() { w.Close(false) })
	return w
}

// TestMissingFiles takes away each segment that has records, and all of them.
func TestMissingFiles(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir)
	for i := uint64(1); len(w.segments) < 4; i++ {
		if err := w.Log(0).Append([]*raft.Log{made(0, i, 1)}); err != nil {
			t.Fatal(err)
		}
	}
	var paths []string
	for _, s := range w.segments {
		paths = append(paths, s.path)
	}
	shut(t, w, false)
	for _, path := range paths {
		whole := readFile(t, path)
		os.Remove(path)
		if _, err := Open(Options{Dir: dir, SegmentSize: small}); !errors.Is(err, ErrDamaged) {
			t.Errorf("without %s: %v, want ErrDamaged", filepath.Base(path), err)
		}
		writeFile(t, path, whole)
	}
	for _, path := range paths {
		os.Remove(path)
	}
	if _, err := Open(Options{Dir: dir, SegmentSize: small}); !errors.Is(err, ErrDamaged) {
		t.Errorf("without any segment: %v, want ErrDamaged", err)
	}
}

// TestDamagedBeginning breaks the only record of the oldest segment, of a new log and of one that has dropped segments: nothing in the
// later segments says with which record they begin.
func TestDamagedBeginning(t *testing.T) {
	for _, dropped := range []uint64{0, 3} {
		dir := t.TempDir()
		w := open(t, dir)
		l := w.Log(0)
		for i := range 4 + dropped {
			if err := l.Append([]*raft.Log{{Index: i + 1, Term: 1, Data: make([]byte, small)}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Trim(dropped + 1); err != nil {
			t.Fatal(err)
		}
		w.mu.RLock()
		oldest := w.segment(l.spans[0].segment)
		w.mu.RUnlock()
		shut(t, w, true)
		whole := readFile(t, oldest.path)
		broken := bytes.Clone(whole)
		broken[headerRoom+8] ^= 1
		writeFile(t, oldest.path, broken)
		if _, err := Open(Options{Dir: dir, SegmentSize: small}); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d entries dropped, then the oldest broken: %v, want ErrDamaged", dropped, err)
		}
		writeFile(t, oldest.path, whole)
		w = open(t, dir)
		if first, last := w.Log(0).Bounds(); first != dropped+1 || last != dropped+4 {
			t.Errorf("%d entries dropped: the log has %d..%d", dropped, first, last)
		}
		shut(t, w, true)
	}
}

// TestLostRecordBetweenSegments breaks the last record of a segment that is not the last: the next one does not go on from what is left,
// although its entries would.
func TestLostRecordBetweenSegments(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir)
	l := w.Log(0)
	full := small - headerRoom - controlRoom - recordHead - itemHead
	if err := l.Append([]*raft.Log{{Index: 1, Term: 1, Data: make([]byte, full)}}); err != nil {
		t.Fatal(err)
	}
	s := w.segments[0]
	at := s.end
	if err := l.Cut(1); err != nil {
		t.Fatal(err)
	}
	if err := l.Append([]*raft.Log{{Index: 2, Term: 1, Data: make([]byte, full)}}); err != nil {
		t.Fatal(err)
	}
	if s.last != 2 || len(w.segments) != 2 {
		t.Fatalf("the first of %d segments ends with record %d, want 2 and record 2", len(w.segments), s.last)
	}
	shut(t, w, true)
	b := readFile(t, s.path)
	b[at] ^= 1
	writeFile(t, s.path, b)
	if _, err := Open(Options{Dir: dir, SegmentSize: small}); !errors.Is(err, ErrDamaged) {
		t.Fatalf("without the record that cut the log: %v, want ErrDamaged", err)
	}
}

// faulty is a file whose next writes fail: after some bytes, or after all.
type faulty struct {
	File
	mu    *sync.Mutex
	after *int64 // bytes that the next write gets to; nil: it does not fail
}

var errFaulty = errors.New("no write today")

func (f *faulty) WriteParts(parts [][]byte, at int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.after == nil || *f.after < 0 {
		return f.File.WriteParts(parts, at)
	}
	b := bytes.Join(parts, nil)
	n := min(*f.after, int64(len(b)))
	*f.after = -1
	if err := f.File.WriteParts([][]byte{b[:n]}, at); err != nil {
		return err
	}
	return errFaulty
}

// TestFailedWrites makes appends fail after any number of bytes, and goes on with others of any length: only what succeeded is
// there, and after a restart too.
func TestFailedWrites(t *testing.T) {
	for seed := range uint64(10) {
		var mu sync.Mutex
		after := int64(-1)
		o := Options{Dir: t.TempDir(), SegmentSize: small, Wrap: func(f File) File { return &faulty{f, &mu, &after} }}
		w, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 2))
		m := newModel(2)
		for range 120 {
			if r.IntN(3) > 0 {
				m.step(t, w, r, 1)
				continue
			}
			l := m[0]
			next := l.first + uint64(len(l.terms))
			mu.Lock()
			after = r.Int64N(2 * small)
			mu.Unlock()
			err := w.Log(0).Append([]*raft.Log{{Index: next, Term: 1, Data: make([]byte, r.IntN(small))}})
			mu.Lock()
			failed := after == -1
			after = -1
			mu.Unlock()
			if failed && err == nil { // of the segment that was made ahead
				if err := w.Log(0).Cut(next); err != nil {
					t.Fatal(err)
				}
			}
			if err == nil && !failed {
				t.Fatal("the write did not fail")
			}
			m.check(t, w)
		}
		m.step(t, w, r, 1)
		lost := m[0].first + uint64(len(m[0].terms))
		if err := w.Log(0).Append([]*raft.Log{made(0, lost, 1)}); err != nil {
			t.Fatal(err)
		}
		m[0].terms = append(m[0].terms, 1)
		shut(t, w, false)
		m.check(t, reopened(t, o.Dir))
	}
}

// TestSegmentsAreUsedAgain fills and trims a log again and again: the folder does not grow, and what a former use left in a file is never
// read.
func TestSegmentsAreUsedAgain(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir)
	l := w.Log(0)
	next := uint64(1)
	most := 0
	for round := range 12 {
		for range 40 {
			if err := l.Append([]*raft.Log{{Index: next, Term: 1, Data: bytes.Repeat([]byte{byte(next)}, 2000)}}); err != nil {
				t.Fatal(err)
			}
			next++
		}
		if err := l.Trim(next - 3); err != nil {
			t.Fatal(err)
		}
		if files, err := os.ReadDir(dir); err != nil {
			t.Fatal(err)
		} else if most = max(most, len(files)); len(files) > 8 {
			t.Fatalf("%d files after %d rounds, want few", len(files), round)
		}
		if round%3 == 2 {
			shut(t, w, false)
			w = open(t, dir)
			l = w.Log(0)
			if first, last := l.Bounds(); first != next-3 || last != next-1 {
				t.Fatalf("the log has %d..%d, want %d..%d", first, last, next-3, next-1)
			}
		}
	}
	if len(w.spares) == 0 || len(w.segments) == 0 {
		t.Errorf("%d spare files and %d segments, want some", len(w.spares), len(w.segments))
	}
	if !w.DropSpares() || len(w.spares) != 0 {
		t.Error("spare files are not given up")
	}
	shut(t, w, true)
}

// writes counts the bytes that are written to a file.
type writes struct {
	File
	n *atomic.Int64
}

func (w writes) WriteParts(parts [][]byte, at int64) error {
	for _, p := range parts {
		w.n.Add(int64(len(p)))
	}
	return w.File.WriteParts(parts, at)
}

// TestLongCyclesWriteOnce: a log that is shortened by more than Spares segments at a time has files for the next time, so each entry
// is written once; when it is shortened by less, it gives files back.
func TestLongCyclesWriteOnce(t *testing.T) {
	var n atomic.Int64
	dir := t.TempDir()
	w, err := Open(Options{Dir: dir, SegmentSize: small, Spares: 4, Wrap: func(f File) File { return writes{f, &n} }})
	if err != nil {
		t.Fatal(err)
	}
	l, next := w.Log(0), uint64(1)
	cycle := func(entries int) float64 {
		t.Helper()
		before := n.Load()
		for range entries {
			if err := l.Append([]*raft.Log{{Index: next, Term: 1, Data: bytes.Repeat([]byte{byte(next)}, 2000)}}); err != nil {
				t.Fatal(err)
			}
			next++
		}
		if err := l.Trim(next - 3); err != nil {
			t.Fatal(err)
		}
		return float64(n.Load()-before) / float64(entries*2000)
	}
	cycle(300)
	for range 4 {
		if share := cycle(300); share > 1.5 {
			t.Errorf("%.2f bytes were written for each of an entry", share)
		}
	}
	for range 2 {
		cycle(40)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 10 {
		t.Errorf("%d files are left: %v", len(files), err)
	}
	shut(t, w, true)
}

// TestReadersSeeWholeEntries reads while another goroutine appends and trims, and segments are used again.
func TestReadersSeeWholeEntries(t *testing.T) {
	w := open(t, t.TempDir())
	defer shut(t, w, true)
	l, stop := w.Log(0), make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				first, last := l.Bounds()
				for i := first; i <= last && i != 0; i++ {
					var got raft.Log
					if err := l.Read(i, &got); err != nil && !errors.Is(err, raft.ErrLogNotFound) {
						t.Error(err)
						return
					} else if err == nil && !bytes.Equal(got.Data, made(0, i, 1).Data) {
						t.Errorf("entry %d is another one", i)
						return
					}
				}
			}
		})
	}
	for next := uint64(1); next < 600; next++ {
		if err := l.Append([]*raft.Log{made(0, next, 1)}); err != nil {
			t.Fatal(err)
		}
		if next%50 == 0 {
			if err := l.Trim(next - 5); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	readers.Wait()
}

// TestOrder refuses entries that do not follow.
func TestOrder(t *testing.T) {
	w := open(t, t.TempDir())
	defer shut(t, w, true)
	l := w.Log(0)
	if err := l.Append([]*raft.Log{made(0, 5, 2), made(0, 6, 2)}); err != nil {
		t.Fatal(err)
	}
	for name, entries := range map[string][]*raft.Log{
		"a gap": {made(0, 8, 2)}, "over another": {made(0, 6, 2)}, "an older term": {made(0, 7, 1)},
		"a gap among them": {made(0, 7, 2), made(0, 9, 2)}, "a term that falls": {made(0, 7, 3), made(0, 8, 2)},
	} {
		if err := l.Append(entries); !errors.Is(err, errOrder) {
			t.Errorf("%s: %v, want %v", name, err, errOrder)
		}
	}
	if first, last := l.Bounds(); first != 5 || last != 6 {
		t.Errorf("the log has %d..%d", first, last)
	}
	if err := w.Log(1).Append([]*raft.Log{{Term: 1}}); !errors.Is(err, errOrder) {
		t.Errorf("entry 0: %v", err)
	}
}

// FuzzSegment reads any bytes as records.
func FuzzSegment(f *testing.F) {
	var r record
	r.begin(1<<10, 7)
	r.add(entry, 1, made(1, 2, 3))
	r.finish(1, 0)
	b := bytes.Join(r.parts, nil)
	f.Add(b, uint64(7))
	f.Add(append(b, b...), uint64(7))
	f.Fuzz(func(t *testing.T, b []byte, salt uint64) {
		s := &segment{path: "segment", salt: salt, seed: saltSum(salt), end: headerRoom, number: 1}
		out := &found{segment: s}
		all := append(make([]byte, headerRoom), b...)
		out.read(all)
		if s.end > int64(len(all)) {
			t.Fatalf("the records end at %d of %d bytes", s.end, len(all))
		}
		w := &WAL{logs: map[uint32]*Log{}}
		_ = w.link([]*found{out})
	})
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{100, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			w := open(b, b.TempDir())
			defer shut(b, w, true)
			l, data := w.Log(0), make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for i := uint64(1); b.Loop(); i++ {
				if err := l.Append([]*raft.Log{{Index: i, Term: 1, Data: data}}); err != nil {
					b.Fatal(err)
				}
				if i%100 == 0 {
					if err := l.Trim(i); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
