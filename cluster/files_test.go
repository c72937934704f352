package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/cluster/payloads"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// waiting are messages that wait, with large bodies.
type waiting struct {
	ids     []queue.ID
	bodies  [][]byte
	digests []payload.Digest
	bytes   int64
}

// publishWaiting publishes messages whose bodies have size bytes and can't be compressed.
func publishWaiting(t *testing.T, c *clustertest.Cluster, count, size int) (w waiting) {
	t.Helper()
	random := rand.NewChaCha8([32]byte{byte(count), byte(size)})
	for len(w.ids) < count {
		var list queue.Publications
		for range min(100, count-len(w.ids)) {
			body := make([]byte, size)
			_, _ = random.Read(body) // never fails
			p := queue.Publication{URL: "http://127.0.0.1:1", Body: body}
			p.Delay, p.Given = 3_600_000, queue.GivenDelay
			list.Items = append(list.Items, p)
			w.bodies, w.digests, w.bytes = append(w.bodies, body), append(w.digests, payload.DigestOf(body)), w.bytes+int64(size)
		}
		out, err := fsm.Do(context.Background(), c.Nodes[0], fsm.Publish, list)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range out.Items {
			w.ids = append(w.ids, item.Messages[0].ID)
		}
	}
	return w
}

// readBy compares the bodies as a node has them.
func (w waiting) readBy(t *testing.T, n *cluster.Node) {
	t.Helper()
	for i, id := range w.ids {
		if got := bodyOf(t, n, id); !bytes.Equal(got, w.bodies[i]) {
			t.Fatalf("message %d has another body", i)
		}
	}
}

// snapshots has every node take a snapshot of everything, and none keep the log before it.
func snapshots(t *testing.T, c *clustertest.Cluster) {
	t.Helper()
	for i, n := range c.Nodes {
		if _, err := c.Read(i, "GET", "none"); err != nil { // it has applied what was acknowledged
			t.Fatal(err)
		}
		if err := n.Snapshot(); err != nil {
			t.Fatal(err)
		}
	}
}

func shortLog(o *cluster.Options) { o.TrailingLogs = 1 }

// TestSnapshotsNamePayloads: a snapshot does not have the bytes of large bodies, a node that starts has them all without asking
// anybody, and so has a node alone.
func TestSnapshotsNamePayloads(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		c := clustertest.Start(t, nodes, shortLog)
		awaitLevel(t, c)
		w := publishWaiting(t, c, 500, 5000)
		snapshots(t, c)
		for _, n := range c.Nodes {
			if s, err := n.NewestSnapshot(); err != nil || s.Bytes > w.bytes/20 {
				t.Errorf("a snapshot of %d bytes has %d bytes of bodies: %v", s.Bytes, w.bytes, err)
			}
			if got := n.HasPayloads(w.digests); got != len(w.digests) {
				t.Errorf("%d of %d payloads are on the disk", got, len(w.digests))
			}
		}
		later := publishWaiting(t, c, 10, 2000) // the log has these
		before := oneDigest(t, c)
		c.StopAll()
		c.StartAll()
		for i, n := range c.Nodes {
			if _, err := c.Read(i, "GET", "none"); err != nil {
				t.Fatal(err)
			}
			w.readBy(t, n)
			later.readBy(t, n)
			if n.FetchedPayloads() != 0 {
				t.Errorf("%d payloads were fetched", n.FetchedPayloads())
			}
		}
		if after := oneDigest(t, c); before == "" || after == "" {
			t.Error("no digest")
		}
		c.StopAll()
	}
}

// TestJoinFetchesPayloads: a node that gets a snapshot has every payload that it names on its own disk when it is installed, although
// the wait for them may be too short for one try.
func TestJoinFetchesPayloads(t *testing.T) {
	for name, refused := range map[string]int32{"at once": 0, "in several tries": 3} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(cluster.HurryReceives(refused))
			c := clustertest.Start(t, 3, shortLog)
			t.Cleanup(c.StopAll)
			awaitLevel(t, c)
			w := publishWaiting(t, c, 1500, 2048) // more than one call may fetch
			snapshots(t, c)
			c.Stop(2)
			place, err := c.Join("n4", "n3", "")
			if err != nil {
				t.Fatal(err)
			}
			n := c.Nodes[place]
			if got := n.HasPayloads(w.digests); got != len(w.digests) || n.FetchedPayloads() != int64(len(w.digests)) {
				t.Errorf("the node has %d payloads, %d were fetched, of %d", got, n.FetchedPayloads(), len(w.digests))
			}
			w.readBy(t, n)
			c.Stop(place)
			if err := c.Open(place); err != nil {
				t.Fatal(err)
			}
			c.WaitReady()
			w.readBy(t, c.Nodes[place])
			if got := c.Nodes[place].FetchedPayloads(); got != 0 {
				t.Errorf("after a start %d payloads were fetched", got)
			}
		})
	}
}

// TestLostSegmentsAreFetched: what a node has lost of its payloads while it was down comes from the others, without anybody reading it.
func TestLostSegmentsAreFetched(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"removed":   os.Remove,
		"truncated": func(path string) error { return os.Truncate(path, 100_000) },
		"flipped": func(path string) error {
			b, err := os.ReadFile(path)
			for i := 0; i < len(b); i += 997 {
				b[i] ^= 4
			}
			return errors.Join(err, os.WriteFile(path, b, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := clustertest.Start(t, 3, shortLog)
			awaitLevel(t, c)
			w := publishWaiting(t, c, 200, 3000)
			snapshots(t, c)
			c.Stop(1)
			files, err := filepath.Glob(filepath.Join(c.Dirs[1], payloads.Dir, "*.pay"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			for _, f := range files {
				if err := harm(f); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Open(1); err != nil {
				t.Fatal(err)
			}
			c.WaitReady()
			eventually(t, "the node has all payloads", func() bool { return c.Nodes[1].HasPayloads(w.digests) == len(w.digests) })
			w.readBy(t, c.Nodes[1])
			snapshots(t, c)
		})
	}
}
