package slowdisk

import (
	"slices"
	"testing"
	"time"
)

// node is a leader with its disk, at a time of the test's own.
type node struct {
	Disk
	Leader
	now    time.Time
	others []string
	term   uint64
}

func newNode(others ...string) *node {
	n := &node{now: time.Unix(1000, 0), others: others, term: 1}
	n.run(settle, time.Millisecond, nil) // of its first term
	return n
}

// tick lets one Interval pass in which the leader's syncs take own, and the answers of the others what is given, a millisecond
// without. It returns whom leadership may go to.
func (n *node) tick(own time.Duration, answers map[string]time.Duration) []string {
	for spent := time.Duration(0); spent < Interval; spent += max(own, 10*time.Millisecond) {
		if own == 0 {
			break
		}
		n.Appends.Note(own)
		for _, id := range n.others {
			took, given := answers[id]
			if !given {
				took = time.Millisecond
			}
			if took > 0 {
				n.Answered(id, took)
			}
		}
	}
	n.now = n.now.Add(Interval)
	mean, _ := n.Tick(n.now)
	return n.Judge(n.now, n.term, mean, n.others)
}

// run ticks for d, or until leadership may go. It returns whom to, and after which time.
func (n *node) run(d, own time.Duration, answers map[string]time.Duration) (to []string, after time.Duration) {
	for began := n.now; n.now.Sub(began) < d; {
		if to := n.tick(own, answers); len(to) > 0 {
			return to, n.now.Sub(began)
		}
	}
	return nil, d
}

// TestSlowLeaderGivesWay: after two seconds, to any of the others.
func TestSlowLeaderGivesWay(t *testing.T) {
	n := newNode("n2", "n3")
	if to, _ := n.run(time.Minute, time.Millisecond, nil); to != nil {
		t.Fatalf("a quick leader gives way to %v", to)
	}
	to, after := n.run(time.Minute, 200*time.Millisecond, nil)
	if !slices.Equal(to, []string{"n2", "n3"}) || after > 3*time.Second || after < slowFor-200*time.Millisecond {
		t.Errorf("gave way to %v after %v, want n2 and n3 after 2 s", to, after)
	}
}

// TestLeaderStays: giving way would not help, or the disk is not slow for long enough.
func TestLeaderStays(t *testing.T) {
	const slow = 200 * time.Millisecond
	for name, c := range map[string]struct {
		own     time.Duration
		answers map[string]time.Duration
		others  []string
	}{
		"all disks are slow":                  {slow, map[string]time.Duration{"n2": slow, "n3": slow}, nil},
		"one follower is slow too":            {slow, map[string]time.Duration{"n3": slow}, nil},
		"one follower says nothing":           {slow, map[string]time.Duration{"n3": 0}, nil},
		"four times slower":                   {slow, map[string]time.Duration{"n2": slow / 4, "n3": slow / 4}, nil},
		"a quick disk beside quicker ones":    {20 * time.Millisecond, map[string]time.Duration{"n2": 100 * time.Microsecond, "n3": 100 * time.Microsecond}, nil},
		"two voters, both of which are asked": {slow, nil, []string{"n2"}},
		"three of five are slow":              {slow, map[string]time.Duration{"n2": slow, "n3": slow}, []string{"n2", "n3", "n4", "n5"}},
		"alone":                               {slow, nil, []string{}},
	} {
		n := newNode("n2", "n3")
		if c.others != nil {
			n = newNode(c.others...)
		}
		if to, after := n.run(time.Minute, c.own, c.answers); to != nil {
			t.Errorf("%s: gave way to %v after %v", name, to, after)
		}
	}
	n := newNode("n2", "n3")
	for range 100 { // a slow second now and then
		if to, _ := n.run(time.Second, slow, nil); to != nil {
			t.Fatalf("gave way to %v for a slow second", to)
		}
		n.tick(time.Millisecond, nil)
	}
}

// TestFastFollowersOfFive: leadership does not go to the one that is slow.
func TestFastFollowersOfFive(t *testing.T) {
	n := newNode("n2", "n3", "n4", "n5")
	if to, _ := n.run(time.Minute, 200*time.Millisecond, map[string]time.Duration{"n3": time.Second}); !slices.Equal(to, []string{"n2", "n4", "n5"}) {
		t.Errorf("gave way to %v, want n2, n4 and n5", to)
	}
}

// TestFewWritesSuffice: syncs that take longer than a tick, and ticks without any, are judged as well.
func TestFewWritesSuffice(t *testing.T) {
	n := newNode("n2", "n3")
	for i := range 20 {
		own := time.Duration(0)
		if i%3 == 2 {
			own = 1200 * time.Millisecond
		}
		if to := n.tick(own, nil); to != nil {
			if i < 6 {
				t.Errorf("gave way after %d ticks", i)
			}
			return
		}
	}
	t.Error("did not give way")
}

// TestNoFlapping: a node that has given way and leads again does not give way again soon, and less and less often.
func TestNoFlapping(t *testing.T) {
	const slow = 200 * time.Millisecond
	n := newNode("n2", "n3")
	var pauses []time.Duration
	for range 8 {
		to, after := n.run(time.Hour, slow, nil)
		if to == nil {
			t.Fatal("never gave way")
		}
		pauses = append(pauses, after)
		n.GaveWay(n.now)
		n.term += 2 // it leads again at once
	}
	for i, least := range []time.Duration{0, firstPause, 2 * firstPause, 4 * firstPause, 8 * firstPause, longestPause, longestPause, longestPause} {
		if pauses[i] < least || pauses[i] > least+5*time.Second {
			t.Errorf("gave way the %d. time after %v, want about %v", i+1, pauses[i], least)
		}
	}
	n.run(2*time.Hour, time.Millisecond, nil)
	n.GaveWay(n.now)
	if n.pause != firstPause {
		t.Errorf("after two healthy hours the pause is %v, want %v", n.pause, firstPause)
	}
}

// TestNewLeaderSettles: a leader that is elected with a slow disk waits a little, and one that could not hand over tries again.
func TestNewLeaderSettles(t *testing.T) {
	const slow = 200 * time.Millisecond
	n := newNode("n2", "n3")
	n.term = 0
	if to, _ := n.run(time.Minute, slow, nil); to != nil {
		t.Fatal("a follower gives way")
	}
	n.term = 7
	if _, after := n.run(time.Minute, slow, nil); after < settle || after > settle+time.Second {
		t.Errorf("gave way %v after its term began, want %v", after, settle)
	}
	n.Failed(n.now)
	if to, after := n.run(time.Minute, slow, nil); to == nil || after < retryAfter {
		t.Errorf("after a failed transfer: gave way to %v after %v, want %v", to, after, retryAfter)
	}
}

// TestDiskTellsOnce: a disk that stays slow is told of once, with since when, and once when it is healthy again.
func TestDiskTellsOnce(t *testing.T) {
	var d Disk
	now := time.Unix(1000, 0)
	began := now
	told := map[Change]int{}
	run := func(seconds int, sync time.Duration) {
		for range seconds {
			d.Probes.Note(sync) // one a second, as on an idle node
			for range 2 {
				now = now.Add(Interval)
				_, c := d.Tick(now)
				told[c]++
			}
		}
	}
	run(60, time.Millisecond)
	if d.Slow() {
		t.Fatal("a quick disk is slow")
	}
	began = now
	run(5, 300*time.Millisecond)
	if since, _ := d.SlowSince(); !d.Slow() || !since.IsZero() {
		t.Errorf("after five seconds: slow %v, told since %v", d.Slow(), since)
	}
	run(60, 300*time.Millisecond)
	since, took := d.SlowSince()
	if told[StaysSlow] != 1 || took != 300*time.Millisecond || since.Sub(began).Abs() > time.Second {
		t.Errorf("told %d times, since %v after it began, syncs of %v", told[StaysSlow], since.Sub(began), took)
	}
	run(5, time.Millisecond)
	if !d.Slow() {
		t.Error("healthy after five quick seconds")
	}
	run(60, time.Millisecond)
	if since, _ := d.SlowSince(); d.Slow() || !since.IsZero() || told[Recovered] != 1 || told[StaysSlow] != 1 {
		t.Errorf("at the end: slow %v, since %v, told %v", d.Slow(), since, told)
	}
}
