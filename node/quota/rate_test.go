package quota

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

// TestRateOfRequests: as many as the burst at once, then as many as the rate; a batch gets what is there, unless it is all or
// nothing; each database has its own, and time that passes fills no more than a burst.
func TestRateOfRequests(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	m := New(nil)
	m.now = func() time.Time { return now }
	shop := fsm.Quota{Database: 1, Rate: 10, Burst: 20}
	take := func(q fsm.Quota, n int64, whole bool, want int64, wait time.Duration) {
		t.Helper()
		granted, err := m.Take(context.Background(), "shop", q, n, whole)
		var fast *Exceeded
		if errors.As(err, &fast); granted != want || (want < n) != (fast != nil) {
			t.Fatalf("%d of %d are granted (%v), want %d", granted, n, err, want)
		}
		if fast != nil && (fast.Wait != wait || fast.Limit != 10) {
			t.Errorf("%v, wait %v, want %v", err, fast.Wait, wait)
		}
	}
	take(shop, 5, false, 5, 0)
	take(shop, 16, true, 0, 100*time.Millisecond)
	take(shop, 16, false, 15, 100*time.Millisecond)
	take(shop, 1, false, 0, 100*time.Millisecond)
	take(fsm.Quota{Database: 2, Rate: 10, Burst: 20}, 20, false, 20, 0)
	take(fsm.Quota{Database: 3}, 1_000_000, false, 1_000_000, 0)
	now = now.Add(100 * time.Millisecond)
	take(shop, 1, false, 1, 0)
	take(shop, 1, true, 0, 100*time.Millisecond)
	now = now.Add(time.Hour)
	take(shop, 50, true, 50, 0) // all or nothing, more than a burst: of a full bucket
	take(shop, 50, true, 0, 2*time.Second)
	now = now.Add(time.Hour)
	for range 20 {
		if err := m.Rate(shop); err != nil {
			t.Fatal(err)
		}
	}
	var fast *Exceeded
	if err := m.Rate(shop); !errors.As(err, &fast) || fast.RetryAfter() != "1" {
		t.Errorf("one more: %v", err)
	}
}
