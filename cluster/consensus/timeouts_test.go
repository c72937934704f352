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
