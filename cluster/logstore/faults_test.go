package logstore

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/hashicorp/raft"
)

// failing is a backend whose writes fail on demand. visible makes a failed
// append visible all the same, as bbolt does when the sync of its meta record
// fails.
type failing struct {
	backend
	mu      sync.Mutex
	next    []error // of the next writes; nil entries succeed
	visible bool
	stored  [][]*raft.Log
}

func (f *failing) fault() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.next) == 0 {
		return nil
	}
	err := f.next[0]
	f.next = f.next[1:]
	return err
}

func (f *failing) fail(errs ...error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = errs
}

func (f *failing) StoreLogs(logs []*raft.Log) error {
	err := f.fault()
	if err == nil || f.visible {
		if serr := f.backend.StoreLogs(logs); serr != nil {
			return serr
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stored = append(f.stored, append([]*raft.Log(nil), logs...))
	return err
}

func (f *failing) Set(k, v []byte) error {
	if err := f.fault(); err != nil {
		return err
	}
	return f.backend.Set(k, v)
}

func (f *failing) DeleteRange(from, to uint64) error {
	if err := f.fault(); err != nil {
		return err
	}
	return f.backend.DeleteRange(from, to)
}

func openFailing(t *testing.T, o Options) (*Store, *failing) {
	t.Helper()
	f := &failing{}
	o.wrap = func(b backend) backend { f.backend = b; return f }
	o.Journal = -1 // faults of the database reach the caller at once
	return mustOpen(t, o), f
}

func writeError(errno syscall.Errno) error {
	return &os.PathError{Op: "write", Path: "raft.db", Err: errno}
}

// Rule 4: what a failed append left behind is neither served nor kept.
func TestFailedAppendIsDeletedBeforeTheNext(t *testing.T) {
	dir, d := t.TempDir(), &deaths{}
	s, f := openFailing(t, quiet(dir, d))
	store(t, s, 1, 10, 1)
	f.visible = true
	f.fail(writeError(syscall.ENOSPC))
	if err := s.StoreLogs(entries(11, 30, 1)); !errors.Is(err, ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if last, _ := f.backend.LastIndex(); last != 30 {
		t.Fatalf("the fault was not as meant: last %d", last)
	}
	expect(t, s, 1, 10, always(1))
	var l raft.Log
	if err := s.GetLog(11, &l); err != raft.ErrLogNotFound {
		t.Fatal(err)
	}
	store(t, s, 11, 13, 2)
	want := func(i uint64) uint64 { return 1 + min(i/11, 1) }
	expect(t, s, 1, 13, want)
	if len(d.list()) != 0 {
		t.Fatal(d.list())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	expect(t, open(t, dir), 1, 13, want)
}

// A new leader may overwrite from below the failed append.
func TestFailedAppendThenOneThatStartsLower(t *testing.T) {
	s, f := openFailing(t, quiet(t.TempDir(), &deaths{}))
	store(t, s, 1, 10, 1)
	f.visible = true
	f.fail(writeError(syscall.ENOSPC))
	if err := s.StoreLogs(entries(11, 20, 1)); err == nil {
		t.Fatal("no error")
	}
	if err := s.DeleteRange(8, 10); err != nil {
		t.Fatal(err)
	}
	store(t, s, 8, 9, 3)
	expect(t, s, 1, 9, func(i uint64) uint64 { return 1 + min(i/8, 1)*2 })
}

// Rule 5: which errors end the process.
func TestWhichErrorsAreFatal(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		fatal bool
	}{
		"write ENOSPC":     {writeError(syscall.ENOSPC), false},
		"write EDQUOT":     {writeError(syscall.EDQUOT), false},
		"grow ENOSPC":      {errors.New("file resize error: truncate raft.db: " + syscall.ENOSPC.Error()), false},
		"write EIO":        {writeError(syscall.EIO), true},
		"write EROFS":      {writeError(syscall.EROFS), true},
		"sync EIO":         {syscall.EIO, true},
		"sync ENOSPC":      {syscall.ENOSPC, true},
		"grow sync EIO":    {errors.New("file sync error: sync raft.db: " + syscall.EIO.Error()), true},
		"grow sync ENOSPC": {errors.New("file sync error: sync raft.db: " + syscall.ENOSPC.Error()), true},
		"mark sync ENOSPC": {&os.PathError{Op: "sync", Path: "raft.mark", Err: syscall.ENOSPC}, true},
		"unknown":          {errors.New("database not open"), true},
	} {
		t.Run(name, func(t *testing.T) {
			dir, d := t.TempDir(), &deaths{}
			s, f := openFailing(t, quiet(dir, d))
			store(t, s, 1, 5, 1)
			f.fail(c.err)
			err := s.StoreLogs(entries(6, 7, 1))
			if err == nil || errors.Is(err, ErrNoSpace) == c.fatal {
				t.Fatal(err)
			}
			if all := d.list(); c.fatal != (len(all) == 1) {
				t.Fatalf("fatal: %v", all)
			}
			err = s.StoreLogs(entries(6, 8, 1))
			if c.fatal && (!errors.Is(err, ErrFailed) || len(d.list()) != 1) || !c.fatal && err != nil {
				t.Fatalf("the next append: %v, fatal %v", err, d.list())
			}
		})
	}
}

// Raft panics when it cannot store its term, so a full disk costs the reserve.
func TestStableValueUsesTheReserve(t *testing.T) {
	d := &deaths{}
	o := quiet(t.TempDir(), d)
	o.Space.Reserve = 1 << 20
	s, f := openFailing(t, o)
	path := filepath.Join(o.Dir, reserveFile)
	if st, err := os.Stat(path); err != nil || st.Size() != 1<<20 {
		t.Fatalf("no reserve: %v", err)
	}
	f.fail(writeError(syscall.ENOSPC))
	if err := s.SetUint64([]byte("CurrentTerm"), 3); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the reserve is still there: %v", err)
	}
	if err := s.Accepting(); !errors.Is(err, ErrLowSpace) {
		t.Fatal(err)
	}
	if err := s.space.check(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil || s.Accepting() != nil {
		t.Fatalf("the reserve is not back: %v, %v", err, s.Accepting())
	}
	f.fail(writeError(syscall.ENOSPC), writeError(syscall.ENOSPC))
	if err := s.SetUint64([]byte("CurrentTerm"), 4); !errors.Is(err, ErrNoSpace) {
		t.Fatal(err)
	}
}

// After an unclean end the last batch is stored again, whole, before Open
// returns; after an orderly one nothing is.
func TestLastBatchIsStoredAgainAfterAnUncleanEnd(t *testing.T) {
	dir, d := t.TempDir(), &deaths{}
	s, f := openFailing(t, quiet(dir, d))
	store(t, s, 1, 50, 1)
	store(t, s, 51, 57, 1)
	f.fail(syscall.EIO)
	if err := s.StoreLogs(entries(58, 59, 1)); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{7, 0} {
		s, f = openFailing(t, quiet(dir, &deaths{}))
		got := 0
		for _, b := range f.stored {
			got += len(b)
		}
		if got != want {
			t.Fatalf("open %d stored %d entries, want %d", i, got, want)
		}
		expect(t, s, 1, 57, always(1))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPanicOfTheDatabaseEndsTheProcess(t *testing.T) {
	d := &deaths{}
	o := quiet(t.TempDir(), d)
	o.wrap = func(b backend) backend { return &panicking{backend: b} }
	o.Journal = -1
	s := mustOpen(t, o)
	if err := s.StoreLog(entry(1, 1)); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
	if len(d.list()) != 1 {
		t.Fatal(d.list())
	}
}

type panicking struct{ backend }

func (p *panicking) StoreLogs([]*raft.Log) error { panic("page 7: not a leaf") }
