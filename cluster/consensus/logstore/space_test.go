package logstore

import (
	"bytes"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// disk is a data directory whose free space the test sets.
type disk struct {
	free uint64
	said bytes.Buffer // its log
	*space
}

func newDisk(t *testing.T, opts Space) *disk {
	d := &disk{free: 1000}
	opts.Statfs = func(string) (uint64, uint64, error) { return d.free, 1000, nil }
	dir := t.TempDir()
	d.space = &space{opts: opts.withDefaults(), dir: dir, log: slog.New(slog.NewTextHandler(&d.said, nil)),
		reserve: &reserve{path: filepath.Join(dir, reserveFile), size: opts.Reserve}}
	return d
}

// at checks whether writes are refused with so much space free.
func (d *disk) at(t *testing.T, free uint64, refused bool) {
	t.Helper()
	d.free = free
	if err := d.check(); err != nil {
		t.Fatal(err)
	}
	if got := d.low.Load(); got != refused {
		t.Fatalf("%d free: writes are refused: %v, want %v", free, got, refused)
	}
}

func TestLevelsOfSpace(t *testing.T) {
	d := newDisk(t, Space{Reserve: -1})
	d.at(t, 1000, false)
	d.at(t, 199, false)
	d.at(t, 50, false)
	d.at(t, 49, true)
	d.at(t, 54, true) // not yet a tenth above the floor
	d.at(t, 55, false)
	d.at(t, 50, false)
	d.at(t, 200, false)
	said := d.said.String()
	if low, ok := strings.Index(said, "refuses writes"), strings.Index(said, "writes are accepted"); low < 0 || ok < low || strings.Count(said, "\n") != 2 {
		t.Fatalf("it says %q, want that writes are refused, and then that they are accepted", said)
	}
}

func TestFloorInBytes(t *testing.T) {
	d := newDisk(t, Space{Reserve: -1, Floor: Floor{Bytes: 200}})
	d.at(t, 799, false)
	d.at(t, 199, true)
	d.at(t, 800, false)
}

func TestReserveIsSpentAndComesBack(t *testing.T) {
	d := newDisk(t, Space{Reserve: 200})
	d.at(t, 1000, false)
	if !d.reserve.held() {
		t.Fatal("no reserve")
	}
	if !d.releaseReserve() || d.reserve.held() || d.releaseReserve() {
		t.Fatal("the reserve was not released, or twice")
	}
	d.at(t, 240, true) // above the floor, but not with the reserve
	d.at(t, 254, true)
	d.at(t, 255, false)
	if !d.reserve.held() {
		t.Fatal("the reserve is not back")
	}
}

// A start on a disk where the reserve was spent doesn't take what that left for room to write.
func TestSpentReserveStaysSpent(t *testing.T) {
	free := uint64(1000)
	o := quiet(t.TempDir(), &deaths{})
	o.Space = Space{Reserve: 200, Statfs: func(string) (uint64, uint64, error) { return free, 1000, nil }}
	s := mustOpen(t, o)
	if err := s.Accepting(); err != nil {
		t.Fatal(err)
	}
	if !s.space.releaseReserve() {
		t.Fatal("there was no reserve")
	}
	free = 240 // the floor is 50
	if err := errors.Join(s.space.check(), s.Close()); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	o.Logger = slog.New(slog.NewTextHandler(&said, nil))
	s = mustOpen(t, o)
	if !strings.Contains(said.String(), "refuses writes") || !strings.Contains(said.String(), "free_bytes=240 needed_bytes=255") {
		t.Errorf("it says %q", said.String())
	}
	if err := s.Accepting(); !errors.Is(err, ErrLowSpace) || !strings.Contains(err.Error(), "has 240 of 1000 bytes free; at least 255 must be free") {
		t.Fatalf("after a restart: %v", err)
	}
	free = 255
	if err := s.space.check(); err != nil || s.Accepting() != nil || !s.space.reserve.held() {
		t.Fatalf("with room again: %v %v", err, s.Accepting())
	}
}

func TestFloorOfADisk(t *testing.T) {
	for _, c := range []struct {
		floor       Floor
		total, want uint64
	}{
		{Floor{}, 1000, 50},
		{Floor{}, 160 << 30, 8 << 30},
		{Floor{}, 4 << 40, 8 << 30},
		{Floor{Share: 0.05}, 4 << 40, (4 << 40) / 20},
		{Floor{Share: 0.5}, 1000, 500},
		{Floor{Bytes: 7, Share: 0.5}, 1000, 7},
	} {
		if got, alarm := c.floor.Of(c.total), c.floor.Alarm(c.total); got != c.want || alarm != 4*c.want {
			t.Errorf("%+v of %d: %d and %d, want %d", c.floor, c.total, got, alarm, c.want)
		}
	}
}

// The reserve is worth nothing if the file system only promises its blocks.
func TestReserveHasRealBlocks(t *testing.T) {
	r := &reserve{path: filepath.Join(t.TempDir(), reserveFile), size: 3 << 20}
	if err := r.make(); err != nil {
		t.Fatal(err)
	}
	var st syscall.Stat_t
	if err := syscall.Stat(r.path, &st); err != nil || st.Blocks*512 < r.size {
		t.Fatalf("%d blocks: %v", st.Blocks, err)
	}
	if err := syscall.Truncate(r.path, 1<<20); err != nil || r.held() {
		t.Fatalf("a shorter file is taken for the reserve (%v)", err)
	}
}

func TestStoreRefusesBelowTheFloor(t *testing.T) {
	free := uint64(1000)
	o := quiet(t.TempDir(), &deaths{})
	o.Space = Space{Reserve: -1, Statfs: func(string) (uint64, uint64, error) { return free, 1000, nil }}
	s := mustOpen(t, o)
	if err := s.Accepting(); err != nil {
		t.Fatal(err)
	}
	free = 10
	if err := s.space.check(); err != nil {
		t.Fatal(err)
	}
	if err := s.Accepting(); !errors.Is(err, ErrLowSpace) {
		t.Fatal(err)
	}
	store(t, s, 1, 3, 1) // what others replicate is still stored
	if last, err := s.LastIndex(); last != 3 || err != nil {
		t.Fatalf("the log ends at %d, want 3: %v", last, err)
	}
	if at := s.space; at.free.Load() != 10 || at.total.Load() != 1000 || !at.low.Load() {
		t.Fatalf("%d of %d bytes are free, writes are refused: %v", at.free.Load(), at.total.Load(), at.low.Load())
	}
}
