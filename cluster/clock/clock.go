package clock

import (
	"slices"
	"sync"
	"time"
)

// SaneOffset is the greatest difference, in milliseconds, between wall clocks that agree.
const SaneOffset = 500

// catchUp is the part by which cluster time runs faster than monotonic time while it is behind the median: a tenth.
const catchUp = 10

// Clock is cluster time while this node leads. It also remembers the stamps of entries in flight, which reads must not
// overtake.
type Clock struct {
	mu   sync.Mutex
	now  func() time.Time      // monotonic
	wall func(time.Time) int64 // what this machine's wall clock shows then, unix ms

	time time.Duration // cluster time when it was read last, since 1970
	at   time.Time     // when that was

	median   time.Duration // the median of the voters' wall clocks, since 1970, at medianAt
	medianAt time.Time
	known    bool // there is a median
	followed bool // there has been one in this term

	inFlight []int64
}

// New returns a clock that has not been opened. now is monotonic time, wall what the wall clock shows at a moment of
// it, in unix milliseconds.
func New(now func() time.Time, wall func(time.Time) int64) *Clock {
	return &Clock{now: now, wall: wall}
}

// Open starts the clock for a term: at floor, the latest time at which a read of an earlier term may have been placed,
// or at the median if that is later and known; see SetMedian. A floor of 0 is a cluster that has no time yet: it starts at this
// machine's wall clock.
func (c *Clock) Open(floor int64, median int64, at time.Time, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	base := floor
	c.at = c.now()
	if floor == 0 {
		base = c.wall(c.at)
	}
	c.time, c.inFlight = ms(base), nil
	c.median, c.medianAt, c.known, c.followed = ms(median), at, known, known
	if known {
		c.time = max(c.time, c.target(c.at))
	}
}

func ms(unix int64) time.Duration { return time.Duration(unix) * time.Millisecond }

// SetMedian says what the median of the voters' wall clocks was at a moment of monotonic time: a caller may be held up before the call,
// and a clock that a test owns may be set forward meanwhile. known is false while no majority of them agrees. The
// first that is known in a term sets the clock forward, as it would have when the term was opened.
func (c *Clock) SetMedian(median int64, at time.Time, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read() // up to now by the former one
	c.median, c.medianAt, c.known = ms(median), at, known
	if known && !c.followed {
		c.time, c.followed = max(c.time, c.target(c.at)), true
	}
}

// target returns the median at a moment; the lock is held.
func (c *Clock) target(t time.Time) time.Duration { return c.median + t.Sub(c.medianAt) }

// read returns cluster time now, in unix milliseconds; the lock is held. It advances with the monotonic clock. Ahead of
// the median it stands still until the median has come up; behind, it runs faster by a tenth.
func (c *Clock) read() int64 {
	t := c.now()
	elapsed := max(t.Sub(c.at), 0)
	next := c.time + elapsed
	if c.known {
		if target := c.target(t); next >= target {
			next = max(c.time, target)
		} else {
			next = min(next+elapsed/catchUp, target)
		}
	}
	c.time, c.at = next, t
	return next.Milliseconds()
}

// Stamp returns the time for an entry that is about to be proposed, in unix milliseconds. Done must be called when the
// entry has been applied or will never be.
func (c *Clock) Stamp() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.read()
	c.inFlight = append(c.inFlight, s)
	return s
}

// Done says that the oldest entry with that stamp is no longer in flight.
func (c *Clock) Done(stamp int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range c.inFlight {
		if s == stamp {
			c.inFlight = append(c.inFlight[:i], c.inFlight[i+1:]...)
			return
		}
	}
}

// ReadTime returns the time for a read whose index is taken afterwards. It is never beyond the stamp of an entry that
// may still be applied: otherwise what a read saw expired could come back. now is the clock's time.
func (c *Clock) ReadTime() (at, now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now = c.read()
	if len(c.inFlight) > 0 {
		return c.inFlight[0], now
	}
	return now, now
}

// AtLeast sets the clock forward to the time of a state that has come from elsewhere, and beyond all reads that may
// have been placed there, as Open does; it never goes back. The clock is open.
func (c *Clock) AtLeast(machine int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.read(); machine > now {
		c.time = ms(machine + ReadAhead)
	}
}

// Peek returns cluster time now, in unix milliseconds, for timers.
func (c *Clock) Peek() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

// ReadAhead is the most by which a read may be placed beyond the log's time, in milliseconds, once time has moved within the term.
const ReadAhead = 50

// Ceiling is the latest time at which a read may have been placed, as far as the applied entries tell. A leader places
// no read above Limit, and a new one starts its clock at Floor, so what a read saw expired never comes back.
//
// The first entry of a term that moves time makes no read-ahead: it starts at the floor, which may be ahead of the wall
// clocks, and reads are placed at that very time until the clocks have come up and a further entry moves time. So
// changes of leader that follow each other quickly don't add up.
type Ceiling struct {
	mu    sync.Mutex
	term  uint64 // of the last entry that has moved time
	clock int64
	moved bool // time has moved a second time in that term
}

// Applied says that an entry of a term has been applied: clock is the state's afterwards.
func (c *Ceiling) Applied(term uint64, clock int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if clock > c.clock {
		c.moved = term == c.term
		c.term, c.clock = term, clock
	}
}

// Restored says that the state comes from a snapshot: nothing is known of the entries that led to it.
func (c *Ceiling) Restored(clock int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock, c.term, c.moved = max(c.clock, clock), 0, true
}

// Limit returns the latest time at which a read may be placed now.
func (c *Ceiling) Limit() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limit()
}

func (c *Ceiling) limit() int64 {
	if c.moved {
		return c.clock + ReadAhead
	}
	return c.clock
}

// Floor returns the time at which a new term starts: no read of an earlier term was placed later. It is 0 while the
// cluster has no time.
func (c *Ceiling) Floor() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clock == 0 {
		return 0
	}
	return c.limit()
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
