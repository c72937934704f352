package queue

import "testing"

// TestReachSaysWhy: a history is bounded by bytes when it takes nearly all that it may, otherwise by time when its oldest record is
// nearly as old as it may be.
func TestReachSaysWhy(t *testing.T) {
	const now = 1000 * day
	for _, c := range []struct {
		r    Reach
		want Bound
	}{
		{Reach{}, ByNothing},
		{Reach{Age: 14 * day, Bytes: 800}, ByNothing},
		{Reach{Oldest: now - day, Age: 14 * day, Bytes: 800, Used: 100}, ByNothing},
		{Reach{Oldest: now - 13*day, Age: 14 * day, Bytes: 800, Used: 100}, ByTime},
		{Reach{Oldest: now - day, Age: 14 * day, Bytes: 800, Used: 700}, ByBytes},
		{Reach{Oldest: now - 13*day, Age: 14 * day, Bytes: 800, Used: 790}, ByBytes},
		{Reach{Oldest: now - 500*day, Used: 1 << 40}, ByNothing}, // no bound at all
	} {
		got := c.r
		if got.Judge(now); got.Bound != c.want {
			t.Errorf("%+v: bounded by %s, want %s", c.r, got.Bound, c.want)
		}
	}
}
