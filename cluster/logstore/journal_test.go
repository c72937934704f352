package logstore

import (
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hashicorp/raft"
)

const smallHalf = 64 << 10

// journaled are options of a store whose journal is full again and again.
func journaled(dir string, d *deaths) Options {
	o := quiet(dir, d)
	o.Journal = smallHalf
	return o
}

// crash ends a store as a kill does: nothing is moved, no orderly end is noted.
func crash(s *Store) {
	s.closed.Store(true)
	s.tasks.stop()
	s.inner.Close()
	s.mark.close()
	s.lock.Close()
}

// kept is what a log must hold.
type kept struct {
	first, last uint64
	term        map[uint64]uint64
}

func (k *kept) check(t *testing.T, s *Store) {
	t.Helper()
	first, err := s.FirstIndex()
	last, err2 := s.LastIndex()
	want := *k
	if k.first > k.last {
		want.first, want.last = 0, 0
	}
	if err != nil || err2 != nil || first != want.first || last != want.last {
		t.Fatalf("the log is %d..%d (%v, %v), want %d..%d", first, last, err, err2, want.first, want.last)
	}
	for i := first; i <= last && i != 0; i++ {
		var l raft.Log
		if err := s.GetLog(i, &l); err != nil || !sameEntry(&l, entry(i, k.term[i])) {
			t.Fatalf("entry %d of term %d: %v, %v", i, k.term[i], l, err)
		}
	}
}

// Appends of every size, deletions at both ends, orderly ends and crashes: the log is
// always what was acknowledged.
func TestJournalKeepsTheLog(t *testing.T) {
	for seed := range int64(6) {
		rng := rand.New(rand.NewSource(seed))
		dir, d := t.TempDir(), &deaths{}
		s := mustOpen(t, journaled(dir, d))
		k := &kept{first: 1, term: map[uint64]uint64{}}
		term, moved := uint64(1), uint64(0)
		for range 400 {
			switch r := rng.Intn(100); {
			case r < 80:
				n := 1 + rng.Intn(8)
				if r == 0 { // too large for the journal
					n = 200
				}
				var logs []*raft.Log
				for range n {
					k.last++
					k.term[k.last] = term
					logs = append(logs, entry(k.last, term))
				}
				if err := s.StoreLogs(logs); err != nil {
					t.Fatal(err)
				}
			case r < 85 && k.last > k.first+20:
				to := k.first + uint64(rng.Int63n(int64(k.last-k.first-5)))
				if err := s.DeleteRange(k.first, to); err != nil {
					t.Fatal(err)
				}
				k.first = to + 1
			case r < 90 && k.last > k.first+20:
				from := k.last - uint64(rng.Intn(15))
				if err := s.DeleteRange(from, k.last); err != nil {
					t.Fatal(err)
				}
				k.last = from - 1
				term++
			case r == 90: // a snapshot was installed
				if err := s.DeleteRange(k.first, k.last); err != nil {
					t.Fatal(err)
				}
				k.last += 100
				k.first = k.last + 1
			case r < 96:
				moved += s.Stats().Moved
				crash(s)
				s = mustOpen(t, journaled(dir, d))
			default:
				moved += s.Stats().Moved
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = mustOpen(t, journaled(dir, d))
			}
			if rng.Intn(10) == 0 {
				k.check(t, s)
			}
		}
		k.check(t, s)
		if len(d.list()) > 0 || moved == 0 {
			t.Fatalf("fatal: %v; %d entries were moved", d.list(), moved)
		}
	}
}

// crashedNode is killed with entries in the database and in both halves of the journal.
func crashedNode(t *testing.T) (dir string, k *kept) {
	t.Helper()
	dir, k = t.TempDir(), &kept{first: 1, term: map[uint64]uint64{}}
	f := &failing{}
	o := journaled(dir, &deaths{})
	o.wrap = func(b backend) backend { f.backend = b; return f }
	s := mustOpen(t, o)
	put := func(n uint64) {
		logs := entries(k.last+1, k.last+n, 3)
		for _, l := range logs {
			k.term[l.Index] = 3
		}
		if err := s.StoreLogs(logs); err != nil {
			t.Fatal(err)
		}
		k.last += n
	}
	put(500) // too large for the journal
	for s.journal.active == 0 {
		put(3)
	}
	f.fail(writeError(syscall.ENOSPC), writeError(syscall.ENOSPC)) // nothing moves any more
	if err := s.journal.move(); err == nil {
		// The background had moved it before the disk was full: fill the other half too.
		for s.journal.active == 1 {
			put(3)
		}
	}
	put(5)
	put(1)
	crash(s)
	return dir, k
}

// Every bit of a record's head, and one bit in each byte of the rest of what is live:
// refused, or of no effect.
func TestFlippedBitsOfTheJournalAreSeen(t *testing.T) {
	dir, k := crashedNode(t)
	path := filepath.Join(dir, journalFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := readTreeOf(dbPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{opts: Options{Dir: dir}, path: dbPath(dir)}
	sound, err := s.readJournal(tr)
	if err != nil || sound.last() != k.last {
		t.Fatalf("the journal ends at %d, not %d: %v", sound.last(), k.last, err)
	}
	seen, harmless := 0, 0
	look := func(at, bit int) {
		bad := append([]byte(nil), good...)
		bad[at] ^= 1 << bit
		got, err := scanJournal(bad, moved(t, tr))
		switch {
		case err != nil || got.last() < k.last: // the mark knows how far it went
			seen++
		case len(got.logs) != len(sound.logs):
			t.Fatalf("bit %d of byte %d: SILENT: %d entries", bit, at, len(got.logs))
		default:
			for i, l := range got.logs {
				if !sameEntry(l, sound.logs[i]) {
					t.Fatalf("bit %d of byte %d: SILENT: entry %d differs", bit, at, l.Index)
				}
			}
			harmless++
		}
	}
	for base := 0; base < len(good); base += smallHalf {
		for at := base; at < base+headerLen; at++ {
			look(at, at%8)
		}
		for at := base + headerRoom; at < base+smallHalf; at += journalBlock {
			if _, _, ok := record(good[at:base+smallHalf], saltOf(good[base:])); !ok {
				continue
			}
			for i := range 400 {
				look(at+i%recordHead+i/(8*recordHead)*97, i%8)
			}
		}
	}
	if seen < 100 || harmless == 0 {
		t.Fatalf("%d seen, %d harmless", seen, harmless)
	}
}

func saltOf(b []byte) uint64 {
	_, salt, _ := header(b)
	return salt
}

func moved(t *testing.T, tr *tree) uint64 {
	t.Helper()
	l := len(tr.conf[journalKey])
	if l != 8 {
		t.Fatalf("the epoch has %d bytes", l)
	}
	return uint64(tr.conf[journalKey][7])
}

// The last record is cut off. With the mark at its place that is a loss; below it (a
// power cut keeps neither) it was never acknowledged.
func TestTornEndOfTheJournal(t *testing.T) {
	dir, k := crashedNode(t)
	path := filepath.Join(dir, journalFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	salt, base := uint64(0), 0
	var epoch uint64
	for _, at := range []int{0, smallHalf} {
		if e, s, _ := header(b[at:]); e > epoch {
			if _, _, ok := record(b[at+headerRoom:], s); ok {
				epoch, salt, base = e, s, at
			}
		}
	}
	last := 0
	for at := base + headerRoom; at < base+smallHalf; at += journalBlock {
		if _, _, ok := record(b[at:base+smallHalf], salt); ok {
			last = at
		}
	}
	clear(b[last+100 : last+journalBlock])
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(journaled(dir, &deaths{})); !errors.Is(err, ErrDamaged) {
		t.Fatalf("a lost record is not seen: %v", err)
	}
	m, err := openMark(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := first(m.lower(k.last-1), m.close()); err != nil {
		t.Fatal(err)
	}
	k.last--
	s := mustOpen(t, journaled(dir, &deaths{}))
	k.check(t, s)
	store(t, s, k.last+1, k.last+2, 3)
}

func TestMissingJournal(t *testing.T) {
	dir, _ := crashedNode(t)
	if err := os.Remove(filepath.Join(dir, journalFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(journaled(dir, &deaths{})); !errors.Is(err, ErrDamaged) {
		t.Fatalf("a missing journal is not seen: %v", err)
	}
	m, err := openMark(dir) // which would say that entries are missing: without it the database must
	if err != nil {
		t.Fatal(err)
	}
	if err := first(m.lower(500), m.close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(journaled(dir, &deaths{})); !errors.Is(err, ErrDamaged) {
		t.Fatalf("a missing journal is not seen without the mark: %v", err)
	}
	dir = t.TempDir()
	s := open(t, dir)
	store(t, s, 1, 50, 1)
	if err := first(s.Close(), os.Remove(filepath.Join(dir, journalFile))); err != nil {
		t.Fatal(err)
	}
	expect(t, open(t, dir), 1, 50, always(1)) // it held nothing
}

// A database that can't grow costs nothing until both halves are full; with room again
// the store goes on.
func TestJournalBeforeAFullDisk(t *testing.T) {
	f := &failing{}
	d := &deaths{}
	o := journaled(t.TempDir(), d)
	o.wrap = func(b backend) backend { f.backend = b; return f }
	s := mustOpen(t, o)
	full := make([]error, 100)
	for i := range full {
		full[i] = writeError(syscall.ENOSPC)
	}
	f.fail(full...)
	last, err := uint64(0), error(nil)
	for err == nil && last < 1000 {
		if err = s.StoreLogs(entries(last+1, last+3, 1)); err == nil {
			last += 3
		}
	}
	if !errors.Is(err, ErrNoSpace) || last < 60 {
		t.Fatalf("after entry %d: %v", last, err)
	}
	f.fail()
	store(t, s, last+1, last+200, 1)
	expect(t, s, 1, last+200, always(1))
	if len(d.list()) > 0 {
		t.Fatal(d.list())
	}
}

// emptyDatabase is a database without entries; nothing else is asked of it.
type emptyDatabase struct{ backend }

func (emptyDatabase) LastIndex() (uint64, error) { return 0, nil }

// TestAppendIsSynced: an append is not done before its sync is. The file is replaced by a device that takes every write and
// can't be synced.
func TestAppendIsSynced(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if datasync(null) == nil {
		t.Skip("this system syncs devices that hold nothing")
	}
	j := &journal{under: emptyDatabase{}, f: null, size: smallHalf}
	if err := j.StoreLogs([]*raft.Log{{Index: 1, Term: 1, Data: []byte("v")}}); err == nil {
		t.Error("an append whose sync has failed was stored")
	}
	if last, err := j.LastIndex(); err != nil || last != 0 {
		t.Errorf("the log ends at %d, %v", last, err)
	}
}

func FuzzJournal(f *testing.F) {
	j := make([]byte, 4*headerRoom)
	f.Add(j, uint64(0))
	h := &half{salt: 7, end: headerRoom}
	b, _ := appendRecord(nil, h, entries(1, 3, 2))
	f.Add(append(j, b...), uint64(3))
	f.Fuzz(func(t *testing.T, b []byte, moved uint64) {
		if o, err := scanJournal(b, moved); err == nil {
			for i, l := range o.logs {
				if l.Index != o.logs[0].Index+uint64(i) {
					t.Fatal("a gap")
				}
			}
		}
		o := &leftover{}
		o.take(b)
		_ = o.scan(b, moved)
	})
}
