package testclock

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Mode selects the movement of a clock.
type Mode string

const (
	Real   Mode = "real"   // as the machine's clock does, plus what it was set forward by
	Frozen Mode = "frozen" // only when it is set
	Auto   Mode = "auto"   // like Frozen; its owner sets it to the next due time when nothing is under way
)

// ParseMode reads a mode.
func ParseMode(text string) (Mode, error) {
	switch m := Mode(text); m {
	case Real, Frozen, Auto:
		return m, nil
	}
	return "", fmt.Errorf("expected real, frozen or auto, got %q", text)
}

// ErrBackwards refuses to set a clock back: what was seen expired must not come back.
var ErrBackwards = errors.New("the clock can't be set back")

// Clock is safe for use by many goroutines.
type Clock struct {
	mu   sync.Mutex
	mode Mode
	base time.Time // what the clock showed at mark
	mark time.Time // a moment of the machine's clock
}

// New is a clock that begins at the machine's time.
func New(m Mode) *Clock {
	now := time.Now()
	return &Clock{mode: m, base: now.Round(0), mark: now}
}

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *Clock) now() time.Time {
	if c.mode == Real {
		return c.base.Add(time.Since(c.mark))
	}
	return c.base
}

// Mode returns the clock's present mode.
func (c *Clock) Mode() Mode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mode
}

// SetMode changes how the clock moves from now on.
func (c *Clock) SetMode(m Mode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base, c.mark, c.mode = c.now(), time.Now(), m
}

// Advance sets the clock forward by d. A negative d is ErrBackwards.
func (c *Clock) Advance(d time.Duration) error {
	if d < 0 {
		return ErrBackwards
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base, c.mark = c.now().Add(d), time.Now()
	return nil
}
