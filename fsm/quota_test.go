package fsm_test

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm"
)

// TestQuotaOverMidnight takes the daily quota of two databases before and after midnights of cluster time: each day has all of
// it, from its first millisecond on, and nothing of another day, also in the state of a snapshot.
func TestQuotaOverMidnight(t *testing.T) {
	const day, limit = 86_400_000, 10
	c := newTenants(t, 74)
	if _, err := propose(c.deliverer, fsm.Configure, fsm.Settings{DailyLimit: limit}); err != nil {
		t.Fatal(err)
	}
	take := func(now int64, db string, want, granted, taken int64) {
		t.Helper()
		c.l.now = now
		c.l.index++
		e := fsm.Entry{Stamp: now, Term: c.l.term, Requests: []fsm.Request{{Code: fsm.TakeQuota.Code, Body: fsm.TakeQuota.Body(fsm.QuotaClaim{DB: db, Want: want})}}}
		o := c.apply(e.Encode())[0]
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		q := o.Value.(fsm.Quota)
		if q.Day != now/day || q.Limit != limit || q.Granted != granted || q.Taken != taken {
			t.Errorf("at %d of day %d %q takes %d of %+v, want %d granted and %d taken", now%day, now/day, db, want, q, granted, taken)
		}
		restored(t, c.a).View(now, [16]byte{}, func(v *fsm.View) {
			if known, _ := v.Quota(db); known.Day != q.Day || known.Taken != q.Taken {
				t.Errorf("after a snapshot %q knows of %+v, want %+v", db, known, q)
			}
		})
	}
	midnight := (c.l.now/day + 1) * day
	take(midnight-2, "a", 7, 7, 7)
	take(midnight-1, "a", 7, 3, 10)
	take(midnight-1, "b", 1, 1, 1)
	c.a.View(midnight, [16]byte{}, func(v *fsm.View) { // before any entry of the new day
		if q, _ := v.Quota("a"); q.Day != midnight/day || q.Taken != 0 {
			t.Errorf("at midnight a knows of %+v", q)
		}
	})
	take(midnight, "a", 4, 4, 4)
	take(midnight, "b", 11, 10, 10)
	take(midnight+day-1, "a", 7, 6, 10)
	take(midnight+3*day, "a", 10, 10, 10)
	take(midnight+3*day, "a", 1, 0, 10)
}
