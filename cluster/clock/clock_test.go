package clock

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/env"
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
		c.Open(env.At(m.wall()-1000), m.wall(), m.now(), true)
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
	c.Open(env.At(m.wall()-5000), 0, m.now(), false)
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
	c.Open(env.At(m.wall()+9000), 0, m.now(), false)
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
		c.Open(env.At(m.wall()-10), median, at, true)
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

// TestClockFollowsTheMedian: ahead of the median, cluster time is slower by a tenth, behind it faster, and far behind it is set forward
// at once. Wall time waits for the median. Without a median both go on by the monotonic clock. Neither goes back.
func TestClockFollowsTheMedian(t *testing.T) {
	const hour = 3_600_000
	for _, c := range []struct {
		name         string
		ahead        int64 // of the median, when it is looked at
		known        bool
		after        time.Duration
		want         int64 // how far cluster time is ahead of the median then
		wall         int64 // the same of wall time
		standing     bool  // below the level env.Files
		slack, grace int64
	}{
		{name: "ahead, at once", ahead: 400, known: true, after: 100 * time.Millisecond, want: 390, wall: 300},
		{name: "ahead, later", ahead: 400, known: true, after: 5 * time.Second},
		{name: "far ahead", ahead: 7300, known: true, after: 7 * time.Second, want: 6600, wall: 300},
		{name: "far ahead, later", ahead: 7300, known: true, after: 8 * time.Second, want: 6500},
		{name: "an hour ahead", ahead: hour, known: true, after: 10 * time.Minute, want: hour - 60_000, wall: hour - 600_000},
		{name: "an hour ahead, an hour later", ahead: hour, known: true, after: time.Hour, want: hour * 9 / 10},
		{name: "an hour ahead, at the end", ahead: hour, known: true, after: 10 * time.Hour},
		{name: "behind, at once", ahead: -400, known: true, after: time.Second, want: -300, wall: -300, slack: 2},
		{name: "behind, later", ahead: -400, known: true, after: 5 * time.Second},
		{name: "almost far behind", ahead: -9_990, known: true, after: time.Second, want: -9_890, wall: -9_890, slack: 2},
		{name: "far behind", ahead: -10_001, known: true},
		{name: "eight hours behind", ahead: -8 * hour, known: true},
		{name: "no majority agrees", ahead: 400, after: time.Minute, want: 400, wall: 400},
		{name: "former level, ahead", ahead: 400, known: true, after: 100 * time.Millisecond, want: 300, wall: 300, standing: true},
		{name: "former level, far behind", ahead: -8 * hour, known: true, after: 10 * time.Second, want: -8*hour + 1000, wall: -8*hour + 1000, standing: true, slack: 2},
	} {
		m := newMachine()
		k := m.clock()
		k.Split(!c.standing)
		k.Open(env.At(m.wall()), m.wall(), m.now(), true)
		before := k.Stamp()
		k.SetMedian(m.wall()-c.ahead, m.now(), c.known)
		m.run(k, c.after)
		got, _ := k.ReadTime()
		got = k.Stamp()
		right := m.wall() - c.ahead
		if diff := got.Now - right; diff < c.want-c.slack || diff > c.want+c.slack {
			t.Errorf("%s: cluster time is %d ms ahead, want %d", c.name, diff, c.want)
		}
		if diff := got.Wall - right; diff < c.wall-c.slack || diff > c.wall+c.slack {
			t.Errorf("%s: wall time is %d ms ahead, want %d", c.name, diff, c.wall)
		}
		if got.Now < before.Now || got.Wall < before.Wall {
			t.Errorf("%s: time went back from %v to %v", c.name, before, got)
		}
	}
}

// TestDifferenceIsTold: a difference of more than a second is told with its age, until it is over.
func TestDifferenceIsTold(t *testing.T) {
	m := newMachine()
	c := m.clock()
	c.Split(true)
	c.Open(env.At(m.wall()), m.wall(), m.now(), true)
	if ahead, lasts := c.Difference(); ahead != 0 || lasts != 0 {
		t.Errorf("right: %d ms ahead for %v", ahead, lasts)
	}
	c.SetMedian(m.wall()-3000, m.now(), true)
	m.run(c, 10*time.Second)
	if ahead, lasts := c.Difference(); ahead != 2000 || lasts != 10*time.Second {
		t.Errorf("3 s ahead, 10 s later: %d ms ahead for %v", ahead, lasts)
	}
	m.run(c, 10*time.Second+100*time.Millisecond)
	if ahead, lasts := c.Difference(); ahead != 0 || lasts != 0 {
		t.Errorf("less than a second ahead: %d ms ahead for %v", ahead, lasts)
	}
	c.SetMedian(m.wall()+5000, m.now(), true)
	m.run(c, time.Second)
	if ahead, lasts := c.Difference(); ahead > -3900 || lasts < time.Second {
		t.Errorf("behind: %d ms ahead for %v", ahead, lasts)
	}
	if set := c.SetMedian(m.wall()+3_600_000, m.now(), true); set < 3_590*time.Second {
		t.Errorf("an hour behind: set forward by %v", set)
	}
}

// TestMachineTime: monotonic time of the machine goes on with that of Go, and the wall clock is found from it.
func TestMachineTime(t *testing.T) {
	was, at := Now(), time.Now()
	for time.Since(at) < 250*time.Millisecond {
		now := Now()
		if now.Before(was) {
			t.Fatalf("went back by %v", was.Sub(now))
		}
		was = now
	}
	if off := Now().Sub(was) - time.Since(at) + 250*time.Millisecond; off.Abs() > time.Second {
		t.Errorf("%v off", off)
	}
	if off := Wall(Now().Add(-time.Hour)) - time.Now().Add(-time.Hour).UnixMilli(); off < -100 || off > 100 {
		t.Errorf("the wall clock of an hour ago: %d ms off", off)
	}
}

// TestLeaderChangesDontAddUp simulates hundreds of leader changes, quick and slow ones, under a leader that proposes and
// reads at any pace, with clocks that differ a little, one that is wrong by an hour, and now and then all set back or forward. No
// stamp of a later term may be below a time at which a read was placed, wall time is never more than ReadAhead before the
// median, and cluster time never stands.
func TestLeaderChangesDontAddUp(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		m := newMachine()
		walls := []int64{0, random.Int64N(20), 3_600_000 * (1 - 2*random.Int64N(2))}
		set := int64(0) // by how much all clocks were set
		median := func() int64 {
			offset, known := Median(walls, len(walls))
			if !known {
				t.Fatal("the clocks of a majority agree")
			}
			return m.wall() + offset + set
		}
		var log Ceiling
		var state, placed env.Time // the machine's time; the latest read
		log.Applied(1, env.Time{})
		latest := int64(0) // that the median has been
		worst := int64(0)
		for term := uint64(2); term < 400; term++ {
			if seed%2 == 1 && random.IntN(20) == 0 {
				set += random.Int64N(60_000) - 30_000
			}
			latest = max(latest, median())
			c := m.clock()
			c.Split(true)
			c.Open(log.Floor(), median(), m.now(), true)
			for range random.IntN(30) {
				m.mono += time.Duration(random.IntN(40_000)) * time.Microsecond
				latest = max(latest, median())
				if random.IntN(4) == 0 {
					c.SetMedian(median(), m.now(), true)
				}
				limit := log.Limit()
				if at, _ := c.ReadTime(); at.Now <= limit.Now {
					placed.Now, placed.Wall = max(placed.Now, at.Now), max(placed.Wall, min(at.Wall, limit.Wall))
				}
				if random.IntN(2) == 0 {
					before := m.mono
					s := c.Stamp()
					c.Done(s.Now)
					if s.Now < placed.Now || s.Wall < placed.Wall {
						t.Fatalf("seed %d, term %d: a read was placed at %v, then an entry at %v", seed, term, placed, s)
					}
					if s.Wall > s.Now {
						t.Fatalf("seed %d, term %d: wall time is ahead: %v", seed, term, s)
					}
					m.mono += 20 * time.Millisecond
					if got := c.Peek() - s.Now; got < 18-1 {
						t.Fatalf("seed %d, term %d: cluster time went by %d ms in %v", seed, term, got, m.mono-before)
					}
					state = env.Time{Now: max(state.Now, s.Now), Wall: max(state.Wall, s.Wall)}
					log.Applied(term, state)
					worst = max(worst, state.Wall-latest)
				}
			}
			if random.IntN(5) == 0 {
				m.mono += time.Duration(random.IntN(3000)) * time.Millisecond
			}
		}
		if worst > ReadAhead {
			t.Errorf("seed %d: wall time was %d ms ahead of the median", seed, worst)
		}
	}
}

// TestCeilingOfSnapshots: a node that has a snapshot alone knows nothing of the entries that led to it, of which the last may have
// allowed reads ahead of its time.
func TestCeilingOfSnapshots(t *testing.T) {
	var restored Ceiling
	restored.Restored(env.At(5000))
	if restored.Floor() != env.At(5000+ReadAhead) {
		t.Errorf("restored: floor %v, want %d", restored.Floor(), 5000+ReadAhead)
	}
	var none Ceiling
	if none.Floor() != (env.Time{}) {
		t.Errorf("a new cluster has the floor %v, want none", none.Floor())
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
