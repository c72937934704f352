package clock

import (
	"math/rand/v2"
	"testing"
	"time"
)

// machine is one machine's clocks, which a test moves.
type machine struct {
	start time.Time
	mono  time.Duration
	set   time.Duration // by how much the wall clock was set
}

func newMachine() *machine { return &machine{start: time.UnixMilli(1_700_000_000_000)} }

func (m *machine) clock() *Clock {
	return New(func() time.Time { return m.start.Add(m.mono) }, func(t time.Time) int64 { return t.Add(m.set).UnixMilli() })
}

// now returns the moment of monotonic time.
func (m *machine) now() time.Time { return m.start.Add(m.mono) }

// wall returns the right time.
func (m *machine) wall() int64 { return m.start.Add(m.mono).UnixMilli() }

// run lets cluster time be read every 10 ms for d.
func (m *machine) run(c *Clock, d time.Duration) int64 {
	for end := m.mono + d; m.mono < end; m.mono += 10 * time.Millisecond {
		c.Peek()
	}
	return c.Peek()
}

// TestClockSetWithinATerm: cluster time goes on when somebody sets the leader's wall clock.
func TestClockSetWithinATerm(t *testing.T) {
	for _, set := range []time.Duration{time.Hour, -time.Hour, 600 * time.Millisecond, -600 * time.Millisecond} {
		m := newMachine()
		c := m.clock()
		c.Open(m.wall()-1000, m.wall(), m.now(), true)
		m.set = set
		if got := m.run(c, time.Minute) - m.wall(); got != 0 {
			t.Errorf("set by %v: %d ms off after a minute", set, got)
		}
	}
}

// TestFirstMedianOfTerm: a term that was opened without a median is set forward by the first one, and by no other.
func TestFirstMedianOfTerm(t *testing.T) {
	m := newMachine()
	c := m.clock()
	c.Open(m.wall()-5000, 0, m.now(), false)
	if got := m.run(c, time.Second) - m.wall(); got != -5000 {
		t.Errorf("without a median: %d ms ahead", got)
	}
	c.SetMedian(m.wall(), m.now(), true)
	if got := c.Peek() - m.wall(); got != 0 {
		t.Errorf("after the first median: %d ms ahead", got)
	}
	c.SetMedian(m.wall()+3000, m.now(), true) // the others' clocks were set
	if got := c.Peek() - m.wall(); got != 0 {
		t.Errorf("after the second: %d ms ahead", got)
	}
	c.SetMedian(0, m.now(), false)
	c.SetMedian(m.wall()+3000, m.now(), true)
	if got := c.Peek() - m.wall(); got != 0 {
		t.Errorf("after one that was unknown for a moment: %d ms ahead", got)
	}
	c.Open(m.wall()+9000, 0, m.now(), false)
	c.SetMedian(m.wall(), m.now(), true)
	if got := c.Peek() - m.wall(); got != 9000 {
		t.Errorf("a term that starts ahead of the median: %d ms ahead", got)
	}
}

// TestMedianThatComesLate: what the median was some time ago says what it is now. A clock that a test owns is set forward by an hour between
// the look at the clocks and the call.
func TestMedianThatComesLate(t *testing.T) {
	for _, late := range []time.Duration{0, 50 * time.Millisecond, time.Hour} {
		m := newMachine()
		c := m.clock()
		median, at := m.wall(), m.now()
		m.mono += late
		c.Open(m.wall()-10, median, at, true)
		if got := c.Peek() - m.wall(); got != 0 {
			t.Errorf("opened %v late: %d ms ahead, want 0", late, got)
		}
		median, at = m.wall(), m.now()
		m.mono += late
		c.SetMedian(median, at, true)
		m.mono += time.Second
		if got := c.Peek() - m.wall(); got != 0 {
			t.Errorf("a median %v late: %d ms ahead after a second, want 0", late, got)
		}
	}
}

// TestClockAheadStandsStill: ahead of the median, time stands still until that has come up; behind, it catches up by at
// most a tenth; without a median it goes on by the monotonic clock. It never goes back.
func TestClockAheadStandsStill(t *testing.T) {
	for _, c := range []struct {
		name        string
		ahead       int64 // of the median, when it is looked at
		known       bool
		after       time.Duration
		want, slack int64
	}{
		{"ahead, at once", 400, true, 100 * time.Millisecond, 300, 0},
		{"ahead, later", 400, true, time.Second, 0, 0},
		{"far ahead", 7300, true, 7 * time.Second, 300, 0},
		{"far ahead, later", 7300, true, 8 * time.Second, 0, 0},
		{"behind, at once", -400, true, time.Second, -300, 2},
		{"behind, later", -400, true, 5 * time.Second, 0, 0},
		{"no majority agrees", 400, false, time.Minute, 400, 0},
	} {
		m := newMachine()
		k := m.clock()
		k.Open(m.wall(), m.wall(), m.now(), true)
		k.SetMedian(m.wall()-c.ahead, m.now(), c.known)
		before, off := k.Peek(), c.ahead
		got := m.run(k, c.after)
		if diff := got - (m.wall() - off); diff < c.want-c.slack || diff > c.want+c.slack {
			t.Errorf("%s: %d ms ahead, want %d", c.name, diff, c.want)
		}
		if got < before {
			t.Errorf("%s: time went back by %d ms", c.name, before-got)
		}
	}
}

// TestLeaderChangesDontAddUp simulates hundreds of leader changes, quick and slow ones, under a leader that proposes and
// reads at any pace, with clocks that differ a little and one that is wrong by an hour. No stamp of a later term may be
// below a time at which a read was placed, and none more than ReadAhead before the median.
func TestLeaderChangesDontAddUp(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		m := newMachine()
		walls := []int64{0, random.Int64N(20), 3_600_000 * (1 - 2*random.Int64N(2))}
		median := func() int64 {
			offset, known := Median(walls, len(walls))
			if !known {
				t.Fatal("the clocks of a majority agree")
			}
			return m.wall() + offset
		}
		var log Ceiling
		var state, placed int64 // the machine's time; the latest read
		log.Applied(1, 0)
		worst := int64(0)
		for term := uint64(2); term < 400; term++ {
			c := m.clock()
			c.Open(log.Floor(), median(), m.now(), true)
			for range random.IntN(30) {
				m.mono += time.Duration(random.IntN(40_000)) * time.Microsecond
				if random.IntN(4) == 0 {
					c.SetMedian(median(), m.now(), true)
				}
				if at, _ := c.ReadTime(); at <= log.Limit() {
					placed = max(placed, at)
				}
				if random.IntN(2) == 0 {
					s := c.Stamp()
					c.Done(s)
					if s < placed {
						t.Fatalf("seed %d, term %d: a read was placed at %d, then an entry at %d", seed, term, placed, s)
					}
					state = max(state, s)
					log.Applied(term, state)
					worst = max(worst, state-median())
				}
			}
			if random.IntN(5) == 0 {
				m.mono += time.Duration(random.IntN(3000)) * time.Millisecond
			}
		}
		if worst > ReadAhead {
			t.Errorf("seed %d: %d ms ahead of the median", seed, worst)
		}
	}
}

// TestCeilingOfSnapshots: a node that has a snapshot alone knows nothing of the entries that led to it, of which the last may have
// allowed reads ahead of its time.
func TestCeilingOfSnapshots(t *testing.T) {
	var restored Ceiling
	restored.Restored(5000)
	if restored.Floor() != 5000+ReadAhead {
		t.Errorf("restored: floor %d, want %d", restored.Floor(), 5000+ReadAhead)
	}
	var none Ceiling
	if none.Floor() != 0 {
		t.Errorf("a new cluster has the floor %d, want 0", none.Floor())
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		offsets []int64
		voters  int
		want    int64
		known   bool
	}{
		{[]int64{0}, 1, 0, true},
		{[]int64{0}, 3, 0, false},
		{[]int64{0, 10}, 3, 0, true},
		{[]int64{0, -10}, 3, -10, true},
		{[]int64{0, 600}, 3, 0, false},
		{[]int64{0, 3_600_000, 3_600_020}, 3, 3_600_000, true},
		{[]int64{0, 5, -3_600_000}, 3, 0, true},
		{[]int64{0, 100, 200}, 3, 100, true},
		{[]int64{0, 600, 1200}, 3, 0, false},
		{[]int64{0, 1, 2, 3, 9999}, 5, 1, true},
	} {
		if got, known := Median(c.offsets, c.voters); known != c.known || known && got != c.want {
			t.Errorf("%v of %d: %d, %v", c.offsets, c.voters, got, known)
		}
	}
}
