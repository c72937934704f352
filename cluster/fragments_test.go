package cluster_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
)

// writeOnceThereIsALeader sends a write again that was certainly not applied, because the node knew no leader for too long.
func writeOnceThereIsALeader(c *clustertest.Cluster, node int, words ...string) error {
	for end := time.Now().Add(2 * time.Minute); ; {
		if _, err := c.Write(node, words...); !errors.Is(err, fsm.ErrNoLeader) || time.Now().After(end) {
			return err
		}
	}
}

// TestLargeEntriesInFragments appends large values while small ones are counted and one writer hands on leadership while the others write: large
// entries are many entries of the log, each write is applied once, and all nodes have the same in the end.
func TestLargeEntriesInFragments(t *testing.T) {
	const writers, each, size = 3, 8, 2 << 20
	c := clustertest.Start(t, 3, nil)
	awaitLevel(t, c)
	applied := func() (most uint64) {
		for _, n := range c.Nodes[0].Status(context.Background()).Nodes {
			most = max(most, n.AppliedIndex)
		}
		return most
	}
	before := applied()
	if _, err := c.Write(0, "SET", "first", strings.Repeat("f", 2*size)); err != nil {
		t.Fatal(err)
	}
	if n := applied() - before; n < 8 {
		t.Errorf("a value of %d bytes took %d entries, want at least 8 of 512 KiB", 2*size, n)
	}
	var work sync.WaitGroup
	for w := range writers {
		piece := strings.Repeat(strconv.Itoa(w), size)
		work.Go(func() {
			for i := range each {
				if err := writeOnceThereIsALeader(c, w, "APPEND", "large:"+strconv.Itoa(w), piece); err != nil {
					t.Errorf("large write %d of node %d: %v", i, w, err)
				}
				if i := c.Leader(); w == 0 && i >= 0 {
					_ = c.Nodes[i].TransferLeadership("") // it may be refused
				}
			}
		})
		work.Go(func() {
			for i := range 10 * each {
				if err := writeOnceThereIsALeader(c, w, "INCR", "small"); err != nil {
					t.Errorf("small write %d of node %d: %v", i, w, err)
				}
			}
		})
	}
	work.Wait()
	for i := range c.Nodes {
		if v, err := c.Read(i, "GET", "small"); err != nil || v.Text() != strconv.Itoa(writers*10*each) {
			t.Errorf("node %d: small is %s (%v), want %d", i, v.Text(), err, writers*10*each)
		}
		for w := range writers {
			v, err := c.Read(i, "GET", "large:"+strconv.Itoa(w))
			if want := strings.Repeat(strconv.Itoa(w), each*size); err != nil || v.Text() != want {
				t.Errorf("node %d: large:%d has %d bytes (%v), want %d of one kind", i, w, len(v.Text()), err, len(want))
			}
		}
	}
}
