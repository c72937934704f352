package cluster

import (
	"testing"
	"time"
)

// TestTimeoutFollowsDelays: a delay stretches the timeout at once, up to three times; without further ones it comes back.
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
		{5 * time.Second, 0, 3 * least},
		{5 * time.Second, 9 * time.Second, 3 * least},
		{5 * time.Second, 10 * time.Second, 750 * time.Millisecond}, // as after half a second
		{5 * time.Second, 20 * time.Second, least},
		{5 * time.Second, time.Hour, least},
	} {
		var d delays
		d.observe(c.delay, least, begin)
		d.observe(0, least, begin.Add(c.after))
		if got := d.timeout(least); got != c.want {
			t.Errorf("%v after a delay of %v: %v, want %v", c.after, c.delay, got, c.want)
		}
	}
}
