package logstore

import (
	"bytes"
	"errors"
	"syscall"
	"testing"

	"github.com/hashicorp/raft"
)

// TestNoFileCanBeOpened: a process that may open no further file stores its term all the same, and an append that needs a segment fails and goes on
// later. The process does not end.
func TestNoFileCanBeOpened(t *testing.T) {
	d := &deaths{}
	s := mustOpen(t, quiet(t.TempDir(), d))
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = 3
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	restore := func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) }
	defer restore()
	if err := s.SetUint64([]byte("CurrentTerm"), 7); err != nil {
		t.Errorf("a term: %v", err)
	}
	index := uint64(1)
	store := func() error {
		return s.StoreLog(&raft.Log{Index: index, Term: 7, Data: bytes.Repeat([]byte("x"), 20<<10)})
	}
	for ; index < 100; index++ {
		if err := store(); errors.Is(err, syscall.EMFILE) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if index == 100 {
		t.Error("100 entries needed no further segment")
	}
	restore()
	if err := store(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if last, err := s.LastIndex(); last != index || err != nil {
		t.Errorf("the log ends at %d, want %d: %v", last, index, err)
	}
	if all := d.list(); len(all) > 0 {
		t.Errorf("the process was to end: %v", all)
	}
}
