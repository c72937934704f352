package cluster_test

import (
	"bytes"
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
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

var errRefused = errors.New("refused")

var oneKilobyte = bytes.Repeat([]byte("v"), 1000)

// put stores a kilobyte under a key.
func put(ctx context.Context, n *cluster.Node, key string) error {
	rows := [][][]byte{{[]byte("SET"), []byte(key), oneKilobyte}}
	out, err := fsm.Do(ctx, n, fsm.Exec, fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.RESP, Rows: rows})
	if err == nil && out.Values[0].IsError() {
		return errRefused
	}
	return err
}

// TestEvictionOnThreeNodes writes three times the memory limit through all nodes at once while leadership moves: no write
// is refused, memory stays at the limit, and all nodes have evicted the same keys.
func TestEvictionOnThreeNodes(t *testing.T) {
	const limit, writers, writes = 60_000, 6, 25
	c := clustertest.Start(t, 3, nil)
	ctx := context.Background()
	awaitLevel(t, c)
	if _, err := fsm.Do(ctx, c.Nodes[0], fsm.Configure, fsm.Settings{MaxMemory: limit, Policy: keyspace.AllKeysLRU}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var refused atomic.Int64
	for w := range writers {
		wg.Go(func() {
			for i := range writes {
				if w == 0 && i == writes/2 {
					_ = c.Nodes[c.Leader()].TransferLeadership("") // it may be refused
				}
				if err := put(ctx, c.Nodes[w%3], fmt.Sprint("k", w, ".", i)); errors.Is(err, errRefused) {
					refused.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := refused.Load(); n > 0 {
		t.Errorf("%d writes were refused", n)
	}
	agree(t, c, limit)
}

// TestEvictionAfterLostLeader cuts the leader off while keys are evicted for what two other nodes write, and lets it come
// back: its own picks that were never committed have evicted nothing, and all nodes have the same state.
func TestEvictionAfterLostLeader(t *testing.T) {
	const limit, writes = 60_000, 50
	network := clustertest.NewNetwork()
	c := clustertest.Start(t, 3, network.Adjust)
	ctx := context.Background()
	awaitLevel(t, c)
	if _, err := fsm.Do(ctx, c.Nodes[0], fsm.Configure, fsm.Settings{MaxMemory: limit, Policy: keyspace.AllKeysLFU}); err != nil {
		t.Fatal(err)
	}
	leader := c.Leader()
	var wg sync.WaitGroup
	for w := range 3 {
		wg.Go(func() {
			for i := range writes {
				if w == leader && i == writes/2 {
					network.Cut(c.List[leader].ID)
					late, cancel := context.WithTimeout(ctx, time.Second)
					defer cancel()
					_ = put(late, c.Nodes[w], "late") // it makes an entry that nobody takes
					return
				}
				for deadline := time.Now().Add(time.Minute); put(ctx, c.Nodes[w], fmt.Sprint("k", w, ".", i)) != nil && time.Now().Before(deadline); {
					time.Sleep(5 * time.Millisecond)
				}
			}
		})
	}
	wg.Wait()
	network.Heal(c.List[leader].ID)
	agree(t, c, limit)
}

// agree waits until all nodes have the same state, within the limit.
func agree(t *testing.T, c *clustertest.Cluster, limit int64) {
	t.Helper()
	type seen struct {
		bytes   int64
		evicted uint64
		digest  string
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // the last writes may be above the limit until the next tick
		var all [3]seen
		for i, n := range c.Nodes {
			n.Machine().View(0, [16]byte{}, func(v *fsm.View) {
				_, all[i].bytes = v.Usage()
				all[i].evicted = v.Evicted()
			})
			all[i].digest = n.Machine().Fork().Digest()
		}
		if all[0] == all[1] && all[1] == all[2] && all[0].bytes <= limit {
			if all[0].evicted == 0 || all[0].bytes < limit/2 {
				t.Errorf("%v, limit %d", all[0], limit)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the nodes have %v, the limit is %d", all, limit)
		}
	}
}

// awaitLevel waits for the feature level that has eviction.
func awaitLevel(t *testing.T, c *clustertest.Cluster) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if c.Nodes[0].Machine().Level() >= env.Base {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the feature level does not rise")
		}
	}
}
