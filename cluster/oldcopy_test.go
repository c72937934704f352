package cluster_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/cluster/transport"
)

// TestOldCopyIsRefused: a node whose data directory is put back to an older state ends by itself, with a reason that says
// what to do, and the others go on; also if all of them have been started anew, and if the copy counts as many starts as
// the node had come to.
func TestOldCopyIsRefused(t *testing.T) {
	var mu sync.Mutex
	var reason string
	told := func() string {
		mu.Lock()
		defer mu.Unlock()
		return reason
	}
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		if o.NodeID == "n2" {
			o.Fatal = func(r string) {
				mu.Lock()
				defer mu.Unlock()
				reason = r
			}
		}
	})
	write := func(i int, words ...string) {
		t.Helper()
		if v, err := c.Write(i, words...); err != nil || v.IsError() {
			t.Fatalf("%v: %v, %v", words, v, err)
		}
	}
	write(1, "SET", "before", "v")
	c.Stop(1)
	older := t.TempDir()
	copyTree(t, c.Dirs[1], older)
	c.StartAll()
	write(1, "SET", "after", "v") // the copy lacks what this process promises
	c.Stop(1)
	if err := os.RemoveAll(c.Dirs[1]); err != nil {
		t.Fatal(err)
	}
	copyTree(t, older, c.Dirs[1])
	refused := func() {
		t.Helper()
		eventually(t, "the old copy is refused", func() bool { return strings.Contains(told(), "older copy") })
		for _, words := range []string{"put the newest state of the whole directory back", "new id"} {
			if !strings.Contains(told(), words) {
				t.Errorf("it does not say what to do: %s", told())
			}
		}
		c.Stop(1)
	}
	if err := c.Open(1); err != nil {
		t.Fatal(err)
	}
	refused()
	write(0, "SET", "others", "go on")
	if err := c.Open(1); !errors.Is(err, transport.ErrRolledBack) {
		t.Fatalf("started again: %v", err)
	}

	c.StopAll()
	mu.Lock()
	reason = ""
	mu.Unlock()
	// Without the mark it counts one start more than the process that it has forgotten.
	if err := os.Remove(filepath.Join(c.Dirs[1], "older-copy.txt")); err != nil {
		t.Fatal(err)
	}
	for i := range c.Nodes {
		if err := c.Open(i); err != nil {
			t.Fatal(err)
		}
	}
	refused()
	for _, i := range []int{0, 2} {
		if v, err := c.Read(i, "GET", "after"); err != nil || v.Text() != "v" {
			t.Errorf("node %d reads %q, %v", i+1, v.Text(), err)
		}
	}
}

// copyTree copies a directory's files into another one.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}
