package cputime

import "time"

// Meter measures a stretch of code of one goroutine.
type Meter struct {
	began time.Time
	used  time.Duration
}

// Begin starts a measurement.
func Begin() Meter { return Meter{began: time.Now(), used: ofThread()} }

// End is what has passed since Begin, and how much of it the goroutine has used a processor. A goroutine may have changed its
// thread meanwhile, which only long stretches do: then used is at most what has passed, and all of it if the threads' times
// say nothing. So it is where a system tells no thread's time.
func (m Meter) End() (passed, used time.Duration) {
	passed = time.Since(m.began)
	used = ofThread() - m.used
	if used <= 0 || used > passed {
		used = passed
	}
	return passed, used
}
