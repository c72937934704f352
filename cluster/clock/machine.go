package clock

import (
	"sync/atomic"
	"time"
)

var (
	// started is a moment of this process, begins that moment without its monotonic reading.
	started = time.Now()
	begins  = started.Round(0)
	// offset is by how much boottime was ahead of the time since started then.
	offset, counts = sinceBoot(started)

	// slept is the time for which the machine was suspended since started, looked is when that was asked last, in nanoseconds
	// since started.
	slept, looked atomic.Int64
)

const (
	// lookEvery is the interval at which the kernel is asked for how long the machine was suspended.
	lookEvery = 100 * time.Millisecond
	// leastSleep is the shortest suspension that counts.
	leastSleep = 20 * time.Millisecond
)

// Now returns a moment of monotonic time: it advances like time.Now, and by the time for which the machine was suspended,
// where the kernel tells it (Linux). Setting the machine's clock changes nothing, so what it shows may be far from the wall
// clock: see Wall.
func Now() time.Time {
	now := time.Since(started)
	if last := looked.Load(); counts && now-time.Duration(last) >= lookEvery && looked.CompareAndSwap(last, int64(now)) {
		if boot, ok := sinceBoot(started); ok && boot-offset-time.Duration(slept.Load()) >= leastSleep {
			slept.Store(int64(boot - offset))
		}
	}
	return begins.Add(now + time.Duration(slept.Load()))
}

// Wall returns what this machine's wall clock shows, or did, at a moment of Now, in unix milliseconds.
func Wall(t time.Time) int64 {
	for tries := 0; ; tries++ {
		before := Now()
		wall := time.Now()
		if Now().Sub(before) < time.Millisecond || tries == 5 { // nothing kept it between the looks
			return wall.Add(t.Sub(before)).UnixMilli()
		}
	}
}
