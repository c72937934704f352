package console

import (
	"net"
	"sync"
	"time"
)

// Sign-ins that fail are limited by address: burst at once, then one each pause. Those
// that succeed cost nothing.
const (
	failureBurst = 10
	failurePause = 6 * time.Second
	maxAddresses = 10_000
)

// limiter counts failures of addresses as a debt that time pays back.
type limiter struct {
	now  func() time.Time
	mu   sync.Mutex
	free map[string]time.Time // when an address owes nothing
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, free: map[string]time.Time{}}
}

func hostOf(addr string) string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		return ip.Mask(net.CIDRMask(64, 128)).String() // one network of IPv6 is one caller
	}
	return host
}

// wait is how long an address has to wait for its next try; 0 lets it try.
func (l *limiter) wait(addr string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	free, now := l.free[hostOf(addr)], l.now()
	if !free.After(now) {
		return 0
	}
	return max(0, free.Sub(now)-(failureBurst-1)*failurePause)
}

// failed counts a failure.
func (l *limiter) failed(addr string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if len(l.free) >= maxAddresses {
		for host, free := range l.free { // unordered: all that owe nothing go
			if !free.After(now) {
				delete(l.free, host)
			}
		}
		if len(l.free) >= maxAddresses {
			clear(l.free) // so many at once are no one's slips: start anew rather than grow
		}
	}
	host := hostOf(addr)
	from := l.free[host]
	if from.Before(now) {
		from = now
	}
	l.free[host] = from.Add(failurePause)
}
