package cluster_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// TestLeaderHearsOfReads lets a follower serve the reads of one of two keys, an hour after both were written: the
// leader comes to know which of them is used.
func TestLeaderHearsOfReads(t *testing.T) {
	var ahead atomic.Int64 // of the clocks, nanoseconds
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	awaitLevel(t, c)
	if _, err := fsm.Do(context.Background(), c.Nodes[0], fsm.Configure, fsm.Settings{MaxMemory: 1 << 20, Policy: keyspace.AllKeysLRU}); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"read", "other"} {
		if _, err := c.Write(0, "SET", key, "v"); err != nil {
			t.Fatal(err)
		}
	}
	ahead.Store(int64(time.Hour))
	idle := func(key string) (seconds int64) {
		n := c.Nodes[c.Leader()]
		n.Machine().View(n.Now(), [16]byte{}, func(v *fsm.View) {
			seconds = v.Exec(acl.Trusted(acl.DefaultName), command.RESP, clustertest.Words("OBJECT", "IDLETIME", key)).Int()
		})
		return seconds
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := c.Read((c.Leader()+1)%3, "GET", "read"); err != nil {
			t.Fatal(err)
		}
		read, other := idle("read"), idle("other")
		if read < 1000 && other > 3000 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the leader has the key that is read idle for %d s, the other for %d s", read, other)
		}
	}
}
