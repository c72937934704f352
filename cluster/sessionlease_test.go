package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
)

// session reads on node i as a session read does, on behalf of as.
func (at asToken) session(i int, as acl.Identity) (err error) {
	_, failed := at.c.Nodes[i].Read(context.Background(), fsm.Reading{Mode: fsm.SessionRead}, func(v *fsm.View) {
		err = nil // a read may look twice
		if !v.Authorized(as) {
			err = fsm.ErrRevoked
		}
	})
	return errors.Join(err, failed)
}

// TestSessionReadsOfACutOffNodeEndWithTheReset resets the tokens while one node hears
// nothing and is asked all the time: it serves session reads for a moment, but none that
// began after the reset was acknowledged.
func TestSessionReadsOfACutOffNodeEndWithTheReset(t *testing.T) {
	network := clustertest.NewNetwork()
	c, old := startWithToken(t, network)
	for round := range 2 {
		cut := (c.Leader() + round) % 3 // the leader itself, then a follower
		as := old.identity(cut)
		if err := old.session(cut, as); err != nil {
			t.Fatal(err)
		}
		network.Cut(c.List[cut].ID)
		var acknowledged atomic.Bool
		var served atomic.Int64
		ctx, stop := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for ctx.Err() == nil {
					time.Sleep(time.Millisecond)
					late := acknowledged.Load()
					if err := old.session(cut, as); err != nil {
						continue
					}
					served.Add(1)
					if late {
						t.Error("a cut-off node served a session read by a token whose reset had been acknowledged")
						return
					}
				}
			})
		}
		fresh := fmt.Sprintf("session-%d", round)
		reset(t, c, (cut+1)%3, fresh)
		acknowledged.Store(true)
		time.Sleep(200 * time.Millisecond) // for reads that should fail
		network.Heal(c.List[cut].ID)
		c.WaitReady()
		stop()
		wg.Wait()
		t.Logf("%s cut off: %d session reads served before the acknowledgement", c.List[cut].ID, served.Load())
		old.token = acl.ParseBearer([]byte(fresh))
		awaitToken(t, old, cut)
	}
}

// TestSettlingIsQuickWhileAllAnswer: no lease is waited for while all nodes answer.
func TestSettlingIsQuickWhileAllAnswer(t *testing.T) {
	c, old := startWithToken(t, clustertest.NewNetwork())
	best := time.Hour
	for range 50 {
		began := time.Now()
		if err := c.Nodes[0].WaitRevoked(context.Background()); err != nil {
			t.Fatal(err)
		}
		if best = min(best, time.Since(began)); best < cluster.LeaseTime {
			break
		}
	}
	if best >= cluster.LeaseTime {
		t.Fatalf("settling took %v at best", best)
	}
	if err := old.session(1, old.identity(1)); err != nil {
		t.Fatal(err)
	}
}
