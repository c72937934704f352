package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
)

// TestDivergentStateIsFound changes the state of one node without the log. The digests that all nodes take and report by
// themselves reveal it: that node stops, the others go on.
func TestDivergentStateIsFound(t *testing.T) {
	var mu sync.Mutex
	stopped := map[string]string{}
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		o.DigestEvery = 40
		id := o.NodeID
		o.Fatal = func(reason string) { mu.Lock(); stopped[id] = reason; mu.Unlock() }
	})
	write := func(n int, through ...int) {
		for i := range n {
			if _, err := c.Write(through[i%len(through)], "SET", fmt.Sprint("k", i), "v"); err != nil {
				t.Fatal(err)
			}
		}
	}
	all := func() string {
		mu.Lock()
		defer mu.Unlock()
		return fmt.Sprint(stopped)
	}
	write(150, 0, 1, 2)
	if got := all(); got != "map[]" {
		t.Fatalf("nodes that agree have stopped: %s", got)
	}
	const odd = 1
	m := c.Nodes[odd].Machine()
	rows := [][][]byte{clustertest.Words("SET", "nobody else", "has it")}
	e := fsm.Entry{Term: 1, Stamp: m.Clock(), Requests: []fsm.Request{{Code: fsm.Exec.Code, Body: fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: rows})}}}
	index, _ := m.Applied()
	if _, err := m.Apply(index, 1, e.Encode()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node has stopped", func() bool {
		write(20, 0, 2)
		return all() != "map[]"
	})
	if got := all(); !strings.HasPrefix(got, "map[n2:the state at index ") || strings.Contains(got, "n1:") || strings.Contains(got, "n3:") {
		t.Errorf("stopped: %s", got)
	}
}

// TestCutOffLeaderAnswersNoRead asks a leader as soon as it is cut off, while it still takes itself for the leader: its read
// has to wait for a majority, which may have a later leader.
func TestCutOffLeaderAnswersNoRead(t *testing.T) {
	network := clustertest.NewNetwork()
	c := clustertest.Start(t, 3, network.Adjust)
	if _, err := c.Write(0, "SET", "k", "v"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		leader := c.Leader()
		if v, err := c.Read(leader, "GET", "k"); err != nil || v.Text() != "v" {
			t.Fatal(v, err)
		}
		network.Cut(c.List[leader].ID)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		at, err := c.Nodes[leader].Read(ctx, fsm.Reading{}, func(*fsm.View) {})
		if cancel(); err == nil {
			t.Errorf("a leader that is cut off has answered a read at index %d", at.Index)
		}
		network.Heal(c.List[leader].ID)
		c.WaitReady()
	}
}
