package logstore

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore/wal"
)

// closedNode returns a node stopped in good order: entries 21..200, the term is 2
// from 101 on, a vote.
func closedNode(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir)
	for i := uint64(1); i <= 200; i += 5 {
		store(t, s, i, i+4, 1+min(i/101, 1))
	}
	if err := cmp.Or(s.DeleteRange(1, 20), s.SetUint64([]byte("CurrentTerm"), 2), s.Set([]byte("LastVoteCand"), []byte("n3")), s.Close()); err != nil {
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

// intact reports whether a store holds exactly what closedNode wrote.
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

// closedDatabase returns a closedNode and the bytes of its database.
func closedDatabase(t *testing.T) (node string, database []byte) {
	t.Helper()
	node = closedNode(t)
	database, err := os.ReadFile(dbPath(node))
	if err != nil {
		t.Fatal(err)
	}
	return node, database
}

// trialDatabase runs trial on a copy of a node with other bytes in the place of its database.
func trialDatabase(t *testing.T, node string, database []byte, what string) (refused bool) {
	t.Helper()
	dir := copyNode(t, node)
	if err := os.WriteFile(dbPath(dir), database, 0o600); err != nil {
		t.Fatal(err)
	}
	return trial(t, dir, what)
}

func TestFlippedBitsAreSeen(t *testing.T) {
	node, good := closedDatabase(t)
	rng := rand.New(rand.NewSource(1))
	found, err := readTreeOf(dbPath(node))
	if err != nil {
		t.Fatal(err)
	}
	shapes := shapeBytes(good, found)
	n, refused := 60, 0
	for i := range n {
		bad := append([]byte(nil), good...)
		at := rng.Intn(len(bad))
		if i%2 == 0 { // most of the file is empty
			r := shapes[rng.Intn(len(shapes))]
			at = int(r[0] + rng.Int63n(r[1]-r[0]))
		}
		bad[at] ^= 1 << rng.Intn(8)
		if trialDatabase(t, node, bad, "flip") {
			refused++
		}
	}
	if refused == 0 {
		t.Fatal("no flip was ever noticed")
	}
	t.Logf("%d flips, %d refused, the rest in free pages", n, refused)
}

// Every bit of the shape of every page in use, and of the meta records: the
// flip is refused before the database is opened, or changes nothing that the
// database would show.
func TestEveryBitOfTheTreeShape(t *testing.T) {
	node, b := closedDatabase(t)
	look := func() (*tree, error) { return readTree(bytes.NewReader(b), int64(len(b)), dbPath(node)) }
	good, err := look()
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, r := range shapeBytes(b, good) {
		for at := r[0]; at < r[1]; at++ {
			for bit := range 8 {
				b[at] ^= 1 << bit
				if got, err := look(); err == nil {
					passed++
					if got.first != good.first || got.last != good.last || !maps.EqualFunc(got.conf, good.conf, bytes.Equal) {
						t.Fatalf("bit %d of byte %d: SILENT: the values are %v", bit, at, got.conf)
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

// shapeBytes returns the byte ranges of the meta records and of the headers and row
// tables of all pages in use.
func shapeBytes(b []byte, good *tree) (ranges [][2]int64) {
	ps := good.meta.pageSize
	ranges = append(ranges, [2]int64{0, metaLen}, [2]int64{ps, ps + metaLen})
	for id := range int64(good.meta.pages) {
		if good.seen[id/64]>>(id%64)&1 != 0 {
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
	node, good := closedDatabase(t)
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
		if trialDatabase(t, node, bad, what) {
			refused++
		}
	}
	if refused < 10 {
		t.Fatalf("only %d of 40 were refused", refused)
	}
}

// TestOldFilesAreSeen puts older files in the place of the database, and of the log: each is whole, and only the marks tell.
func TestOldFilesAreSeen(t *testing.T) {
	for _, which := range []string{dbFile, logDir} {
		dir := t.TempDir()
		s := open(t, dir)
		store(t, s, 1, 50, 1)
		if err := cmp.Or(s.SetUint64([]byte("CurrentTerm"), 1), s.Close()); err != nil {
			t.Fatal(err)
		}
		old := copyNode(t, dir)
		s = open(t, dir)
		store(t, s, 51, 60, 1)
		if err := cmp.Or(s.SetUint64([]byte("CurrentTerm"), 2), s.Close()); err != nil {
			t.Fatal(err)
		}
		mark, err := os.ReadFile(filepath.Join(dir, logDir, "mark"))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, which)
		if err := cmp.Or(os.RemoveAll(path), os.Rename(filepath.Join(old, which), path), os.WriteFile(filepath.Join(dir, logDir, "mark"), mark, 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(quiet(dir, &deaths{})); !errors.Is(err, ErrDamaged) {
			t.Errorf("an older %s: %v, want ErrDamaged", which, err)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(quiet(dir, &deaths{})); !errors.Is(err, ErrDamaged) {
			t.Errorf("without %s: %v, want ErrDamaged", which, err)
		}
	}
}

// TestLostVote loses the database of a node that has voted, but has no entry yet: it would vote again.
func TestLostVote(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := cmp.Or(s.SetUint64([]byte("CurrentTerm"), 1), s.Set([]byte("LastVoteCand"), []byte("n2")), s.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dbPath(dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(quiet(dir, &deaths{})); !errors.Is(err, ErrDamaged) {
		t.Errorf("without the database: %v, want ErrDamaged", err)
	}
}

// TestLostValues loses the database and its mark of a node that has entries.
func TestLostValues(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	store(t, s, 1, 3, 1)
	if err := cmp.Or(s.Close(), os.Remove(dbPath(dir)), os.Remove(filepath.Join(dir, stableMark))); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(quiet(dir, &deaths{})); !errors.Is(err, ErrDamaged) {
		t.Errorf("without the database and its mark: %v, want ErrDamaged", err)
	}
}

// TestInterruptedFirstStart leaves what a first start may leave that was cut short: the next one makes the rest.
func TestInterruptedFirstStart(t *testing.T) {
	for name, leave := range map[string]func(dir string) error{
		"nothing": func(string) error { return nil },
		"the log's mark": func(dir string) error {
			return cmp.Or(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "mark"), nil, 0o600))
		},
		"the log, open": func(dir string) error { return leaveLog(dir, false) },
		"the log":       func(dir string) error { return leaveLog(dir, true) },
	} {
		dir := t.TempDir()
		if err := leave(filepath.Join(dir, logDir)); err != nil {
			t.Fatal(err)
		}
		s, err := Open(quiet(dir, &deaths{}))
		if err != nil {
			t.Errorf("%s is there: %v", name, err)
			continue
		}
		store(t, s, 1, 3, 1)
		s.Close()
	}
}

func leaveLog(dir string, orderly bool) error {
	w, err := wal.Open(wal.Options{Dir: dir, SegmentSize: 64 << 10})
	if err != nil {
		return err
	}
	return w.Close(orderly)
}

func TestFlippedMarksAreSeen(t *testing.T) {
	node := closedNode(t)
	for _, name := range []string{stableMark, filepath.Join(logDir, "mark"), filepath.Join(logDir, "oldest")} {
		st, err := os.Stat(filepath.Join(node, name))
		if err != nil || st.Size() == 0 {
			t.Fatalf("%s is empty (%v)", name, err)
		}
		for at := range st.Size() {
			work := copyNode(t, node)
			f, err := os.OpenFile(filepath.Join(work, name), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			flip(t, f, at, int(at%8))
			f.Close()
			if !trial(t, work, "mark") {
				t.Fatalf("byte %d of %s: not seen", at, name)
			}
		}
	}
}

// TestDamagedEntriesEndTheProcess flips a bit of an entry under a running store.
func TestDamagedEntriesEndTheProcess(t *testing.T) {
	d := &deaths{}
	s := mustOpen(t, quiet(t.TempDir(), d))
	store(t, s, 1, 300, 1)
	hurtEntry(t, s, 200)
	var l raft.Log
	if err := s.read(200, &l); !errors.Is(err, ErrChecksum) || !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
	if len(d.list()) != 1 {
		t.Fatal("the process goes on")
	}
}

// hurtEntry flips a bit of an entry's data on the disk.
func hurtEntry(t *testing.T, s *Store, index uint64) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.opts.Dir, logDir, "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(b, entry(index, 1).Data); at >= 0 {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			flip(t, f, int64(at), 3)
			return
		}
	}
	t.Fatalf("entry %d is in no file", index)
}

// TestWrongValuesAreRefused: a value that was not sealed here is damage.
func TestWrongValuesAreRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	store(t, s, 1, 10, 2)
	if err := cmp.Or(s.values.Set([]byte("CurrentTerm"), []byte("12345678")), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(quiet(dir, &deaths{})); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
}

// What plain raft-boltdb wrote carries no sums.
func TestForeignDatabaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	b, err := boltdb.NewBoltStore(dbPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmp.Or(b.StoreLogs(entries(1, 5, 1)), b.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(quiet(dir, &deaths{})); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
}
