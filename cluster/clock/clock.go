// Package clock is the time that a leader writes into the log.
package clock

import (
	"sync"
	"time"

	"trireme/mutant"
)

const (
	// ReadAhead is how far beyond the stamp of the last applied entry a read may be
	// placed, in milliseconds. The bound is in the log, so no later leader goes below
	// what an earlier one has handed out.
	ReadAhead = 200
	// slewPerMille is how fast cluster time may be drawn towards the wall clock.
	slewPerMille = 1
	// SaneOffset is how far apart, in milliseconds, wall clocks may be that agree, and by
	// how much one may be set within a term before it is not used any more.
	SaneOffset = 500
)

// Clock is cluster time while this node leads: a base chosen once a term, then
// monotonic time, drawn slowly towards the wall clock and never stepped. It also
// remembers the stamps of entries under way, which reads must not overtake.
type Clock struct {
	mu       sync.Mutex
	now      func() time.Time      // monotonic
	wall     func(time.Time) int64 // what the wall clock shows then, unix ms
	base     int64                 // cluster time at mark, unix ms
	mark     time.Time
	opened   int64 // the wall clock at mark, unix ms
	trusted  bool  // a majority of the clocks agreed with it
	slewed   time.Time
	offset   int64 // ms added by slewing
	last     int64 // greatest stamp or read time given
	underway []int64
}

// New is a clock that has not been opened. now is monotonic time, wall what the wall
// clock shows at a moment of it, in unix milliseconds.
func New(now func() time.Time, wall func(time.Time) int64) *Clock {
	return &Clock{now: now, wall: wall}
}

// Open starts the clock for a term: at the machine's ceiling, or at the wall clock if
// that is later and can be trusted.
func (c *Clock) Open(machine int64, wall int64, trusted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	base := machine + ReadAhead
	if mutant.Is(mutant.ClockBelowCeiling) {
		base = machine
	}
	if machine == 0 {
		base = wall
	}
	if trusted {
		base = max(base, wall)
	}
	c.base, c.mark, c.offset, c.last, c.underway = base, c.now(), 0, base, nil
	c.slewed, c.opened, c.trusted = c.mark, wall, trusted
}

// read is cluster time now; the lock is held.
func (c *Clock) read() int64 {
	t := c.now()
	elapsed := t.Sub(c.mark).Milliseconds() // monotonic
	v := c.base + elapsed + c.offset
	if since := t.Sub(c.slewed).Milliseconds(); since >= 1000 {
		c.slewed = t
		c.slew(c.wall(t), v, elapsed, since)
	}
	c.last = max(c.last, v)
	return c.last
}

// slew draws cluster time v towards the wall clock, which stands elapsed after mark, by
// what since allows. A wall clock that was not trusted when the term opened, or has been
// set since, is left alone.
func (c *Clock) slew(wall, v, elapsed, since int64) {
	if set := wall - c.opened - elapsed; !c.trusted || set >= SaneOffset || set <= -SaneOffset {
		return
	}
	most := since*slewPerMille/1000 + 1
	switch diff := wall - v; {
	case diff > 1:
		c.offset += min(diff, most)
	case diff < -1:
		c.offset -= min(-diff, most)
	}
}

// Stamp is the time for an entry that is about to be proposed. Done must be called
// when the entry has been applied, or will not be.
func (c *Clock) Stamp() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.read()
	c.underway = append(c.underway, s)
	return s
}

// Done says that the oldest entry with that stamp is no longer under way.
func (c *Clock) Done(stamp int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range c.underway {
		if s == stamp {
			c.underway = append(c.underway[:i], c.underway[i+1:]...)
			return
		}
	}
}

// ReadTime is the time for a read whose index is taken afterwards: never beyond an
// entry that may still be applied with an earlier stamp, or what was seen expired
// could come back. now is what the clock shows.
func (c *Clock) ReadTime() (at, now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now = c.read()
	if mutant.Is(mutant.LocalClock) {
		return c.wall(c.now()), now
	}
	if len(c.underway) > 0 && !mutant.Is(mutant.ReadAheadOfEntries) {
		return c.underway[0], now
	}
	return now, now
}

// AtLeast sets the clock forward behind the time of a state that has come from elsewhere, as Open does; it never goes
// back. The clock is open.
func (c *Clock) AtLeast(machine int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ahead := machine + ReadAhead - c.read(); ahead > ReadAhead {
		c.base += ahead
	}
}

// Peek is cluster time now, for timers.
func (c *Clock) Peek() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}
