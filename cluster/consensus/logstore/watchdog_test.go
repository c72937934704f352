package logstore

import (
	"errors"
	"sync"
	"testing"
	"time"
)

// clock is a watchdog whose time the test moves.
type clock struct {
	*watchdog
	t   *testing.T
	now time.Time
}

func newClock(t *testing.T, heartbeat time.Duration) (*clock, *gauge, *gauge) {
	w, r := &gauge{}, &gauge{}
	now := time.Unix(1_700_000_000, 0)
	dog := &watchdog{limit: stallLimit(heartbeat), last: now}
	dog.add("write", w)
	dog.add("read", r)
	return &clock{dog, t, now}, w, r
}

// pass lets n ticks pass, step apart, and returns the first complaint's number.
func (c *clock) pass(n int, step time.Duration) int {
	c.t.Helper()
	for i := 1; i <= n; i++ {
		c.now = c.now.Add(step)
		if err := c.tick(c.now); err != nil {
			if !errors.Is(err, ErrStalled) {
				c.t.Fatal(err)
			}
			return i
		}
	}
	return 0
}

func TestWatchdogSeesAStuckWrite(t *testing.T) {
	for _, c := range []struct {
		heartbeat time.Duration
		ticks     int
	}{{50 * time.Millisecond, 20}, {500 * time.Millisecond, 20}, {time.Second, 40}} {
		dog, w, r := newClock(t, c.heartbeat)
		w.enter()
		for i := range c.ticks { // reads go on: they do not count for the write
			r.enter()
			r.leave()
			if got := dog.pass(1, watchEvery); (got != 0) != (i == c.ticks-1) {
				t.Fatalf("heartbeat %v: tick %d: %d", c.heartbeat, i+1, got)
			}
		}
	}
}

func TestWatchdogLetsASlowDiskWork(t *testing.T) {
	dog, w, _ := newClock(t, 500*time.Millisecond)
	w.enter()
	for range 10 { // one more begins before the last one came back
		w.enter()
		if n := dog.pass(19, watchEvery); n != 0 {
			t.Fatalf("complained after %d ticks", n)
		}
		w.leave()
	}
	w.leave()
	if n := dog.pass(100, watchEvery); n != 0 {
		t.Fatalf("complained without a pending call after %d ticks", n)
	}
}

// A process that stood still itself saw no ticks.
func TestWatchdogRestartsAfterAGap(t *testing.T) {
	dog, w, _ := newClock(t, 500*time.Millisecond)
	w.enter()
	if n := dog.pass(19, watchEvery); n != 0 {
		t.Fatal(n)
	}
	if n := dog.pass(1, watchGap+time.Millisecond); n != 0 {
		t.Fatal("the gap was counted")
	}
	if n := dog.pass(30, watchEvery); n != 20 {
		t.Fatalf("complained after %d ticks, want 20", n)
	}
}

// Late ticks count for their nominal time, not for the time that has passed.
func TestWatchdogCountsOnlyTicksItSaw(t *testing.T) {
	dog, w, _ := newClock(t, 500*time.Millisecond)
	w.enter()
	if n := dog.pass(30, 400*time.Millisecond); n != 20 {
		t.Fatalf("complained after %d ticks, want 20", n)
	}
}

// The whole path: a write that does not return ends the process.
func TestStalledStoreIsFatal(t *testing.T) {
	died := make(chan error, 1)
	ticks := make(chan time.Time)
	hold, held := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	o := quiet(t.TempDir(), &deaths{})
	o.Fatal = func(err error) { died <- err }
	o.ticks = func(every time.Duration) (<-chan time.Time, func()) {
		if every == watchEvery {
			return ticks, func() {}
		}
		return nil, func() {}
	}
	o.wrap = func(v stable) stable { return &stalling{stable: v, hold: hold, held: held} }
	s := mustOpen(t, o)
	t.Cleanup(release) // closing waits for what is held
	back := make(chan error)
	go func() { back <- s.Set([]byte("k"), nil) }()
	<-held
	now := time.Now()
	for range 1000 {
		now = now.Add(watchEvery)
		select {
		case ticks <- now:
			continue
		case err := <-died:
			if !errors.Is(err, ErrStalled) {
				t.Fatal(err)
			}
		}
		break
	}
	if err := s.StoreLog(entry(1, 1)); !errors.Is(err, ErrFailed) || !errors.Is(err, ErrStalled) {
		t.Fatal(err)
	}
	release()
	if err := <-back; err != nil {
		t.Fatal(err)
	}
}

// stalling holds what is set under k until hold is closed, and closes held before.
type stalling struct {
	stable
	hold, held chan struct{}
}

func (s *stalling) Set(k, v []byte) error {
	if string(k) == "k" {
		close(s.held)
		<-s.hold
	}
	return s.stable.Set(k, v)
}
