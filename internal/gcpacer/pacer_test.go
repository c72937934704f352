package gcpacer

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

func TestPercent(t *testing.T) {
	const mb, gb = 1 << 20, 1 << 30
	for _, c := range []struct {
		live               uint64
		rate, speed, extra float64
		want               int
	}{
		{0, gb, gb, 0, 400},     // nothing collected yet
		{mb, 0, gb, 0, 400},     // the least room is more than four times a small heap
		{4 * mb, 0, gb, 0, 200}, // the least room of an idle process
		{64 * mb, 0, gb, 0, 25},
		{32 * mb, mb, 64 * gb, 0, 37},      // four seconds of allocations more
		{32 * mb, 8 * mb, 64 * gb, 0, 100}, // the least room of one that allocates
		{gb, 0, gb, 0, 25},                 // idle: the least percent
		{16 * mb, gb, gb, 0, 400},          // a small heap under full load
		{gb, gb, gb, 0, 54},                // 18,000 * sqrt(1 GiB) = 590 MB of room
		{gb, gb, 4 * gb, 0, 27},            // collections that are four times as fast need half of it
		{gb, gb / 4, gb, 0, 27},            // and so does a quarter of the load
		{gb / 4, gb, gb, 0, 109},           // a quarter of the heap needs half the room
		{4 * gb, gb / 16, gb, 0, 25},       // 295 MB of room
		{512 * mb, gb, 64 * gb, 0, 50},     // a quarter of a second of allocations
		{64 * mb, gb / 8, 64 * gb, 0, 200}, // a second of allocations, up to 128 MiB
		{64 * mb, gb / 4, 64 * gb, 0, 200},
		{64 * mb, gb / 16, 64 * gb, 0, 100},
		{gb, 0, gb, gb / 2, 50}, // 8 MiB, and half the heap in addition
		{64 * mb, 0, gb, gb, 400},
	} {
		if got := percent(c.live, c.rate, c.speed, c.extra); got != c.want {
			t.Errorf("live %d, rate %.0f, speed %.0f: %d, want %d", c.live, c.rate, c.speed, got, c.want)
		}
	}
}

// TestObserve holds that the percent rises with load at once, stays for some seconds, and falls after that.
func TestObserve(t *testing.T) {
	p := New()
	now := reading{live: 1 << 30, allocated: 5 << 30}
	if p.observe(now, time.Second, 0) {
		t.Error("a rate was made of one reading")
	}
	look := func(allocated uint64) int {
		now.allocated += allocated
		p.observe(now, time.Second, 0)
		return p.percent
	}
	if got := look(0); got != minPercent {
		t.Errorf("idle: %d", got)
	}
	if got := look(1 << 30); got != 54 {
		t.Errorf("load came: %d", got)
	}
	for i := range hold {
		if got := look(0); got != 54 {
			t.Errorf("%d seconds without load: %d", i+1, got)
		}
	}
	if got := look(0); got < 30 || got > 45 {
		t.Errorf("a second later: %d", got)
	}
	look(1 << 30)
	for range 8 {
		look(0)
	}
	if p.percent > minPercent*(1+2*step) {
		t.Errorf("eight seconds without load: %d", p.percent)
	}
	before := now
	before.allocated--
	if p.observe(before, time.Second, 0) || p.observe(now, 0, 0) {
		t.Error("a reading that makes no rate changed the percent")
	}
}

// TestIdleProcessIsNotWasteful holds that what a load has left is given back once it is over, and that neither a load nor a heap that takes
// long to collect is disturbed.
func TestIdleProcessIsNotWasteful(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		name       string
		live, used uint64
		idle       int
		want       bool
	}{
		{"after load", 60 * mb, 250 * mb, idleAfter, true},
		{"soon after load", 60 * mb, 250 * mb, idleAfter - 2, false},
		{"little is kept", 60 * mb, 105 * mb, idleAfter, false},
		{"a large heap", 4096 * mb, 9000 * mb, idleAfter, false},
	} {
		p := New()
		now := reading{live: c.live, used: c.used}
		p.observe(now, time.Second, 0)
		for range 3 {
			now.allocated += 200 * mb
			if p.observe(now, time.Second, 0); p.wasteful() {
				t.Errorf("%s: under load", c.name)
			}
		}
		for range c.idle {
			now.allocated += mb / 10
			p.observe(now, time.Second, 0)
		}
		if got := p.wasteful(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if p.observe(now, time.Second, 0); p.wasteful() && c.want {
			t.Errorf("%s: again, although nothing was allocated", c.name)
		}
	}
}

// TestSpeed holds that the speed of collections is learned from what they took.
func TestSpeed(t *testing.T) {
	p := New()
	now := reading{live: 1 << 30}
	p.observe(now, time.Second, 0)
	for range 30 { // two collections a second, a sixteenth of a second each
		now.cycles, now.spent, now.allocated = now.cycles+2, now.spent+0.125, now.allocated+1<<30
		p.observe(now, time.Second, 0)
	}
	if want := float64(16 << 30); p.speed < 0.99*want || p.speed > 1.01*want {
		t.Errorf("speed %.0f, want %.0f", p.speed, want)
	}
	if got := percent(1<<30, 1<<30, 1<<30, 0); p.percent >= got/2 {
		t.Errorf("fast collections have %d percent of room, slow ones %d", p.percent, got)
	}
	speed := p.speed
	p.observe(now, time.Second, 0)
	if p.speed != speed {
		t.Errorf("a second without a collection changed the speed from %.0f to %.0f", speed, p.speed)
	}
}

// TestLarge holds that something large has room at once and for a while, as far as the memory limit leaves some.
func TestLarge(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(64 << 30))
	p := New()
	p.Large()
	if p.percent != maxPercent {
		t.Errorf("before anything was read: %d", p.percent)
	}
	now := reading{live: 1 << 30, allocated: 5 << 30, used: 2 << 30}
	p.large = time.Time{}
	p.observe(now, time.Second, 0)
	p.observe(now, time.Second, 0)
	if p.percent != minPercent {
		t.Fatalf("idle: %d", p.percent)
	}
	p.Large()
	if got := debug.SetGCPercent(100); got != 50 || p.percent != got {
		t.Errorf("something large has %d percent, %d are in force, want 50: 8 and 512 MiB", p.percent, got)
	}
	p.Large()
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("the second set the percent again, to %d", got)
	}
	if p.observe(now, time.Second, p.extra(time.Now())); p.percent != 50 {
		t.Errorf("while there is something large: %d", p.percent)
	}
	later := time.Now().Add(largeTime)
	if p.observe(now, time.Second, p.extra(later)); p.percent != minPercent {
		t.Errorf("afterwards: %d", p.percent)
	}
	debug.SetMemoryLimit(2<<30 + 256<<20)
	if got := p.extra(time.Now()); got != 64<<20 {
		t.Errorf("with 256 MiB left: %.0f bytes", got)
	}
	debug.SetMemoryLimit(1 << 30)
	if got := p.extra(time.Now()); got != 0 {
		t.Errorf("above the limit: %.0f bytes", got)
	}
}

// TestRun holds that the runtime knows the metrics and gets the percent.
func TestRun(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	p := New()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Run(ctx)
	if got := debug.SetGCPercent(100); got != maxPercent {
		t.Errorf("the percent at the start is %d", got)
	}
	p.read()
	for i, s := range p.samples {
		want := metrics.KindUint64
		if i == dedicated || i == assist {
			want = metrics.KindFloat64
		}
		if s.Value.Kind() != want {
			t.Errorf("%s is of kind %d, want %d", s.Name, s.Value.Kind(), want)
		}
	}
}
