package cluster_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
)

// TestCopyOfARunningNodeEnds: a second process on a copy of the data directory of a node that runs, at another address, ends by
// itself and says why, although it counts one start more. The node itself, which was there first, goes on, and may be
// started again afterwards.
func TestCopyOfARunningNodeEnds(t *testing.T) {
	var mu sync.Mutex
	reasons := map[string]string{}
	told := func(who string) string {
		mu.Lock()
		defer mu.Unlock()
		return reasons[who]
	}
	tell := func(who string) func(string) {
		return func(reason string) {
			mu.Lock()
			defer mu.Unlock()
			reasons[who] = reason
		}
	}
	secret := clustertest.WithSecret("a secret that the nodes of this test share")
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		secret(o)
		o.Fatal = tell(o.NodeID)
	})
	c.Stop(1)
	dir := filepath.Join(t.TempDir(), "copy")
	copyTree(t, c.Dirs[1], dir) // of a directory that stands still
	c.StartAll()
	for _, name := range []string{"identity.json", "acquaintances.json"} { // as they are now: files that are replaced as a whole
		text, err := os.ReadFile(filepath.Join(c.Dirs[1], name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	o := cluster.Options{
		NodeID: "n2", DataDir: dir, Heartbeat: 300 * time.Millisecond, Owner: cluster.Owner{Fatal: tell("copy")},
		Addresses: cluster.Addresses{Bind: clustertest.Ports(t, 1)[0]}, Entrance: cluster.Entrance{InitialCluster: c.List},
	}
	secret(&o)
	copied, err := cluster.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the copy ends", func() bool { return told("copy") != "" })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	copied.Close(ctx)
	for _, words := range []string{"n2 is running elsewhere", "was there first", c.List[1].Addr, "--join"} {
		if !strings.Contains(told("copy"), words) {
			t.Errorf("the reason has no %q: %s", words, told("copy"))
		}
	}
	if v, err := c.Write(1, "SET", "k", "v"); err != nil || v.IsError() {
		t.Errorf("the node that was there first: %v %v", v, err)
	}
	c.Stop(1)
	c.StartAll()
	if v, err := c.Read(1, "GET", "k"); err != nil || v.Text() != "v" {
		t.Errorf("started again it reads %v, %v", v, err)
	}
	for i := range c.Nodes {
		if reason := told(c.List[i].ID); reason != "" {
			t.Errorf("%s ended: %s", c.List[i].ID, reason)
		}
	}
}

// TestReplacedServersAreNotLookedUp: the address of a server whose own address another one has is never dialed.
func TestReplacedServersAreNotLookedUp(t *testing.T) {
	dialed := ""
	o := cluster.Options{Dial: func(_, addr string, _ time.Duration) (net.Conn, error) {
		dialed += addr + " "
		return nil, os.ErrDeadlineExceeded
	}}
	cluster.Defaults(&o)
	for _, addr := range []string{"n3.invalid:1", "127.0.0.1:7080"} {
		if _, err := o.Dial("tcp", addr, time.Second); err == nil {
			t.Errorf("%s was dialed", addr)
		}
	}
	if dialed != "127.0.0.1:7080 " {
		t.Errorf("dialed %s", dialed)
	}
}
