package logstore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
)

// deaths collects the reasons that Options.Fatal was given.
type deaths struct {
	mu  sync.Mutex
	all []error
}

func (d *deaths) fatal(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, err)
}

func (d *deaths) list() []error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.all
}

// quiet returns options for tests that want no background work and a small reserve.
func quiet(dir string, d *deaths) Options {
	return Options{Dir: dir, Fatal: d.fatal, ProbeEvery: -1, ScrubEvery: -1, SegmentSize: 64 << 10, Space: Space{Reserve: -1, Floor: Floor{Bytes: 1}}}
}

func mustOpen(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// open returns a store of its own that must not die.
func open(t *testing.T, dir string) *Store {
	t.Helper()
	d := &deaths{}
	t.Cleanup(func() {
		if all := d.list(); len(all) > 0 {
			t.Errorf("the process would have ended: %v", all)
		}
	})
	return mustOpen(t, quiet(dir, d))
}

// entry returns an entry that depends only on index and term, so that a reader needs no copy.
func entry(index, term uint64) *raft.Log {
	l := &raft.Log{Index: index, Term: term, Type: raft.LogCommand, AppendedAt: time.Unix(1_700_000_000, int64(index)).UTC()}
	l.Data = bytes.Repeat(fmt.Appendf(nil, "%d/%d;", index, term), 1+int(index%7)*4)
	if index%3 == 0 {
		l.Extensions = fmt.Appendf(nil, "ext%d", index)
	}
	return l
}

func entries(from, to, term uint64) (logs []*raft.Log) {
	for i := from; i <= to; i++ {
		logs = append(logs, entry(i, term))
	}
	return logs
}

func store(t *testing.T, s raft.LogStore, from, to, term uint64) {
	t.Helper()
	if err := s.StoreLogs(entries(from, to, term)); err != nil {
		t.Fatal(err)
	}
}

func sameEntry(a, b *raft.Log) bool {
	return a.Index == b.Index && a.Term == b.Term && a.Type == b.Type && bytes.Equal(a.Data, b.Data) &&
		bytes.Equal(a.Extensions, b.Extensions) && a.AppendedAt.Equal(b.AppendedAt)
}

// expect checks that the log is exactly from..to with these terms, in memory and on the disk.
func expect(t *testing.T, s *Store, from, to uint64, term func(uint64) uint64) {
	t.Helper()
	expectNow(t, s, from, to, term)
	s.cache.forget(0, math.MaxUint64)
	expectNow(t, s, from, to, term)
}

func expectNow(t *testing.T, s *Store, from, to uint64, term func(uint64) uint64) {
	t.Helper()
	first, err := s.FirstIndex()
	last, err2 := s.LastIndex()
	if err != nil || err2 != nil || first != from || last != to {
		t.Fatalf("log %d..%d (%v, %v), want %d..%d", first, last, err, err2, from, to)
	}
	for i := from; i <= to && i != 0; i++ {
		var l raft.Log
		if err := s.GetLog(i, &l); err != nil {
			t.Fatal(err)
		}
		if !sameEntry(&l, entry(i, term(i))) {
			t.Fatalf("entry %d: got %+v", i, l)
		}
	}
}

func always(term uint64) func(uint64) uint64 { return func(uint64) uint64 { return term } }

func TestKeepsEverythingOverReopen(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	expect(t, s, 0, 0, nil)
	store(t, s, 1, 40, 1)
	store(t, s, 41, 100, 2)
	if err := s.DeleteRange(1, 10); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteRange(91, 100); err != nil {
		t.Fatal(err)
	}
	if err := s.SetUint64([]byte("CurrentTerm"), 7); err != nil {
		t.Fatal(err)
	}
	if err := s.Set([]byte("LastVoteCand"), []byte("n2")); err != nil {
		t.Fatal(err)
	}
	check := func(s *Store) {
		t.Helper()
		expect(t, s, 11, 90, func(i uint64) uint64 { return 1 + min(i/41, 1) })
		term, err := s.GetUint64([]byte("CurrentTerm"))
		vote, err2 := s.Get([]byte("LastVoteCand"))
		if err != nil || err2 != nil || term != 7 || string(vote) != "n2" {
			t.Fatalf("term %d (%v), vote %q (%v)", term, err, vote, err2)
		}
	}
	check(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check(open(t, dir))
}

func TestMissingThingsAreNotFailures(t *testing.T) {
	s := open(t, t.TempDir())
	var l raft.Log
	if err := s.GetLog(5, &l); err != raft.ErrLogNotFound {
		t.Fatalf("GetLog: %v", err)
	}
	if _, err := s.Get([]byte("nothing")); err != boltdb.ErrKeyNotFound || err.Error() != "not found" {
		t.Fatalf("Get: %v", err)
	}
	if err := s.Set([]byte("~zz"), nil); !errors.Is(err, errReservedKey) {
		t.Fatalf("a key behind the end key: %v", err)
	}
}

// The cache, the replication and the state machine share the entries.
func TestCallersEntriesStayUntouched(t *testing.T) {
	s := open(t, t.TempDir())
	l := entry(1, 1)
	l.Extensions = append(make([]byte, 0, 64), "mine"...)
	before := *l
	behind := l.Extensions[4:64]
	if err := s.StoreLog(l); err != nil {
		t.Fatal(err)
	}
	if &l.Data[0] != &before.Data[0] || len(l.Extensions) != 4 || !bytes.Equal(behind, make([]byte, 60)) {
		t.Fatal("the caller's entry was written to")
	}
	out := raft.Log{Extensions: []byte("old"), Data: []byte("old"), Type: raft.LogNoop}
	if err := s.GetLog(1, &out); err != nil || !sameEntry(&out, l) {
		t.Fatalf("%+v %v", out, err)
	}
}

func TestSecondOpenIsLocked(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	o := quiet(dir, &deaths{})
	o.LockTimeout = 50 * time.Millisecond
	if _, err := Open(o); !errors.Is(err, ErrLocked) {
		t.Fatal(err)
	}
}

func TestClosedStoreAnswersSo(t *testing.T) {
	s := open(t, t.TempDir())
	store(t, s, 1, 3, 1)
	if err := cmp.Or(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	var l raft.Log
	if err := s.GetLog(1, &l); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	if err := s.StoreLog(entry(4, 1)); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}
