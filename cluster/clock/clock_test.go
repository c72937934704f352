package clock

import (
	"testing"
	"time"
)

// wallAndMono is a machine whose clocks a test moves.
type wallAndMono struct {
	start time.Time
	mono  time.Duration
	set   time.Duration // by how much somebody has set the wall clock
}

func (m *wallAndMono) clock() *Clock {
	return &Clock{
		now:  func() time.Time { return m.start.Add(m.mono) },
		wall: func(t time.Time) int64 { return t.Add(m.set).UnixMilli() },
	}
}

// run lets cluster time be read every second for d.
func (m *wallAndMono) run(c *Clock, d time.Duration) int64 {
	for end := m.mono + d; m.mono < end; m.mono += time.Second {
		c.Peek()
	}
	return c.Peek()
}

// TestClockSetWithinATerm: cluster time goes on by the monotonic clock when somebody sets
// the wall clock.
func TestClockSetWithinATerm(t *testing.T) {
	for _, set := range []time.Duration{time.Hour, -time.Hour, 600 * time.Millisecond, -600 * time.Millisecond} {
		m := &wallAndMono{start: time.UnixMilli(1_700_000_000_000)}
		c := m.clock()
		begin := m.start.UnixMilli()
		c.Open(begin-1000, begin, true)
		m.set = set
		if got := m.run(c, time.Minute) - begin; got < 59_990 || got > 60_010 {
			t.Errorf("set by %v: %d ms of cluster time in a minute", set, got)
		}
	}
}

// TestClockIsDrawnToTheWall: a clock that is a little off comes back, slowly, and never
// backwards; one that was not trusted stays.
func TestClockIsDrawnToTheWall(t *testing.T) {
	for _, c := range []struct {
		ahead   int64
		trusted bool
		want    int64
	}{{400, true, 400 - 2*59}, {400, false, 400}, {5000, true, 5000 - 2*59}} {
		m := &wallAndMono{start: time.UnixMilli(1_700_000_000_000)}
		k := m.clock()
		begin := m.start.UnixMilli()
		k.Open(begin+c.ahead-ReadAhead, begin, c.trusted)
		if got := m.run(k, time.Minute) - begin - 60_000; got < c.want-10 || got > c.want+10 {
			t.Errorf("%+v: %d ms ahead after a minute", c, got)
		}
	}
}
