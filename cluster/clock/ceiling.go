package clock

import (
	"sync"

	"github.com/trireme-dev/trireme/fsm/env"
)

const (
	// ReadAhead is the most by which a read may be placed beyond the log's time, in milliseconds, once time has moved
	// within the term.
	ReadAhead = 50
	// LegacyReadAhead is the same up to feature level 1, from the first entry of a term on.
	LegacyReadAhead = 200
)

// Ceiling is the latest time at which a read may have been placed, as far as the applied entries tell. A leader places
// no read above Limit, and a new one starts its clock at Floor, so what a read saw expired never comes back.
//
// The first entry of a term that moves time makes no read-ahead: it starts at the floor, which may be ahead of the wall
// clocks, and reads are placed at that very time until the clocks have come up and a further entry moves time. So
// changes of leader that follow each other quickly don't add up.
type Ceiling struct {
	mu    sync.Mutex
	level env.Level
	term  uint64 // of the last entry that has moved time
	clock int64
	moved bool // time has moved a second time in that term
	floor int64
}

// Applied says that an entry of a term has been applied: clock and level are the state's afterwards.
func (c *Ceiling) Applied(term uint64, clock int64, level env.Level) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.level < env.Level2 && level >= env.Level2 { // a leader of an earlier version may have placed reads there
		c.floor, c.moved = max(c.floor, c.clock, clock)+LegacyReadAhead, false
	}
	c.level = level
	if clock > c.clock {
		c.moved = term == c.term
		c.term, c.clock = term, clock
	}
}

// Restored says that the state comes from a snapshot: nothing is known of the entries that led to it.
func (c *Ceiling) Restored(clock int64, level env.Level) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.level, c.clock, c.term, c.moved = level, max(c.clock, clock), 0, true
	if clock > 0 {
		c.floor = c.clock + LegacyReadAhead
	}
}

// Limit returns the latest time at which a read may be placed now.
func (c *Ceiling) Limit() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limit()
}

func (c *Ceiling) limit() int64 {
	switch {
	case c.level < env.Level2:
		return c.clock + LegacyReadAhead
	case c.moved:
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
	return max(c.floor, c.limit())
}
