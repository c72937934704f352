package cluster_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// TestEvictionOnThreeNodes writes three times the memory limit through all nodes at once while leadership moves: no write
// is refused, memory stays at the limit, and all nodes have evicted the same keys.
func TestEvictionOnThreeNodes(t *testing.T) {
	const limit, writers, writes = 300_000, 6, 150
	c := clustertest.Start(t, 3, nil)
	ctx := context.Background()
	awaitLevel(t, c)
	if _, err := fsm.Do(ctx, c.Nodes[0], fsm.Configure, fsm.Settings{MaxMemory: limit, Policy: keyspace.AllKeysLRU}); err != nil {
		t.Fatal(err)
	}
	value := bytes.Repeat([]byte("v"), 1000)
	var wg sync.WaitGroup
	var refused atomic.Int64
	for w := range writers {
		wg.Go(func() {
			for i := range writes {
				if w == 0 && i == writes/2 {
					_ = c.Nodes[c.Leader()].TransferLeadership("") // it may be refused
				}
				rows := [][][]byte{{[]byte("SET"), fmt.Appendf(nil, "k%d.%d", w, i), value}}
				out, err := fsm.Do(ctx, c.Nodes[w%3], fsm.Exec, fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.RESP, Rows: rows})
				if err == nil && out.Values[0].IsError() {
					refused.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := refused.Load(); n > 0 {
		t.Errorf("%d writes were refused", n)
	}
	type seen struct {
		keys    int
		bytes   int64
		evicted uint64
	}
	var all [3]seen
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // the last writes may be above the limit until the next tick
		for i, n := range c.Nodes {
			if _, err := n.Read(ctx, fsm.Reading{}, func(v *fsm.View) {
				all[i].keys, all[i].bytes = v.Usage()
				all[i].evicted = v.Evicted()
			}); err != nil {
				t.Fatal(err)
			}
		}
		if all[0] == all[1] && all[1] == all[2] && all[0].bytes <= limit {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the nodes have %v, the limit is %d", all, limit)
		}
	}
	if all[0].evicted == 0 || all[0].bytes < limit/2 {
		t.Errorf("%v, limit %d", all[0], limit)
	}
}

// awaitLevel waits for the feature level that has eviction.
func awaitLevel(t *testing.T, c *clustertest.Cluster) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if c.Nodes[0].Machine().Level() >= env.Level2 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the feature level does not rise")
		}
	}
}
