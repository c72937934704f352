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
		live uint64
		rate float64
		want int
	}{
		{0, gb, 400},          // nothing collected yet
		{4 * mb, 0, 400},      // the least room is more than four times a small heap
		{64 * mb, 0, 50},      // the least room
		{gb, 0, 25},           // idle: the least percent
		{40 * mb, gb, 400},    // a small heap under full load
		{256 * mb, gb, 400},   // 2 * sqrt(256 MB * 1 GB) = 1 GB
		{gb, gb, 200},         // 2 GB of room
		{4 * gb, gb, 100},     // 4 GB of room
		{4 * gb, gb / 16, 25}, // 1 GB of room
	} {
		if got := percent(c.live, c.rate); got != c.want {
			t.Errorf("live %d, rate %.0f: %d, want %d", c.live, c.rate, got, c.want)
		}
	}
}

// TestObserve holds that the percent rises with load at once and falls slowly after it.
func TestObserve(t *testing.T) {
	p := New()
	const live = 1 << 30
	total := uint64(5 << 30)
	if p.observe(live, total, time.Second) {
		t.Error("a rate was made of one reading")
	}
	look := func(allocated uint64) int {
		total += allocated
		p.observe(live, total, time.Second)
		return p.percent
	}
	if got := look(0); got != minPercent {
		t.Errorf("idle: %d", got)
	}
	if got := look(1 << 30); got != 200 {
		t.Errorf("load came: %d", got)
	}
	if got := look(0); got < 180 {
		t.Errorf("one second without load: %d", got)
	}
	for range 120 {
		look(0)
	}
	if p.percent > minPercent*(1+2*step) {
		t.Errorf("two minutes without load: %d", p.percent)
	}
	if p.observe(live, total-1, time.Second) || p.observe(live, total, 0) {
		t.Error("a reading that makes no rate changed the percent")
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
	metrics.Read(p.samples)
	for _, s := range p.samples {
		if s.Value.Kind() != metrics.KindUint64 {
			t.Errorf("%s is not known to this runtime", s.Name)
		}
	}
}
