package cluster_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/reply"
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

// TestTimeFollowsTheClocks: however often leadership changes, cluster time stays at the machines' clocks. Each change
// used to put it 200 ms further ahead.
func TestTimeFollowsTheClocks(t *testing.T) {
	c := clustertest.Start(t, 3, nil)
	late := time.Now().Add(2 * time.Minute)
	for i := 0; i < 20; i++ {
		from := c.Leader()
		to := c.List[(from+1)%3].ID
		if err := c.Nodes[from].MoveLeadership(t.Context(), to); err != nil {
			if time.Now().After(late) {
				t.Fatal(err)
			}
			i-- // a busy machine may be too slow for a transfer
			continue
		}
		if _, err := c.Write(i%3, "SET", "k", "v"); err != nil {
			t.Fatal(err)
		}
	}
	at := c.Nodes[c.Leader()].Machine().Clock()
	if ahead := at - time.Now().UnixMilli(); ahead > 100 {
		t.Errorf("%d ms ahead after twenty changes of leader", ahead)
	}
}

// TestLevelNeedsEveryAnswer: while one server doesn't answer no level is common to all, whatever the others know: its
// version may be too old to follow.
func TestLevelNeedsEveryAnswer(t *testing.T) {
	c := clustertest.Start(t, 3, nil)
	leader := c.Leader()
	if level := c.Nodes[leader].CommonLevel(t.Context()); level != fsm.MaxLevel {
		t.Errorf("all answer: level %d, want %d", level, fsm.MaxLevel)
	}
	c.Stop((leader + 1) % 3)
	if level := c.Nodes[leader].CommonLevel(t.Context()); level != 0 {
		t.Errorf("one doesn't answer: level %d", level)
	}
}
