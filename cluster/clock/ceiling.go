package clock

import "sync"

const (
	// ReadAhead is the most by which a read may be placed beyond the log's time, in milliseconds, once time has moved
	// within the term.
	ReadAhead = 50
)

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
