package cluster_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"trireme/cluster/clustertest"
	"trireme/fsm/reply"
)

// TestWriteAnywhereReadAnywhere writes through one node and reads at once through
// another.
func TestWriteAnywhereReadAnywhere(t *testing.T) {
	c := clustertest.Start(t, 3, nil)
	for i := range 600 {
		v := strconv.Itoa(i)
		if got, err := c.Write(i%3, "SET", "k", v); err != nil || !got.Equal(reply.OK()) {
			t.Fatalf("write %d: %v %v", i, got, err)
		}
		if got, err := c.Read((i+1+i/3)%3, "GET", "k"); err != nil || got.Text() != v {
			t.Fatalf("read %d: %q %v", i, got.Text(), err)
		}
	}
}

// TestCountersThroughLeaderChanges counts through all nodes while leaders stop and
// come back: every acknowledged increment is there once.
func TestCountersThroughLeaderChanges(t *testing.T) {
	c := clustertest.Start(t, 3, nil)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	acked := 0
	for w := range 16 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				mu.Lock()
				n := c.Nodes[w%3]
				mu.Unlock()
				if n == nil {
					time.Sleep(time.Millisecond)
					continue
				}
				v, err := c.Write(w%3, "INCR", "n")
				if err != nil || v.IsError() {
					continue
				}
				mu.Lock()
				acked++
				mu.Unlock()
			}
		})
	}
	for range 4 {
		time.Sleep(300 * time.Millisecond)
		if err := c.Nodes[c.Leader()].TransferLeadership(""); err != nil {
			t.Log(err)
		}
	}
	close(stop)
	wg.Wait()
	v, err := c.Read(0, "GET", "n")
	if err != nil || v.Text() != fmt.Sprint(acked) {
		t.Fatalf("counter %s, acknowledged %d, %v", v.Text(), acked, err)
	}
	t.Logf("%d increments", acked)
}
