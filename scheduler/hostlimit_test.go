package scheduler

import (
	"fmt"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// limit returns the attempts that a host may have at a time, 0 if it isn't held back.
func (hl *hostLimiters) limit(host string, now time.Time) int {
	for _, l := range hl.limits(now) {
		if l.Host == host {
			return l.Most
		}
	}
	return 0
}

func TestHostLimiterHalvesAndRecovers(t *testing.T) {
	p, now := newHostLimiters(80), time.UnixMilli(0)
	p.outcome("ok", true, now)
	if n := len(p.limits(now)); n != 0 {
		t.Fatalf("%d hosts are held back that answer", n)
	}
	for i, want := range []int{40, 20, 20, 20} {
		if p.outcome("weak", false, now); p.limit("weak", now) != want {
			t.Fatalf("after %d attempts without answer: %d, want %d", i+1, p.limit("weak", now), want)
		}
	}
	for range 59 {
		p.outcome("weak", true, now)
	}
	if got := p.limit("weak", now); got != 79 {
		t.Fatalf("after 59 answers: %d", got)
	}
	p.forget(p.limits(now))
	p.outcome("weak", true, now)
	limits := p.limits(now)
	if len(limits) != 1 || limits[0] != (queue.HostLimit{Host: "weak", Most: 80}) {
		t.Fatalf("%v", limits)
	}
	if p.forget(limits); len(p.limits(now)) != 0 {
		t.Fatal("a host with its whole share is still held back")
	}
}

// TestHostLimiterForgetsHosts: what is not heard of has its share again, and there is a bound to the
// hosts that are held back.
func TestHostLimiterForgetsHosts(t *testing.T) {
	p, now := newHostLimiters(8), time.UnixMilli(0)
	p.outcome("weak", false, now)
	if now = now.Add(limitLifetime + time.Second); p.limit("weak", now) != 8 {
		t.Fatalf("%d", p.limit("weak", now))
	}
	for i := range maxLimitedHosts + 10 {
		now = now.Add(time.Second)
		p.outcome(fmt.Sprint("host", i), false, now)
	}
	if len(p.limits(now)) != maxLimitedHosts || p.limit("host9", now) != 0 || p.limit("host10", now) != 4 {
		t.Fatalf("%d hosts, host9 %d, host10 %d", len(p.limits(now)), p.limit("host9", now), p.limit("host10", now))
	}
	if newHostLimiters(1).limit("x", now) != 0 {
		t.Fatal("a new host is held back")
	}
}
