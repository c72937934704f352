package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/cluster/transport"
)

// eventually waits for a condition.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// suffrages returns the servers as a node sees them, "n1 voter, n2 nonvoter".
func suffrages(n *cluster.Node) string {
	var all []string
	for _, s := range n.Status(context.Background()).Nodes {
		all = append(all, s.ID+" "+s.Suffrage)
	}
	return strings.Join(all, ", ")
}

// counting counts through the nodes that stay until its end, and says what was
// acknowledged. A request that fails there is an error of the test.
type counting struct {
	t    *testing.T
	c    *clustertest.Cluster
	stop chan struct{}
	wg   sync.WaitGroup
	n    atomic.Int64
}

func count(t *testing.T, c *clustertest.Cluster, stays ...int) *counting {
	k := &counting{t: t, c: c, stop: make(chan struct{})}
	for _, i := range stays {
		node := c.Nodes[i]
		for range 4 {
			k.wg.Go(func() { k.run(i, node) })
		}
	}
	return k
}

func (co *counting) run(i int, _ *cluster.Node) {
	for {
		select {
		case <-co.stop:
			return
		default:
		}
		v, err := co.c.Write(i, "INCR", "n")
		if err != nil || v.IsError() {
			co.t.Errorf("a request failed on a node that stays, n%d: %v %v", i+1, v, err)
			return
		}
		co.n.Add(1)
	}
}

// end compares the counter, read through a node, with what was acknowledged.
func (co *counting) end(i int) {
	co.t.Helper()
	close(co.stop)
	co.wg.Wait()
	if v, err := co.c.Read(i, "GET", "n"); err != nil || v.Text() != fmt.Sprint(co.n.Load()) {
		co.t.Errorf("the counter is %s (%v), acknowledged were %d", v.Text(), err, co.n.Load())
	}
	co.t.Logf("%d increments", co.n.Load())
}

// TestMembership lets a fourth node join under load, takes the first out, and replaces the second, whose disk is lost,
// by a node at its address: nothing acknowledged is lost, nothing is applied twice, and no request fails on nodes that
// stay.
func TestMembership(t *testing.T) {
	var mu sync.Mutex
	removed := map[string]string{}
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		id := o.NodeID
		o.Removed = func(reason string) {
			mu.Lock()
			defer mu.Unlock()
			removed[id] = reason
		}
	})
	saysRemoved := func(id string) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return strings.Contains(removed[id], "was removed from its cluster")
		}
	}
	for i := range 200 {
		if _, err := c.Write(0, "SET", fmt.Sprint("k", i), "v"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Nodes[c.Leader()].Snapshot(); err != nil {
		t.Fatal(err)
	}
	load := count(t, c, 1, 2)
	n4, err := c.Join("n4", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := suffrages(c.Nodes[n4]); got != "n1 voter, n2 voter, n3 voter, n4 nonvoter" {
		t.Fatalf("after the join: %s", got)
	}
	if v, err := c.Read(n4, "GET", "k7"); err != nil || v.Text() != "v" {
		t.Fatalf("the new node reads %q, %v", v.Text(), err)
	}
	// The first node goes, as the leader: it says by Drained when it has finished.
	if err := c.Nodes[1].MoveLeadership(context.Background(), "n1"); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { gone <- c.Nodes[2].RemoveNode(context.Background(), "n1", false) }()
	eventually(t, "n1 leaves", func() bool {
		if len(gone) > 0 {
			t.Fatalf("n1 was not asked to leave: %v", <-gone)
		}
		return c.Nodes[0].Leaving()
	})
	c.Nodes[0].Drained(context.Background())
	if err := <-gone; err != nil {
		t.Fatal(err)
	}
	eventually(t, "n1 knows that it was removed", saysRemoved("n1"))
	c.Stop(0)
	if got := suffrages(c.Nodes[2]); got != "n2 voter, n3 voter, n4 voter" {
		t.Fatalf("after the removal: %s", got)
	}
	load.end(n4)

	// The second loses its disk. A node with a new id takes its place and its address.
	c.Stop(1)
	if err := os.RemoveAll(c.Dirs[1]); err != nil {
		t.Fatal(err)
	}
	before := current(t, c, 2)
	load = count(t, c, 2, n4)
	load.n.Add(before)
	if _, err := c.Join("n2", "", ""); err == nil || !errors.Is(err, cluster.ErrNotJoined) && !errors.Is(err, transport.ErrRejected) || !strings.Contains(err.Error(), "new id") {
		t.Errorf("a wiped node under its old id: %v", err)
	}
	if _, err := c.Join("n5", "", c.List[1].Addr); err == nil || !strings.Contains(err.Error(), "--replace n2") {
		t.Errorf("a node at another's address: %v", err)
	}
	n6, err := c.Join("n6", "n2", c.List[1].Addr)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "n6 has taken the place of n2", func() bool { return suffrages(c.Nodes[2]) == "n3 voter, n4 voter, n6 voter" })
	load.end(n6)
}

// current returns the value of the counter.
func current(t *testing.T, c *clustertest.Cluster, i int) (n int64) {
	v, err := c.Read(i, "GET", "n")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Sscan(v.Text(), &n) // a counter that isn't there is 0
	return n
}
