package cluster_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/node/quota"
)

// TestDailyLimitOnThreeNodes spends a small limit through all nodes at once while
// leadership moves: exactly as many commands are let through.
func TestDailyLimitOnThreeNodes(t *testing.T) {
	const limit = 90
	c := clustertest.Start(t, 3, nil)
	if _, err := fsm.Do(context.Background(), c.Nodes[0], fsm.Configure, fsm.Settings{DailyLimit: limit}); err != nil {
		t.Fatal(err)
	}
	var granted, failed atomic.Int64
	var wg sync.WaitGroup
	for i, n := range c.Nodes {
		m := quota.New(n)
		for range 4 {
			wg.Go(func() {
				for j := range limit / 4 {
					if i == 0 && j == 5 {
						_ = c.Nodes[c.Leader()].TransferLeadership("") // one of several may be refused
					}
					took, err := take(n, m)
					granted.Add(took)
					if err != nil && !errors.As(err, new(*quota.Exceeded)) {
						failed.Add(1)
						t.Logf("node %d: %v", i, err)
					}
				}
			})
		}
	}
	wg.Wait()
	if granted.Load() > limit || (failed.Load() == 0 && granted.Load() != limit) {
		t.Errorf("%d of %d commands were let through, %d failed", granted.Load(), limit, failed.Load())
	}
}

// take proposes as an entry point does, with the quota that the node knows. The node may not know the limit yet.
func take(n interface {
	Read(context.Context, fsm.Reading, func(*fsm.View)) (fsm.ReadAt, error)
}, m *quota.Meter) (int64, error) {
	var now fsm.Quota
	if _, err := n.Read(context.Background(), fsm.Reading{}, func(v *fsm.View) { now, _ = v.Quota("") }); err != nil {
		return 0, err
	}
	return m.Take(context.Background(), "", now, 1, false)
}
