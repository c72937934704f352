package quota_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/node/quota"
)

const day = 86_400_000

// cluster is one state that several meters take from, as nodes do.
type cluster struct {
	*httpapitest.Engine
	now atomic.Int64
}

func newCluster(t *testing.T, limit int64) *cluster {
	c := &cluster{Engine: httpapitest.New()}
	c.now.Store(30_000 * day)
	c.SetClock(c.now.Load)
	c.limit(t, limit)
	return c
}

func (c *cluster) limit(t *testing.T, n int64) {
	t.Helper()
	if _, err := fsm.Do(context.Background(), c.Engine, fsm.Configure, fsm.Settings{DailyLimit: n}); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) quota(db string) (q fsm.Quota) {
	c.Local(func(v *fsm.View) { q, _ = v.Quota(db) })
	return q
}

// take takes n commands of the default database.
func (c *cluster) take(t *testing.T, m *quota.Meter, n int64, whole bool) (granted int64, exceeded *quota.Exceeded) {
	t.Helper()
	granted, err := m.Take(context.Background(), "", c.quota(""), n, whole)
	if err != nil && !errors.As(err, &exceeded) {
		t.Fatal(err)
	}
	return granted, exceeded
}

// TestSmallLimitsAreExact takes single commands through three nodes at once.
func TestSmallLimitsAreExact(t *testing.T) {
	for _, limit := range []int64{1, 10, 1000, 1999} {
		c := newCluster(t, limit)
		var granted atomic.Int64
		var wg sync.WaitGroup
		for range 3 {
			m := quota.New(c)
			for range 4 {
				wg.Go(func() {
					for range limit {
						n, _ := c.take(t, m, 1, false)
						granted.Add(n)
					}
				})
			}
		}
		wg.Wait()
		if granted.Load() != limit {
			t.Errorf("%d of %d were granted", granted.Load(), limit)
		}
	}
}

// TestLargeLimitsTakeBlocks counts the entries that a large limit costs, and what may be
// left on nodes at its end.
func TestLargeLimitsTakeBlocks(t *testing.T) {
	const limit = 50_000
	c := newCluster(t, limit)
	meters := []*quota.Meter{quota.New(c), quota.New(c), quota.New(c)}
	before, _ := c.Calls()
	granted := int64(0)
	for i := range limit + 1000 {
		n, _ := c.take(t, meters[i%3], 1, false)
		granted += n
	}
	after, _ := c.Calls()
	if entries := after - before; entries > 1010 || granted != limit {
		t.Errorf("%d granted by %d entries", granted, entries)
	}
	before = after
	if _, exceeded := c.take(t, meters[0], 1, false); exceeded == nil || exceeded.Limit != limit || exceeded.Usage != limit {
		t.Errorf("%+v", exceeded)
	}
	if after, _ := c.Calls(); after != before {
		t.Error("a refusal that this node knows cost an entry")
	}
}

func TestBatches(t *testing.T) {
	c := newCluster(t, 10)
	m := quota.New(c)
	if n, e := c.take(t, m, 7, true); n != 7 || e != nil {
		t.Fatal(n, e)
	}
	n, e := c.take(t, m, 4, true)
	if n != 0 || e.Error() != "ERR max daily request limit exceeded. Limit: 10, Usage: 7. Setting: dailyRequestLimit" {
		t.Fatal(n, e)
	}
	if n, e := c.take(t, m, 4, false); n != 3 || e == nil {
		t.Fatal(n, e)
	}
	if n, e := c.take(t, m, 1, false); n != 0 || e == nil {
		t.Fatal(n, e)
	}
}

// TestLimitsChange raises, removes and lowers the limit, and lets the day end.
func TestLimitsChange(t *testing.T) {
	c := newCluster(t, 3)
	m := quota.New(c)
	use := func(when string, n, want int64) {
		t.Helper()
		got := int64(0)
		for range n {
			one, _ := c.take(t, m, 1, false)
			got += one
		}
		if got != want {
			t.Errorf("%s: %d, want %d", when, got, want)
		}
	}
	use("at first", 5, 3)
	c.limit(t, 5)
	use("raised", 5, 2)
	c.limit(t, 0)
	use("removed", 50, 50)
	c.limit(t, 4)
	use("lowered", 5, 0)
	c.now.Add(day)
	c.limit(t, 4) // time moves by entries
	use("the next day", 9, 4)
}

// TestNothingOutlivesMidnight: what a node holds of a day, or is given back of it, is worth nothing on the next, and what was
// used up comes anew; a node that still lives in the day before gets what is left of the new day and no more.
func TestNothingOutlivesMidnight(t *testing.T) {
	const limit = 2000 // blocks of two
	c := newCluster(t, limit)
	m := quota.New(c)
	if n, e := c.take(t, m, 1, false); n != 1 || e != nil { // one more is held
		t.Fatal(n, e)
	}
	yesterday := c.quota("")
	c.now.Add(day)
	c.limit(t, limit) // time moves by entries
	m.Return(yesterday, 1)
	granted := int64(0)
	for {
		n, e := c.take(t, m, 1, false)
		if granted += n; e != nil {
			break
		}
	}
	if q := c.quota(""); granted != limit || q.Taken != limit || q.Day != yesterday.Day+1 {
		t.Errorf("%d were granted on the next day, its quota is %+v", granted, q)
	}
	m.Return(yesterday, 1)
	if n, e := c.take(t, m, 1, false); n != 0 || e == nil {
		t.Errorf("what came back of the day before is worth %d", n)
	}
	m.Return(c.quota(""), 1)
	if n, e := c.take(t, m, 1, false); n != 1 || e != nil {
		t.Errorf("what came back of the same day is worth %d", n)
	}

	late := quota.New(c)
	if n, err := late.Take(context.Background(), "", yesterday, 1, false); n != 0 || err == nil {
		t.Errorf("a node that lives in the day before took %d of a day that is used up", n)
	}
}

// TestLimitRemovedMeanwhile: this node doesn't know yet that the limit is gone.
func TestLimitRemovedMeanwhile(t *testing.T) {
	c := newCluster(t, 3)
	old := c.quota("")
	c.limit(t, 0)
	if n, err := quota.New(c).Take(context.Background(), "", old, 5, false); n != 5 || err != nil {
		t.Error(n, err)
	}
}

// TestDatabasesHaveTheirOwn: a database made anew under an old name has all of its day.
func TestDatabasesHaveTheirOwn(t *testing.T) {
	c := newCluster(t, 2)
	m := quota.New(c)
	for range 3 {
		d := fsm.DatabaseTokens{Name: "a", Standard: [32]byte{1}, ReadOnly: [32]byte{2}}
		if _, err := fsm.Do(context.Background(), c.Engine, fsm.CreateDatabase, d); err != nil {
			t.Fatal(err)
		}
		if n, err := m.Take(context.Background(), "a", c.quota("a"), 3, false); n != 2 || err == nil {
			t.Error(n, err)
		}
		if _, err := fsm.Do(context.Background(), c.Engine, fsm.DeleteDatabase, fsm.DatabaseName{Name: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	if n, e := c.take(t, m, 2, true); n != 2 || e != nil {
		t.Error(n, e)
	}
}

// TestFailuresGrantNothing: without a leader there is no quota, and nothing is counted.
func TestFailuresGrantNothing(t *testing.T) {
	c := newCluster(t, 5)
	m := quota.New(c)
	c.FailWrites(fsm.ErrNoLeader, false)
	if n, err := m.Take(context.Background(), "", c.quota(""), 1, false); n != 0 || !errors.Is(err, fsm.ErrNoLeader) {
		t.Error(n, err)
	}
	c.FailWrites(nil, false)
	if n, e := c.take(t, m, 5, true); n != 5 || e != nil {
		t.Error(n, e)
	}
}
