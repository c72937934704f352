package slowdisk

import (
	"sync"
	"time"
)

const (
	// Interval is the time between two ticks. What was measured between two ticks counts by its mean, so that one late sync
	// among many quick ones is none, and a disk that stands still now and then is as slow as its syncs are on average.
	Interval = 500 * time.Millisecond
	// slowSync is the mean time of a sync from which on a disk can be slow.
	slowSync = 25 * time.Millisecond
	// slowFor is how long a disk must be slow without interruption before it counts as such.
	slowFor = 2 * time.Second
	// fewestSyncs is the least number of syncs on which a judgement rests.
	fewestSyncs = 3
	// healthyAfter is the time without a slow tick after which a disk is healthy again.
	healthyAfter = 10 * time.Second
	// tellAfter is the time after which a disk that stays slow is told of.
	tellAfter = 10 * time.Second
	// forgetAfter is the age at which what was measured says nothing about now.
	forgetAfter = 5 * time.Second
)

// Times collects the times of calls between two ticks. Any goroutine may note them.
type Times struct {
	mu    sync.Mutex
	total time.Duration
	count int
}

// Note adds the time that a call took.
func (t *Times) Note(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total += took
	t.count++
}

// take returns what was noted since it was called last.
func (t *Times) take() (m Mean) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count > 0 {
		m = Mean{t.total / time.Duration(t.count), t.count}
	}
	t.total, t.count = 0, 0
	return m
}

// Mean is the mean time of Count calls. Nothing is known if Count is 0.
type Mean struct {
	Time  time.Duration
	Count int
}

// streak is a time for which every tick was slow that had something to judge.
type streak struct {
	since, last time.Time
	syncs       int
}

// note adds the judgement of a tick.
func (s *streak) note(now time.Time, syncs Mean, slow bool) {
	if !slow || now.Sub(s.last) > forgetAfter {
		*s = streak{}
	}
	if slow {
		if s.since.IsZero() {
			s.since = now.Add(-syncs.Time)
		}
		s.last = now
		s.syncs += syncs.Count
	}
}

// lasts reports whether the streak is long enough to act on.
func (s *streak) lasts(now time.Time) bool {
	return !s.since.IsZero() && now.Sub(s.since) >= slowFor && s.syncs >= fewestSyncs
}

// Disk judges a node's own disk.
type Disk struct {
	// Appends are the times of the log's appends, each with its sync. Probes are those of the disk probe, which count while
	// nothing is appended.
	Appends, Probes Times

	mu     sync.Mutex
	streak streak
	since  time.Time // zero: healthy
	bad    time.Time // the last slow tick
	told   bool
	last   Mean
}

// Change says that a tick is the first to find a disk slow for long, or healthy again after that.
type Change int

// The changes.
const (
	Unchanged Change = iota
	StaysSlow
	Recovered
)

// Tick judges what was noted since the last tick, and returns it.
func (d *Disk) Tick(now time.Time) (Mean, Change) {
	syncs := d.Appends.take()
	if probes := d.Probes.take(); syncs.Count == 0 {
		syncs = probes
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if syncs.Count > 0 {
		slow := syncs.Time >= slowSync
		d.streak.note(now, syncs, slow)
		d.last = syncs
		if slow {
			d.bad = now
		}
		if d.since.IsZero() && d.streak.lasts(now) {
			d.since = d.streak.since
		}
	}
	switch {
	case d.since.IsZero():
	case now.Sub(d.bad) >= healthyAfter:
		told := d.told
		d.since, d.told = time.Time{}, false
		if told {
			return syncs, Recovered
		}
	case !d.told && now.Sub(d.since) >= tellAfter:
		d.told = true
		return syncs, StaysSlow
	}
	return syncs, Unchanged
}

// Slow reports whether the disk is slow, or was until a few seconds ago.
func (d *Disk) Slow() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.since.IsZero()
}

// SlowSince returns since when the disk has been slow if it stays slow, otherwise the zero time, and the mean time of its last
// syncs.
func (d *Disk) SlowSince() (since time.Time, sync time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.told {
		since = d.since
	}
	return since, d.last.Time
}
