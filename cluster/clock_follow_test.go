package cluster_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
)

// TestClockFollowsTheVoters: a leader's cluster time follows the median of the voters' wall clocks after the term was opened
// without one. The first median sets it forward, and while it is ahead of a later one it stands still.
func TestClockFollowsTheVoters(t *testing.T) {
	ahead := map[string]*atomic.Int64{"n1": {}, "n2": {}, "n3": {}} // of each node's clock
	ahead["n2"].Store(int64(time.Hour))                             // no two of them agree
	ahead["n3"].Store(int64(2 * time.Hour))
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		mine := ahead[o.NodeID]
		o.Now = func() time.Time { return time.Now().Add(time.Duration(mine.Load())) }
	})
	leader := c.Leader()
	n := c.Nodes[leader]
	others := func(offset time.Duration) {
		for i, p := range c.List {
			if i != leader {
				ahead[p.ID].Store(int64(offset))
			}
		}
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
			n = c.Nodes[c.Leader()] // another one, if this machine has stood still for too long
			if time.Now().After(end) {
				t.Fatalf("%s: cluster time is %v ahead", what, time.UnixMilli(n.Now()).Sub(time.Now()))
			}
		}
	}
	if now := n.Now(); now > time.Now().Add(3*time.Hour).UnixMilli() {
		t.Fatal("cluster time begins ahead of every clock")
	}
	others(10 * time.Hour)
	until("not set forward", func() bool { return n.Now() > time.Now().Add(9*time.Hour).UnixMilli() })
	others(5 * time.Hour)
	until("not held up", func() bool {
		before := n.Now()
		time.Sleep(20 * time.Millisecond) // in which a clock that is not held up moves
		return n.Now() == before
	})
}
