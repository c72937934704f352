package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
)

// oneDigest waits until all nodes are at one index, and returns the digest that they have there.
func oneDigest(t *testing.T, c *clustertest.Cluster) (digest string) {
	t.Helper()
	eventually(t, "all nodes at one index", func() bool {
		var first *fsm.Frozen
		for _, n := range c.Nodes {
			f := n.Machine().Fork()
			if first == nil {
				first, digest = f, f.Digest()
			}
			if f.Index() != first.Index() {
				return false
			}
			if f.Digest() != digest {
				t.Fatalf("at index %d digests differ", f.Index())
			}
		}
		return true
	})
	return digest
}

// loaded takes a backup of a cluster of one node while clients move amounts between accounts.
func loaded(t *testing.T) (file []byte, before, after int64) {
	source := clustertest.Start(t, 1, func(o *cluster.Options) {
		o.Bootstrap = func(bool) (f fsm.Bootstrap, again bool) {
			f.Tokens[acl.Standard] = acl.DigestOf("token of the source")
			return f, false
		}
	})
	var done atomic.Int64
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for i := range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				rows := [][][]byte{clustertest.Words("DECR", "a"), clustertest.Words("INCR", "b"), clustertest.Words("SET", fmt.Sprint("k", i), strings.Repeat("v", 100))}
				_, err := fsm.Do(context.Background(), source.Nodes[0], fsm.Exec, fsm.Batch{As: acl.Trusted(acl.DefaultName), Mode: fsm.Transaction, Rows: rows})
				if err != nil {
					t.Errorf("%v", err)
					return
				}
				done.Add(1)
			}
		})
	}
	eventually(t, "some transactions", func() bool { return done.Load() > 50 })
	before = done.Load()
	frozen, err := source.Nodes[0].Freeze(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	begun := done.Load()
	eventually(t, "transactions after the fork", func() bool { return done.Load() > begun+20 })
	var b bytes.Buffer
	if _, err := frozen.Backup(&b, "test"); err != nil {
		t.Fatal(err)
	}
	close(stop)
	wg.Wait()
	return b.Bytes(), before, begun + 4 // one of each client may have been applied and not counted
}

// TestBackupUnderLoadRestoredOnThreeNodes: the backup holds everything acknowledged before it, transactions are whole,
// and three nodes have one state after the restore, after later writes, and after a restart.
func TestBackupUnderLoadRestoredOnThreeNodes(t *testing.T) {
	file, before, after := loaded(t)
	c := clustertest.Start(t, 3, nil)
	follower := (c.Leader() + 1) % 3
	out, err := c.Nodes[follower].RestoreBackup(context.Background(), bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if out.Contents.Keys() < 3 {
		t.Errorf("%+v", out)
	}
	number := func(node int, key string) int64 {
		v, err := c.Read(node, "GET", key)
		n, _ := strconv.ParseInt(v.Text(), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i := range 3 {
		if a, b := number(i, "a"), number(i, "b"); a+b != 0 || b < before || b > after {
			t.Errorf("node %d: %d and %d, acknowledged were %d to %d", i, a, b, before, after)
		}
	}
	oneDigest(t, c)
	for i := range 3 {
		if _, err := c.Write(i, "INCR", "b"); err != nil {
			t.Errorf("a write on node %d: %v", i, err)
		}
		if left, _ := filepath.Glob(filepath.Join(c.Dirs[i], "restore-*")); len(left) > 0 {
			t.Errorf("%v are left", left)
		}
	}
	b := number(0, "b")
	c.StopAll()
	if err := os.WriteFile(filepath.Join(c.Dirs[0], "restore-1.tmp"), file, 0o600); err != nil { // of a process that was killed
		t.Fatal(err)
	}
	c.StartAll()
	oneDigest(t, c)
	if got := number(1, "b"); got != b {
		t.Errorf("%d after a restart, %d before", got, b)
	}
	if _, err := os.Stat(filepath.Join(c.Dirs[0], "restore-1.tmp")); !os.IsNotExist(err) {
		t.Errorf("what was left of a restore is there still: %v", err)
	}
}

// TestNodesRegisterAnewAfterARestore: without a request of theirs, since digests and CLUSTER NODES count sessions.
func TestNodesRegisterAnewAfterARestore(t *testing.T) {
	file, _, _ := loaded(t)
	c := clustertest.Start(t, 3, func(o *cluster.Options) { o.RESP = "127.0.0.1:1" + o.NodeID[1:] })
	ports := func() (n int) {
		c.Nodes[0].Machine().View(0, [16]byte{}, func(v *fsm.View) { n = len(v.RESPPorts()) })
		return n
	}
	eventually(t, "three sessions", func() bool { return ports() == 3 })
	if _, err := c.Nodes[0].RestoreBackup(context.Background(), bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "three sessions again", func() bool { return ports() == 3 })
}

// TestRefusedBackups: before anything enters the log.
func TestRefusedBackups(t *testing.T) {
	file, _, _ := loaded(t)
	c := clustertest.Start(t, 1, nil)
	index := func() uint64 { i, _ := c.Nodes[0].Machine().Applied(); return i }
	began := index()
	for i := 0; i < len(file); i += max(len(file)/40, 1) {
		bad := bytes.Clone(file)
		bad[i] ^= 1 << (i % 8)
		for _, one := range [][]byte{bad, file[:i]} {
			if _, err := c.Nodes[0].RestoreBackup(context.Background(), bytes.NewReader(one)); !errors.Is(err, fsm.ErrBackup) && !errors.Is(err, fsm.ErrBackupNewer) {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	}
	broken := io.MultiReader(bytes.NewReader(file[:100]), brokenReader{})
	if _, err := c.Nodes[0].RestoreBackup(context.Background(), broken); !errors.Is(err, errBroken) {
		t.Errorf("a client that goes away: %v", err)
	}
	var keys int
	c.Nodes[0].Machine().View(0, [16]byte{}, func(v *fsm.View) { keys, _ = v.Usage() })
	if keys != 0 || index() > began+1000 {
		t.Errorf("%d keys, %d entries", keys, index()-began)
	}
	if _, err := c.Write(0, "SET", "k", "v"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Nodes[0].RestoreBackup(context.Background(), bytes.NewReader(file)); !errors.Is(err, fsm.ErrNotEmpty) {
		t.Errorf("into a cluster with a key: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(c.Dirs[0], "restore-*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

var errBroken = errors.New("broken")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }
