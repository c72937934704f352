package workflows

import (
	"sync"
	"time"
)

// Webhooks need no token, so the calls of one address in a second are bounded.
const (
	hooksPerSecond = 100
	hookAddresses  = 10_000
)

// bucket counts the calls of one address in the running second.
type bucket struct {
	second int64
	calls  int
}

// limiter counts calls by address. It forgets all addresses when it knows too many.
type limiter struct {
	mu     sync.Mutex
	by     map[string]bucket
	second func() int64
}

var hookLimiter = &limiter{by: map[string]bucket{}, second: func() int64 { return time.Now().Unix() }}

// admit counts a call and reports whether it may be answered.
func (l *limiter) admit(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, b := l.second(), l.by[address]
	if b.second != now {
		b = bucket{second: now}
	}
	b.calls++
	if len(l.by) >= hookAddresses {
		clear(l.by)
	}
	l.by[address] = b
	return b.calls <= hooksPerSecond
}
