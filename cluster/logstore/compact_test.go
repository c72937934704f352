package logstore

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// mostlyEmpty is a node whose file is large and whose log is short.
func mostlyEmpty(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir)
	for i := uint64(1); i <= 4000; i += 500 {
		store(t, s, i, i+499, 1)
	}
	if err := first(s.DeleteRange(1, 3950), s.SetUint64([]byte("CurrentTerm"), 9), s.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func compacting(dir string, d *deaths) Options {
	o := quiet(dir, d)
	o.Compaction = Compaction{Over: 100 << 10, Below: 0.25}
	return o
}

func TestLargeEmptyFileIsCompactedAtOpen(t *testing.T) {
	dir := mostlyEmpty(t)
	before := fileSize(dbPath(dir))
	if before <= 100<<10 {
		t.Fatalf("the file has only %d bytes", before)
	}
	for range 2 { // the second open finds a small file
		s := mustOpen(t, compacting(dir, &deaths{}))
		expect(t, s, 3951, 4000, always(1))
		if term, err := s.GetUint64([]byte("CurrentTerm")); err != nil || term != 9 {
			t.Fatalf("term %d: %v", term, err)
		}
		store(t, s, 4001, 4001, 1)
		if err := first(s.DeleteRange(4001, 4001), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if after := fileSize(dbPath(dir)); after >= before/2 {
		t.Fatalf("%d bytes before, %d after", before, after)
	}
	if _, err := os.Stat(filepath.Join(dir, compactFile)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("leftover: %v", err)
	}
}

func TestSmallOrFullFileIsLeftAlone(t *testing.T) {
	dir := mostlyEmpty(t)
	for _, c := range []Compaction{{Over: 1 << 30, Below: 1}, {Over: 1, Below: 0.0001}} {
		before, err := os.Stat(dbPath(dir))
		if err != nil {
			t.Fatal(err)
		}
		o := quiet(dir, &deaths{})
		o.Compaction = c
		if err := mustOpen(t, o).Close(); err != nil {
			t.Fatal(err)
		}
		if after, err := os.Stat(dbPath(dir)); err != nil || !os.SameFile(before, after) {
			t.Fatalf("%+v: another file (%v)", c, err)
		}
	}
}

// A crash during a compaction, or while the file was first made, leaves a file
// that nobody may take for the log.
func TestLeftoversAreRemoved(t *testing.T) {
	dir := closedNode(t)
	for _, name := range []string{compactFile, newFile} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half a file"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir)
	if !intact(s) {
		t.Fatal("content changed")
	}
	for _, name := range []string{compactFile, newFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%s is still there: %v", name, err)
		}
	}
}

// A compaction that fails costs the compaction, not the start.
func TestFailedCompactionIsNoReasonNotToStart(t *testing.T) {
	dir := mostlyEmpty(t)
	o := compacting(dir, &deaths{})
	s := &Store{opts: o, path: dbPath(dir)}
	want, err := readTreeOf(s.path)
	if err != nil {
		t.Fatal(err)
	}
	want.last++ // the copy will not be what it should be
	if err := s.copyTo(filepath.Join(dir, compactFile), want); err == nil {
		t.Fatal("a wrong copy passed")
	}
	expect(t, mustOpen(t, o), 3951, 4000, always(1))
}
