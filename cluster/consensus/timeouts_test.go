package consensus

import (
	"testing"
	"time"
)

// TestTimeoutFollowsDelays: a delay stretches the timeout at once, up to two and a half times; without further ones it comes back.
func TestTimeoutFollowsDelays(t *testing.T) {
	const least = 500 * time.Millisecond
	begin := time.Unix(1000, 0)
	for _, c := range []struct {
		delay, after, want time.Duration
	}{
		{0, 0, least},
		{100 * time.Millisecond, 0, least},
		{300 * time.Millisecond, 0, 900 * time.Millisecond},
		{300 * time.Millisecond, 9 * time.Second, 900 * time.Millisecond},
		{300 * time.Millisecond, 10 * time.Second, least},
		{5 * time.Second, 0, 5 * least / 2},
		{5 * time.Second, 9 * time.Second, 5 * least / 2},
		{5 * time.Second, 10 * time.Second, 625 * time.Millisecond}, // as after the longest delay that counts
		{5 * time.Second, 20 * time.Second, least},
		{5 * time.Second, time.Hour, least},
	} {
		var d delays
		d.observe(c.delay, stretched(least)/delayFactor, begin)
		d.observe(0, stretched(least)/delayFactor, begin.Add(c.after))
		if got := d.timeout(least).Round(time.Millisecond); got != c.want {
			t.Errorf("%v after a delay of %v: %v, want %v", c.after, c.delay, got, c.want)
		}
	}
}

// TestSilence: a leader is silent after a timeout without contact, to a process that ran all the time and has followed it for as long.
func TestSilence(t *testing.T) {
	const timeout = 500 * time.Millisecond
	begin := time.Unix(1000, 0)
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	// A process that follows n1 in term 3 from the begin on, and runs until ms.
	running := func(ms int) *silence {
		s := &silence{}
		for i := 0; i <= ms; i += 20 {
			s.tick(at(i), "n1", 3, timeout)
		}
		return s
	}
	stood := running(1000)
	stood.tick(at(3000), "n1", 3, timeout) // after two seconds
	follows := running(1000)
	follows.tick(at(1020), "n2", 4, timeout)
	for name, c := range map[string]struct {
		s            *silence
		leader       string
		term         uint64
		contact, now int
		want         bool
	}{
		"heard a moment ago":             {running(1000), "n1", 3, 990, 1010, false},
		"heard not quite a timeout ago":  {running(1000), "n1", 3, 511, 1010, false},
		"heard a timeout ago":            {running(1000), "n1", 3, 510, 1010, true},
		"followed for less than that":    {running(480), "n1", 3, -900, 490, false},
		"no leader":                      {running(1000), "", 3, 0, 1010, false},
		"another leader":                 {running(1000), "n2", 3, 0, 1010, false},
		"the same in another term":       {running(1000), "n1", 4, 0, 1010, false},
		"this process stands still":      {running(1000), "n1", 3, 0, 3000, false},
		"it has just stood still":        {stood, "n1", 3, 1000, 3010, false},
		"a new leader has not spoken":    {follows, "n2", 4, 100, 1030, false},
		"the leader before the new one ": {follows, "n1", 3, 100, 1030, false},
	} {
		if got := c.s.of(c.leader, c.term, at(c.contact), at(c.now)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	for ms := 3020; ms <= 3100; ms += 20 {
		if stood.of("n1", 3, at(1000), at(ms-1)) {
			t.Errorf("%d ms after it stood still", ms-3000)
		}
		stood.tick(at(ms), "n1", 3, timeout)
	}
	if !stood.of("n1", 3, at(1000), at(3100)) {
		t.Error("nothing was heard for as long as a heartbeat takes at most after it stood still")
	}
}

// TestHoldOff: raft's timer finds no leader silent while others may agree, and at once when that has taken too long.
func TestHoldOff(t *testing.T) {
	const timeout, patience = 500 * time.Millisecond, 1500 * time.Millisecond
	for unheard, want := range map[time.Duration]time.Duration{
		500 * time.Millisecond:  500*time.Millisecond + lateTick,
		1499 * time.Millisecond: 1499*time.Millisecond + lateTick,
		1500 * time.Millisecond: timeout,
		time.Minute:             timeout,
	} {
		if got := holdOff(unheard, timeout, patience); got != want {
			t.Errorf("not heard for %v: %v, want %v", unheard, got, want)
		}
	}
}
