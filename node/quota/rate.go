package quota

import (
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

// A bucket is the token bucket of a database on this node: the commands that it may answer at once. It fills with time, up to the
// burst.
type bucket struct {
	level float64
	at    time.Time
}

// maxBuckets is the number of buckets that are kept. Beyond it those that are full go: a new one is full too.
const maxBuckets = 10_000

// Rate takes one request of the rate of a database that this node knows as now. The error is an *Exceeded.
func (m *Meter) Rate(now fsm.Quota) error {
	if now.Rate == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n, fast := m.pour(now, 1, true); n == 0 {
		return fast
	}
	return nil
}

// pour takes n requests out of a database's bucket, or as many as there are. A batch that is all or nothing and larger than the
// burst waits for a full bucket, which it empties. The lock is held.
func (m *Meter) pour(now fsm.Quota, n int64, whole bool) (granted int64, fast *Exceeded) {
	b := m.bucket(now)
	granted = min(n, int64(b.level))
	if whole && granted < n && (n <= now.Burst || int64(b.level) < now.Burst) {
		granted = 0
	}
	missing := float64(min(n, now.Burst)) - b.level
	switch {
	case whole && granted > 0:
		b.level = max(0, b.level-float64(n))
		return n, nil
	case granted == n:
		b.level -= float64(n)
		return n, nil
	}
	b.level -= float64(granted)
	wait := time.Duration(max(missing, 1-b.level) / float64(now.Rate) * float64(time.Second))
	return granted, &Exceeded{Limit: now.Rate, Wait: max(wait, time.Millisecond)}
}

// bucket returns the bucket of a database, filled up to now.
func (m *Meter) bucket(now fsm.Quota) *bucket {
	at := m.now()
	b := m.buckets[now.Database]
	if b == nil {
		if len(m.buckets) >= maxBuckets {
			for id, b := range m.buckets { // unordered: each by itself
				if at.Sub(b.at) >= time.Minute {
					delete(m.buckets, id)
				}
			}
		}
		b = &bucket{level: float64(now.Burst), at: at}
		m.buckets[now.Database] = b
	}
	if past := at.Sub(b.at); past > 0 {
		b.level += past.Seconds() * float64(now.Rate)
		b.at = at
	}
	b.level = min(b.level, float64(now.Burst))
	return b
}
