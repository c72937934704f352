package observe

import (
	"sync"
	"time"
)

// quiet is the time for which repetitions of a message are suppressed.
const quiet = 10 * time.Second

// limiterKeys bounds the messages that are remembered.
const limiterKeys = 1024

// limiter allows a message once in each period of quiet and counts the suppressed ones.
type limiter struct {
	now func() time.Time

	mu   sync.Mutex
	seen map[string]*repeat
}

type repeat struct {
	last       time.Time
	suppressed int
}

func newLimiter() *limiter { return &limiter{now: time.Now, seen: map[string]*repeat{}} }

// allow reports whether a message is to be written, and how many like it were not.
func (l *limiter) allow(key string) (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	r := l.seen[key]
	if r == nil {
		if len(l.seen) >= limiterKeys {
			clear(l.seen)
		}
		l.seen[key] = &repeat{last: now}
		return 0, true
	}
	if now.Sub(r.last) < quiet {
		r.suppressed++
		return 0, false
	}
	suppressed = r.suppressed
	*r = repeat{last: now}
	return suppressed, true
}
