package clock

import (
	"slices"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm/env"
)

// SaneOffset is the greatest difference, in milliseconds, between wall clocks that agree.
const SaneOffset = 500

const (
	// slew is the part by which cluster time runs faster or slower than monotonic time while it is behind or ahead of the
	// median: a tenth.
	slew = 10
	// maxBehind is the most by which cluster time stays behind the median: further behind, it is set forward at once.
	maxBehind = 10 * time.Second
	// Tolerated is the difference from the median up to which a clock shows none, in milliseconds.
	Tolerated = 1000
)

// Clock is cluster time while this node leads. It also remembers the stamps of entries in flight, which reads must not
// overtake.
type Clock struct {
	mu   sync.Mutex
	now  func() time.Time      // monotonic
	show func(time.Time) int64 // what this machine's wall clock shows then, unix ms

	time time.Duration // cluster time when it was read last, since 1970
	wall time.Duration // wall time then: at most time
	at   time.Time     // when that was

	median   time.Duration // the median of the voters' wall clocks, since 1970, at medianAt
	medianAt time.Time
	known    bool // there is a median
	followed bool // there has been one in this term
	split    bool // wall time may stay behind; see Split

	leapt    time.Time // when time went far at once last; zero if it never has in this term
	since    time.Time // since when time differs from the median by more than Tolerated; zero while it does not
	inFlight []env.Time
}

// New returns a clock that has not been opened. now is monotonic time, show what the wall clock shows at a moment of
// it, in unix milliseconds.
func New(now func() time.Time, show func(time.Time) int64) *Clock {
	return &Clock{now: now, show: show}
}

// Open starts the clock for a term: at floor, the latest time at which a read of an earlier term may have been placed,
// or at the median if that is later and known; see SetMedian. A floor of 0 is a cluster that has no time yet: without a
// median it starts at this machine's wall clock.
func (c *Clock) Open(floor env.Time, median int64, at time.Time, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.now()
	if floor == (env.Time{}) && !known {
		floor = env.At(c.show(c.at))
	}
	c.time, c.wall, c.inFlight = ms(floor.Now), ms(floor.Wall), nil
	c.median, c.medianAt, c.known, c.followed = ms(median), at, known, known
	c.since, c.leapt = time.Time{}, time.Time{}
	if known {
		c.follow()
	}
}

// Split says whether the state knows wall time: whether its feature level is env.Files. Below it there is only cluster
// time, which stands still while it is ahead of the median, and is never set forward within a term but by its first median.
func (c *Clock) Split(split bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read()
	c.split = split
}

func ms(unix int64) time.Duration { return time.Duration(unix) * time.Millisecond }

// SetMedian says what the median of the voters' wall clocks was at a moment of monotonic time: a caller may be held up before the call,
// and a clock that a test owns may be set forward meanwhile. known is false while no majority of them agrees. The
// first that is known in a term sets the clock forward, as it would have when the term was opened. It reports by how much cluster
// time was set forward at once.
func (c *Clock) SetMedian(median int64, at time.Time, known bool) (set time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read() // up to now by the former one
	c.median, c.medianAt, c.known = ms(median), at, known
	before := c.time
	if known && !c.followed {
		c.followed = true
		c.follow()
		if c.time-before > maxBehind {
			c.leapt = c.at
		}
	}
	c.read()
	return c.time - before
}

// follow sets the clock forward to the median; the lock is held.
func (c *Clock) follow() {
	target := c.target(c.at)
	c.time = max(c.time, target)
	c.wall = max(c.wall, min(c.time, target))
}

// target returns the median at a moment; the lock is held.
func (c *Clock) target(t time.Time) time.Duration { return c.median + t.Sub(c.medianAt) }

// read brings both times up to now; the lock is held. They advance with the monotonic clock. Cluster time that is ahead of the
// median runs slower by a tenth, behind it faster; far behind it is set forward. Wall time is the median, but never
// beyond cluster time, and never less than it was.
func (c *Clock) read() env.Time {
	t := c.now()
	elapsed := max(t.Sub(c.at), 0)
	if elapsed > maxBehind { // the machine was suspended: time is read more often
		c.leapt = t
	}
	next, wall := c.time+elapsed, c.wall+elapsed
	if c.known {
		wall = c.target(t)
		switch behind := wall - next; {
		case behind > maxBehind && c.split:
			next, c.leapt = wall, t
		case behind > 0:
			next = min(next+elapsed/slew, wall)
		case c.split:
			next = max(next-elapsed/slew, wall)
		default:
			next = max(c.time, wall)
		}
	}
	if !c.split {
		wall = next
	}
	c.time, c.wall, c.at = next, max(c.wall, min(next, wall)), t
	switch off := c.off(); {
	case off <= Tolerated && off >= -Tolerated:
		c.since = time.Time{}
	case c.since.IsZero():
		c.since = t
	}
	return c.times()
}

// times returns both times as they were read last; the lock is held.
func (c *Clock) times() env.Time {
	return env.Time{Now: c.time.Milliseconds(), Wall: c.wall.Milliseconds()}
}

// off returns by how many milliseconds cluster time, as it was read last, is ahead of the median; the lock is held.
func (c *Clock) off() int64 {
	if !c.known {
		return (c.time - c.wall).Milliseconds()
	}
	return (c.time - c.target(c.at)).Milliseconds()
}

// Difference returns by how many milliseconds cluster time is ahead of the median, negative if it is behind, and for how long it
// has differed by more than Tolerated; 0 and 0 if it does not.
func (c *Clock) Difference() (ahead int64, lasts time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read(); c.since.IsZero() {
		return 0, 0
	}
	return c.off(), c.at.Sub(c.since)
}

// Stamp returns the time for an entry that is about to be proposed. Done must be called when the entry has been applied
// or will never be.
func (c *Clock) Stamp() env.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.read()
	c.inFlight = append(c.inFlight, s)
	return s
}

// SetBack returns how many milliseconds the median is behind wall time, as it was read last: the clocks of a majority were set
// back. It is 0 up to ReadAhead, by which times of day may be early.
func (c *Clock) SetBack() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.split || !c.known {
		return 0
	}
	if back := (c.wall - c.target(c.at)).Milliseconds(); back > ReadAhead {
		return back
	}
	return 0
}

// leapFor is for how long entries say that time went far at once: one of them is applied.
const leapFor = 5 * time.Second

// Leapt reports whether time went far at once a moment ago. The senders of attempts have seen little of it.
func (c *Clock) Leapt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.split && !c.leapt.IsZero() && c.at.Sub(c.leapt) < leapFor
}

// Done says that the oldest entry with that stamp, in unix milliseconds of cluster time, is no longer in flight.
func (c *Clock) Done(stamp int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range c.inFlight {
		if s.Now == stamp {
			c.inFlight = append(c.inFlight[:i], c.inFlight[i+1:]...)
			return
		}
	}
}

// ReadTime returns the time for a read whose index is taken afterwards. It is never beyond the stamp of an entry that
// may still be applied: otherwise what a read saw expired could come back. now is the clock's time.
func (c *Clock) ReadTime() (at env.Time, now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at = c.read()
	now = at.Now
	if len(c.inFlight) > 0 {
		at = c.inFlight[0]
	}
	return at, now
}

// AtLeast sets the clock forward to the time of a state that has come from elsewhere, and beyond all reads that may
// have been placed there, as Open does; it never goes back. The clock is open.
func (c *Clock) AtLeast(machine env.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.read(); machine.Now > now.Now {
		c.time = ms(machine.Now + ReadAhead)
	}
	if machine.Wall > c.wall.Milliseconds() {
		c.wall = min(ms(machine.Wall+ReadAhead), c.time)
	}
}

// Peek returns cluster time now, in unix milliseconds, for timers.
func (c *Clock) Peek() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read().Now
}

// ReadAhead is the most by which a read may be placed beyond the log's time, in milliseconds, once time has moved within the term.
const ReadAhead = 50

// Ceiling is the latest time at which a read may have been placed, as far as the applied entries tell. A leader places
// no read above Limit, and a new one starts its clock at Floor, so what a read saw expired never comes back.
//
// The first entry of a term that moves time makes no read-ahead: it starts at the floor, which may be ahead of the wall
// clocks, and reads are placed at that very time until a further entry moves time. Wall time stands there until the clocks
// have come up. So changes of leader that follow each other quickly don't add up.
type Ceiling struct {
	mu    sync.Mutex
	time  coming // of the term that has moved cluster time last
	wall  coming
	since time.Time // since when the log's cluster time is more than Tolerated ahead of its wall time; zero while it is not
}

// coming is one of both times as the log has it.
type coming struct {
	term  uint64 // of the last entry that has moved it
	clock int64
	moved bool // it has moved a second time in that term
}

func (co *coming) applied(term uint64, clock int64) {
	if clock > co.clock {
		co.moved = term == co.term
		co.term, co.clock = term, clock
	}
}

func (co *coming) restored(clock int64) {
	co.clock, co.term, co.moved = max(co.clock, clock), 0, true
}

func (co *coming) limit() int64 {
	if co.moved {
		return co.clock + ReadAhead
	}
	return co.clock
}

// Applied says that an entry of a term has been applied: clock is the state's time afterwards.
func (c *Ceiling) Applied(term uint64, clock env.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time.applied(term, clock.Now)
	c.wall.applied(term, clock.Wall)
	if ahead := c.time.clock - c.wall.clock; ahead <= Tolerated {
		c.since = time.Time{}
	} else if c.since.IsZero() {
		c.since = time.Now()
	}
}

// Difference does what that of a Clock does, as far as the applied entries tell: a node that doesn't lead knows no more.
func (c *Ceiling) Difference() (ahead int64, lasts time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		return 0, 0
	}
	return c.time.clock - c.wall.clock, time.Since(c.since)
}

// Restored says that the state comes from a snapshot: nothing is known of the entries that led to it.
func (c *Ceiling) Restored(clock env.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time.restored(clock.Now)
	c.wall.restored(clock.Wall)
}

// Limit returns the latest time at which a read may be placed now.
func (c *Ceiling) Limit() env.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return env.Time{Now: c.time.limit(), Wall: c.wall.limit()}
}

// Floor returns the time at which a new term starts: no read of an earlier term was placed later. It is 0 while the
// cluster has no time.
func (c *Ceiling) Floor() env.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.time.clock == 0 {
		return env.Time{}
	}
	return env.Time{Now: c.time.limit(), Wall: min(c.wall.limit(), c.time.limit())}
}

// Median returns the median of wall clocks, as offsets in milliseconds from any one of them, of voters servers in all.
// known is false unless a majority of all agrees within SaneOffset: of two clocks that differ either may be right. Of
// an even number it is the lower one: what is due then is never due too early.
func Median(offsets []int64, voters int) (offset int64, known bool) {
	offsets = slices.Sorted(slices.Values(offsets))
	best, from := 0, 0
	for i := range offsets {
		n := 0
		for _, o := range offsets[i:] {
			if o-offsets[i] < SaneOffset {
				n++
			}
		}
		if n > best {
			best, from = n, i
		}
	}
	if best < voters/2+1 {
		return 0, false
	}
	return offsets[from+(best-1)/2], true
}
