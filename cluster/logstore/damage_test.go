package logstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
)

// closedNode is a node stopped in good order: entries 21..200, the term is 2
// from 101 on, a vote.
func closedNode(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir)
	for i := uint64(1); i <= 200; i += 5 {
		store(t, s, i, i+4, 1+min(i/101, 1))
	}
	if err := first(s.DeleteRange(1, 20), s.SetUint64([]byte("CurrentTerm"), 2), s.Set([]byte("LastVoteCand"), []byte("n3")), s.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func copyNode(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// intact says whether a store holds exactly what closedNode wrote.
func intact(s *Store) bool {
	first, err := s.FirstIndex()
	last, err2 := s.LastIndex()
	if err != nil || err2 != nil || first != 21 || last != 200 {
		return false
	}
	for i := first; i <= last; i++ {
		var l raft.Log
		if s.GetLog(i, &l) != nil || !sameEntry(&l, entry(i, 1+min(i/101, 1))) {
			return false
		}
	}
	term, err := s.GetUint64([]byte("CurrentTerm"))
	vote, err2 := s.Get([]byte("LastVoteCand"))
	return err == nil && err2 == nil && term == 2 && string(vote) == "n3"
}

// trial opens a damaged directory: it must be refused, or hold everything.
func trial(t *testing.T, dir, what string) (refused bool) {
	t.Helper()
	s, err := Open(quiet(dir, &deaths{}))
	if err != nil {
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: refused, but not as damaged: %v", what, err)
		}
		return true
	}
	defer s.Close()
	if !intact(s) {
		t.Errorf("%s: SILENT: opened with wrong content", what)
	}
	return false
}

func TestFlippedBitsAreSeen(t *testing.T) {
	node := closedNode(t)
	good, err := os.ReadFile(dbPath(node))
	if err != nil {
		t.Fatal(err)
	}
	work := copyNode(t, node)
	rng := rand.New(rand.NewSource(1))
	n, refused := 40, 0
	for range n {
		bad := append([]byte(nil), good...)
		at := rng.Intn(len(bad))
		bad[at] ^= 1 << rng.Intn(8)
		restore(t, node, work)
		if err := os.WriteFile(dbPath(work), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if trial(t, work, "flip") {
			refused++
		}
	}
	if refused == 0 {
		t.Fatal("no flip was ever noticed")
	}
	t.Logf("%d flips, %d refused, the rest in free pages", n, refused)
}

func restore(t *testing.T, from, to string) {
	t.Helper()
	for _, name := range []string{dbFile, markFile} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Every bit of the shape of every page in use, and of the meta records: the
// flip is refused before the database is opened, or changes nothing that the
// database would show.
func TestEveryBitOfTheTreeShape(t *testing.T) {
	path := dbPath(closedNode(t))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	look := func() (*tree, error) { return readTree(bytes.NewReader(b), int64(len(b)), path) }
	good, err := look()
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, r := range shapeBytes(t, b, good) {
		for at := r[0]; at < r[1]; at++ {
			for bit := range 8 {
				b[at] ^= 1 << bit
				if got, err := look(); err == nil {
					passed++
					// A page pointer may come to mean an older, freed page that lacks the
					// log's first entries. That is a log shortened in good order, as far
					// as the snapshots reach; where they don't, fit refuses it.
					if got.first < good.first || got.last != good.last || !maps.EqualFunc(got.conf, good.conf, bytes.Equal) {
						t.Fatalf("bit %d of byte %d: SILENT: the log shows %d..%d", bit, at, got.first, got.last)
					}
				} else if !errors.Is(err, ErrDamaged) {
					t.Fatalf("bit %d of byte %d: %v", bit, at, err)
				}
				b[at] ^= 1 << bit
			}
		}
	}
	t.Logf("%d flips passed, without effect", passed)
}

// shapeBytes are the byte ranges of the meta records and of the headers and row
// tables of all pages in use.
func shapeBytes(t *testing.T, b []byte, good *tree) (ranges [][2]int64) {
	t.Helper()
	ps := good.meta.pageSize
	ranges = append(ranges, [2]int64{0, metaLen}, [2]int64{ps, ps + metaLen})
	w := &walker{f: bytes.NewReader(b), m: good.meta, seen: make([]uint64, good.meta.pages/64+1), out: &tree{}}
	buckets, err := w.buckets()
	if err == nil {
		err = w.readLogs(buckets[string(logsBucket)])
	}
	if err != nil {
		t.Fatal(err)
	}
	for id := range int64(good.meta.pages) {
		if w.seen[id/64]>>(id%64)&1 != 0 {
			rows := int64(binary.LittleEndian.Uint16(b[id*ps+10:]))
			ranges = append(ranges, [2]int64{id * ps, id*ps + pageHeader + rows*elementLen})
		}
	}
	return ranges
}

func flip(t *testing.T, f *os.File, at int64, bit int) {
	t.Helper()
	var b [1]byte
	_, err := f.ReadAt(b[:], at)
	b[0] ^= 1 << bit
	if err == nil {
		_, err = f.WriteAt(b[:], at)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestCutAndZeroedFiles(t *testing.T) {
	node := closedNode(t)
	good, err := os.ReadFile(dbPath(node))
	if err != nil {
		t.Fatal(err)
	}
	work := copyNode(t, node)
	rng := rand.New(rand.NewSource(2))
	refused := 0
	for i := range 40 {
		bad, k := append([]byte(nil), good...), 1+rng.Intn(8192)
		what := "cut anywhere"
		switch i % 4 {
		case 0:
			bad = bad[:rng.Intn(len(bad))]
		case 1:
			bad, what = bad[:len(bad)-k], "cut at the end"
		case 2:
			clear(bad[len(bad)-k:])
			what = "zeroed at the end"
		default:
			at := 4096 * rng.Intn(len(bad)/4096)
			clear(bad[at : at+4096])
			what = "zeroed block"
		}
		restore(t, node, work)
		if err := os.WriteFile(dbPath(work), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if trial(t, work, what) {
			refused++
		}
	}
	if refused < 10 {
		t.Fatalf("only %d of 40 were refused", refused)
	}
}

// The tree is whole, but it is an older one: only the mark knows.
func TestOldDatabaseFileIsSeen(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	store(t, s, 1, 50, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(dbPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	store(t, s, 51, 60, 1)
	if err := first(s.Close(), os.WriteFile(dbPath(dir), old, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(quiet(dir, &deaths{})); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
	if err := os.Remove(dbPath(dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(quiet(dir, &deaths{})); !errors.Is(err, ErrDamaged) {
		t.Fatalf("missing file: %v", err)
	}
}

// A crash between the lowering of the mark and the deletion, and one between an
// append and the raising, leave the mark below the log.
func TestMarkBelowTheLogIsSound(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	store(t, s, 1, 50, 3)
	if err := first(s.mark.lower(30), s.mark.sync(), s.Close()); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	expect(t, s, 1, 50, always(3))
	if s.mark.index != 50 || s.mark.term != 3 {
		t.Fatalf("the mark stays at %d of term %d", s.mark.index, s.mark.term)
	}
	for _, r := range [][2]uint64{{41, 50}, {1, 40}} {
		if err := s.DeleteRange(r[0], r[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	expect(t, s, 0, 0, nil)
	store(t, s, 900, 905, 4)
	expect(t, s, 900, 905, always(4))
}

func TestFlippedMarkIsSeen(t *testing.T) {
	node := closedNode(t)
	for at := range int64(markLen) {
		work := copyNode(t, node)
		f, err := os.OpenFile(filepath.Join(work, markFile), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		flip(t, f, at, int(at%8))
		f.Close()
		if !trial(t, work, "mark") {
			t.Fatalf("byte %d: not seen", at)
		}
	}
}

// Each field of an entry is under its sum.
func TestSumSeesEveryField(t *testing.T) {
	for name, hurt := range map[string]func(*raft.Log){
		"index": func(l *raft.Log) { l.Index++ },
		"term":  func(l *raft.Log) { l.Term++ },
		"type":  func(l *raft.Log) { l.Type = raft.LogNoop },
		"data":  func(l *raft.Log) { l.Data[3] ^= 1 },
		"short": func(l *raft.Log) { l.Data = l.Data[1:] },
		"ext":   func(l *raft.Log) { l.Extensions = append([]byte{1}, l.Extensions...) },
		"time":  func(l *raft.Log) { l.AppendedAt = l.AppendedAt.Add(1) },
		"age":   func(l *raft.Log) { l.AppendedAt = l.AppendedAt.Add(1 << 62).Add(1 << 62).Add(1 << 62).Add(1 << 62) }, // the same UnixNano
		"none":  func(l *raft.Log) { l.Extensions = nil },
		"place": func(l *raft.Log) { l.Extensions[len(l.Extensions)-trailerLen]++ },
	} {
		t.Run(name, func(t *testing.T) {
			d := &deaths{}
			s := mustOpen(t, quiet(t.TempDir(), d))
			store(t, s, 7, 7, 2)
			var l raft.Log
			if err := s.inner.GetLog(7, &l); err != nil {
				t.Fatal(err)
			}
			hurt(&l)
			at := l.Index
			if err := s.inner.StoreLog(&l); err != nil {
				t.Fatal(err)
			}
			if err := s.GetLog(at, &l); !errors.Is(err, ErrChecksum) || !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			if len(d.list()) != 1 {
				t.Fatal("the process goes on")
			}
		})
	}
}

// A gap, a term that falls and a foreign entry are refused at open.
func TestWrongLogsAreRefused(t *testing.T) {
	for name, hurt := range map[string]func(s *Store) error{
		"gap":       func(s *Store) error { return s.inner.DeleteRange(5, 6) },
		"no sum":    func(s *Store) error { return s.inner.StoreLog(entry(10, 2)) },
		"old term":  func(s *Store) error { return s.StoreLogs(entries(8, 8, 1)) },
		"lost tail": func(s *Store) error { return s.inner.DeleteRange(9, 10) },
		"stable":    func(s *Store) error { return s.inner.Set([]byte("CurrentTerm"), []byte("12345678")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			store(t, s, 1, 10, 2)
			if err := first(hurt(s), s.Close()); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(quiet(dir, &deaths{})); !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
		})
	}
}

// What plain raft-boltdb wrote carries no sums.
func TestForeignDatabaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	b, err := boltdb.NewBoltStore(dbPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := first(b.StoreLogs(entries(1, 5, 1)), b.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(quiet(dir, &deaths{})); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
}
