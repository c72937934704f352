package console

import (
	"fmt"
	"testing"
	"time"
)

// TestLimiterForgetsNobody: an address that has guessed too often waits, however many others guess after it; the memory for them
// is bounded, and those beyond it are limited too, by their network. A network of IPv6 is one caller.
func TestLimiterForgetsNobody(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := newLimiter(func() time.Time { return now })
	guess := func(addr string, times int) {
		for range times {
			l.failed(addr)
		}
	}
	guess("192.0.2.1:5", failureBurst)
	if l.wait("192.0.2.1:6") == 0 || l.wait("192.0.2.2:6") != 0 {
		t.Fatalf("ten guesses: %v for the address, %v for its neighbour", l.wait("192.0.2.1:6"), l.wait("192.0.2.2:6"))
	}
	guess("[2001:db8:1:2::3]:5", failureBurst)
	if l.wait("[2001:db8:1:2:ffff::4]:7") == 0 || l.wait("[2001:db8:1:3::3]:7") != 0 || l.wait("[::ffff:192.0.2.1]:1") == 0 {
		t.Error("a network of IPv6 is not one caller, or a mapped address is another one than its own")
	}
	for i := range 2 * maxAddresses {
		guess(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255), 1)
	}
	if len(l.free) > maxAddresses {
		t.Errorf("%d addresses are kept", len(l.free))
	}
	if l.wait("192.0.2.1:6") == 0 {
		t.Error("an address is forgotten because others came")
	}
	guess("198.51.100.7:1", failureBurst)
	if l.wait("198.51.100.7:1") == 0 {
		t.Error("an address beyond those that are kept is not limited")
	}
	if l.wait("10.200.0.1:1") != 0 && l.wait("203.0.113.9:1") != 0 {
		t.Error("everybody is limited")
	}
	now = now.Add(24 * time.Hour)
	guess("203.0.113.9:1", 1)
	if len(l.free) != 1 || l.wait("198.51.100.7:1") != 0 || l.wait("192.0.2.1:6") != 0 {
		t.Errorf("a day later: %d addresses owe something", len(l.free))
	}
}
