package console

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/internal/connlimit"
)

// Failed sign-ins are limited by address: burst at once, then one each pause. Successful ones are not counted.
const (
	failureBurst = 10
	failurePause = 6 * time.Second
	maxAddresses = 10_000
	// coarseCounts is the number of counts for the networks of addresses that have no count of their own.
	coarseCounts = 4096
)

// limiter counts failures of addresses as a debt that time pays back. It forgets no debt: when maxAddresses owe something, the
// failures of others count for their networks, which share a fixed number of counts.
type limiter struct {
	now    func() time.Time
	seed   maphash.Seed
	mu     sync.Mutex
	free   map[string]time.Time // when an address owes nothing
	coarse [coarseCounts]time.Time
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, seed: maphash.MakeSeed(), free: map[string]time.Time{}}
}

// networkOf returns the count of an address's network: of IPv4 the first 16 bits, of IPv6 the first 32.
func (l *limiter) networkOf(host string) *time.Time {
	if addr, err := netip.ParseAddr(host); err == nil {
		bits := 16
		if addr.Is6() {
			bits = 32
		}
		if p, err := addr.Prefix(bits); err == nil {
			host = p.String()
		}
	}
	return &l.coarse[maphash.String(l.seed, host)%coarseCounts]
}

// owed returns the time at which a host owes nothing any more, and whether it has a count of its own. The lock is held.
func (l *limiter) owed(host string) (free time.Time, own bool) {
	if free, own = l.free[host]; own {
		return free, true
	}
	return *l.networkOf(host), false
}

// wait returns the time that an address has to wait for its next try; 0 lets it try.
func (l *limiter) wait(addr string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	free, _ := l.owed(connlimit.HostOf(addr))
	now := l.now()
	if !free.After(now) {
		return 0
	}
	return max(0, free.Sub(now)-(failureBurst-1)*failurePause)
}

// failed counts a failure.
func (l *limiter) failed(addr string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	host, now := connlimit.HostOf(addr), l.now()
	free, own := l.owed(host)
	if !own && len(l.free) >= maxAddresses {
		for host, free := range l.free { // unordered: all that owe nothing go
			if !free.After(now) {
				delete(l.free, host)
			}
		}
	}
	if free.Before(now) {
		free = now
	}
	if free = free.Add(failurePause); own || len(l.free) < maxAddresses {
		l.free[host] = free
		return
	}
	*l.networkOf(host) = free
}
