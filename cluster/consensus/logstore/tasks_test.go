package logstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// handTicks gives the test the ticks of the tasks that run every d.
type handTicks map[time.Duration]chan time.Time

func (ht handTicks) ticks(every time.Duration) (<-chan time.Time, func()) {
	return ht[every], func() {}
}

func TestProbeTriesTheDiskAndTells(t *testing.T) {
	h := handTicks{time.Minute: make(chan time.Time)}
	took := make(chan time.Duration, 1)
	o := quiet(t.TempDir(), &deaths{})
	o.ticks, o.ProbeEvery = h.ticks, time.Minute
	o.Hooks.Probe = func(d time.Duration) { took <- d }
	mustOpen(t, o)
	h[time.Minute] <- time.Now()
	if d := <-took; d <= 0 {
		t.Fatalf("took %v", d)
	}
	if st, err := os.Stat(filepath.Join(o.Dir, probeFile)); err != nil || st.Size() != probeLen {
		t.Fatalf("%v %v", st, err)
	}
}

// A probe that does not return ends a node that has nothing to write.
func TestStuckProbeIsFatal(t *testing.T) {
	h := handTicks{time.Minute: make(chan time.Time), watchEvery: make(chan time.Time)}
	died := make(chan error, 1)
	o := quiet(t.TempDir(), &deaths{})
	o.ticks, o.ProbeEvery, o.Fatal = h.ticks, time.Minute, func(err error) { died <- err }
	pipe := filepath.Join(o.Dir, probeFile)
	if err := syscall.Mkfifo(pipe, 0o600); err != nil { // opening it waits for a reader
		t.Fatal(err)
	}
	var reader *os.File
	t.Cleanup(func() { reader.Close() }) // after the store is closed: the probe may come to the pipe late
	mustOpen(t, o)
	h[time.Minute] <- time.Now()
	defer func() { reader, _ = os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0) }()
	now, late := time.Now(), time.After(time.Minute)
	for { // the probe begins when it has its turn, however many ticks there were
		now = now.Add(watchEvery)
		select {
		case h[watchEvery] <- now:
			continue
		case <-late:
			t.Fatal("nobody noticed")
		case err := <-died:
			if !errors.Is(err, ErrStalled) || !strings.Contains(err.Error(), "probe") {
				t.Fatal(err)
			}
			return
		}
	}
}

func TestScrubFindsADamagedEntry(t *testing.T) {
	d := &deaths{}
	s := mustOpen(t, quiet(t.TempDir(), d))
	store(t, s, 1, 300, 1)
	if err := s.scrub(context.Background()); err != nil || len(d.list()) != 0 {
		t.Fatal(err, d.list())
	}
	hurtEntry(t, s, 200)
	if err := s.scrub(context.Background()); !errors.Is(err, ErrChecksum) || len(d.list()) != 1 {
		t.Fatal(err, d.list())
	}
}

func TestScrubEndsWithItsContext(t *testing.T) {
	s := open(t, t.TempDir())
	store(t, s, 1, 300, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.scrub(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestHooksSeeAppends(t *testing.T) {
	var got []Append
	o := quiet(t.TempDir(), &deaths{})
	o.Hooks.Append = func(a Append) { got = append(got, a) }
	s, f := openFailing(t, o)
	logs := entries(1, 3, 1)
	size := 0
	for _, l := range logs {
		size += len(l.Data) + len(l.Extensions)
	}
	if err := s.StoreLogs(logs); err != nil {
		t.Fatal(err)
	}
	f.fail(writeError(syscall.ENOSPC))
	if err := s.StoreLogs(entries(4, 4, 1)); err == nil {
		t.Fatal("no error")
	}
	if len(got) != 2 || got[0].Entries != 3 || got[0].Bytes != size || got[0].Took <= 0 || got[0].Err != nil || got[1].Err == nil {
		t.Fatalf("%+v", got)
	}
}
