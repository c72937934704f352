package logstore

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore/wal"
)

// failing makes writes of the database and of the log's files fail on demand.
type failing struct {
	stable
	mu   sync.Mutex
	next []error // of the next writes and syncs; nil entries succeed
	// written counts the bytes that were written to the log's files.
	written int64
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

func (f *failing) Set(k, v []byte) error {
	if err := f.fault(); err != nil {
		return err
	}
	return f.stable.Set(k, v)
}

// failingFile is a file of the log.
type failingFile struct {
	wal.File
	f *failing
}

// WriteParts writes everything, and then says that it has not.
func (ff failingFile) WriteParts(parts [][]byte, at int64) error {
	if err := ff.File.WriteParts(parts, at); err != nil {
		return err
	}
	ff.f.mu.Lock()
	for _, p := range parts {
		ff.f.written += int64(len(p))
	}
	ff.f.mu.Unlock()
	err := ff.f.fault()
	if _, bare := err.(syscall.Errno); bare { // of the sync that follows
		ff.f.mu.Lock()
		ff.f.next = append([]error{err}, ff.f.next...)
		ff.f.mu.Unlock()
		return nil
	}
	return err
}

func (ff failingFile) Datasync() error {
	ff.f.mu.Lock()
	defer ff.f.mu.Unlock()
	if len(ff.f.next) > 0 {
		if _, bare := ff.f.next[0].(syscall.Errno); bare {
			err := ff.f.next[0]
			ff.f.next = ff.f.next[1:]
			return err
		}
	}
	return ff.File.Datasync()
}

func openFailing(t *testing.T, o Options) (*Store, *failing) {
	t.Helper()
	f := &failing{}
	o.wrap = func(v stable) stable { f.stable = v; return f }
	o.wrapFile = func(w wal.File) wal.File { return failingFile{w, f} }
	return mustOpen(t, o), f
}

func writeError(errno syscall.Errno) error {
	return &os.PathError{Op: "write", Path: "raft.db", Err: errno}
}

// TestFailedAppendIsNotServed: the remains of a failed append are neither served nor kept.
func TestFailedAppendIsNotServed(t *testing.T) {
	dir, d := t.TempDir(), &deaths{}
	s, f := openFailing(t, quiet(dir, d))
	store(t, s, 1, 10, 1)
	f.fail(writeError(syscall.ENOSPC))
	if err := s.StoreLogs(entries(11, 30, 1)); !errors.Is(err, ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
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

// TestFailedAppendThenOneThatStartsLower: a new leader may overwrite from below the failed append.
func TestFailedAppendThenOneThatStartsLower(t *testing.T) {
	s, f := openFailing(t, quiet(t.TempDir(), &deaths{}))
	store(t, s, 1, 10, 1)
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
		"write EIO":        {writeError(syscall.EIO), true},
		"write EROFS":      {writeError(syscall.EROFS), true},
		"sync EIO":         {syscall.EIO, true},
		"sync ENOSPC":      {syscall.ENOSPC, true},
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

// TestWhichErrorsOfTheDatabaseAreFatal: bbolt tells some errors as text only.
func TestWhichErrorsOfTheDatabaseAreFatal(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		fatal bool
	}{
		"grow ENOSPC":      {errors.New("file resize error: truncate raft.db: " + syscall.ENOSPC.Error()), false},
		"grow sync EIO":    {errors.New("file sync error: sync raft.db: " + syscall.EIO.Error()), true},
		"grow sync ENOSPC": {errors.New("file sync error: sync raft.db: " + syscall.ENOSPC.Error()), true},
	} {
		t.Run(name, func(t *testing.T) {
			d := &deaths{}
			s, f := openFailing(t, quiet(t.TempDir(), d))
			f.fail(c.err)
			if err := s.SetUint64([]byte("CurrentTerm"), 3); err == nil || errors.Is(err, ErrNoSpace) == c.fatal {
				t.Fatal(err)
			}
			if all := d.list(); c.fatal != (len(all) == 1) {
				t.Fatalf("fatal: %v", all)
			}
		})
	}
}

// TestLastRecordIsWrittenAgainAfterAnUncleanEnd: whole, before Open returns; after an orderly end nothing is.
func TestLastRecordIsWrittenAgainAfterAnUncleanEnd(t *testing.T) {
	dir, d := t.TempDir(), &deaths{}
	s, f := openFailing(t, quiet(dir, d))
	store(t, s, 1, 50, 1)
	had := f.written
	store(t, s, 51, 57, 1)
	last := f.written - had
	f.fail(syscall.EIO)
	if err := s.Set([]byte("k"), nil); !errors.Is(err, syscall.EIO) || len(d.list()) != 1 {
		t.Fatal(err, d.list())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{last, 0} {
		s, f = openFailing(t, quiet(dir, &deaths{}))
		if f.written != want {
			t.Fatalf("start %d wrote %d bytes, want %d", i, f.written, want)
		}
		expect(t, s, 1, 57, always(1))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPanicOfTheDatabaseEndsTheProcess: it ends with a reason, not with a stack.
func TestPanicOfTheDatabaseEndsTheProcess(t *testing.T) {
	d := &deaths{}
	o := quiet(t.TempDir(), d)
	o.wrap = func(v stable) stable { return &panicking{v} }
	s := mustOpen(t, o)
	if err := s.Set([]byte("k"), nil); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
	if len(d.list()) != 1 {
		t.Fatal(d.list())
	}
}

type panicking struct{ stable }

func (p *panicking) Set([]byte, []byte) error { panic("page 7: not a leaf") }
