package cluster_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/cluster/payloads"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

// coldStrings are large strings that nobody reads.
type coldStrings struct {
	c      *clustertest.Cluster
	values []string
}

func coldKey(i int) string { return fmt.Sprintf("large:%d", i) }

// set gives a key a value by a command that needs the one before, or none.
func (cs *coldStrings) set(t *testing.T, i int, value string, words ...string) {
	t.Helper()
	if _, err := cs.c.Write(0, words...); err != nil {
		t.Fatal(err)
	}
	cs.values[i] = value
}

// rest waits until every node has all of them on its disk, and returns how many bytes they have.
func (cs *coldStrings) rest(t *testing.T) (bytes int64) {
	t.Helper()
	for _, v := range cs.values {
		bytes += int64(len(v))
	}
	eventually(t, "all large strings are on the disk of all nodes", func() bool {
		if _, err := cs.c.Write(0, "INCR", "turns"); err != nil { // cluster time goes on
			t.Fatal(err)
		}
		for i := range cs.c.Nodes {
			if n, b := coldOn(cs.c.Nodes[i]); n != int64(len(cs.values)) || b != bytes {
				return false
			}
		}
		return true
	})
	return bytes
}

func coldOn(n *cluster.Node) (number, bytes int64) {
	n.Machine().View(0, [16]byte{}, func(v *fsm.View) { number, bytes = v.ColdValues() })
	return number, bytes
}

// readBy compares all of them as a node has them.
func (cs *coldStrings) readBy(t *testing.T, node int) {
	t.Helper()
	for i, want := range cs.values {
		v, err := cs.c.Read(node, "GET", coldKey(i))
		if err != nil || v.Text() != want {
			t.Fatalf("node %d has another value of %s, of %d bytes: %v", node, coldKey(i), len(v.Text()), err)
		}
	}
}

// TestColdStringsOnNodes has the large strings of three nodes on their disks. They are what they were after writes that need the one
// before, after segments were harmed, when a node joins by a snapshot that names them, and after all nodes have stopped.
func TestColdStringsOnNodes(t *testing.T) {
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		shortLog(o)
		o.ColdAfter = time.Millisecond
	})
	t.Cleanup(c.StopAll)
	eventually(t, "the feature level rises", func() bool { return c.Nodes[0].Machine().Level() >= env.Files })
	cs := &coldStrings{c: c, values: make([]string, 200)}
	for i := range cs.values {
		v := strings.Repeat(fmt.Sprintf("%d,", i), 600+i)
		cs.set(t, i, v, "SET", coldKey(i), v)
	}
	bytes := cs.rest(t)
	snapshots(t, c)
	for _, n := range c.Nodes {
		if s, err := n.NewestSnapshot(); err != nil || s.Bytes > bytes/20 {
			t.Errorf("a snapshot of %d bytes has %d bytes of strings on the disk: %v", s.Bytes, bytes, err)
		}
	}
	for i := 0; i < 60; i += 3 {
		cs.set(t, i, cs.values[i]+"end", "APPEND", coldKey(i), "end")
		cs.set(t, i+1, "new"+cs.values[i+1][3:], "SETRANGE", coldKey(i+1), "0", "new")
		v := strings.Repeat("other", 400+i)
		cs.set(t, i+2, v, "GETSET", coldKey(i+2), v)
	}
	cs.rest(t)
	oneDigest(t, c)
	for i := range c.Nodes {
		cs.readBy(t, i)
	}
	cs.rest(t)
	snapshots(t, c)

	c.Stop(1)
	files, err := filepath.Glob(filepath.Join(c.Dirs[1], payloads.Dir, "*.pay"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		for i := 0; i < len(b); i += 997 {
			b[i] ^= 4
		}
		if err := errors.Join(err, os.WriteFile(f, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Open(1); err != nil {
		t.Fatal(err)
	}
	c.WaitReady()
	cs.readBy(t, 1)

	c.Stop(2)
	place, err := c.Join("n4", "n3", "")
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := coldOn(c.Nodes[place]); n == 0 {
		t.Error("the node that has joined has all strings in memory")
	}
	cs.readBy(t, place)
	c.Stop(place)
	if err := c.Open(place); err != nil {
		t.Fatal(err)
	}
	c.WaitReady()
	for _, i := range []int{0, 1, place} {
		cs.readBy(t, i)
	}
}

// TestMoreThanMemory gives a node more bytes of strings than its memory limit. They go to its disk because memory is short, long before
// --cold-after, so what lives stays below the limit.
func TestMoreThanMemory(t *testing.T) {
	c := clustertest.Start(t, 1, func(o *cluster.Options) {
		shortLog(o)
		o.ColdAfter = 24 * time.Hour
	})
	awaitLevel(t, c)
	const room, length, together = 24 << 20, 64 << 10, 16
	limit := liveBytes() + room
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	cs := &coldStrings{c: c}
	for bytes := int64(0); bytes <= limit+room; bytes += together * length {
		words := []string{"MSET"}
		for range together {
			v := fmt.Sprintf("%d:", len(cs.values)) + strings.Repeat(fmt.Sprint(len(cs.values)%10), length)
			words = append(words, coldKey(len(cs.values)), v)
			cs.values = append(cs.values, strings.Clone(v[:20])) // not a part of v, which would live
		}
		if _, err := c.Write(0, words...); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "more is on the disk than the node may have in memory", func() bool {
		runtime.GC()
		_, bytes := coldOn(c.Nodes[0])
		return bytes > limit
	})
	snapshots(t, c)
	// A snapshot and the log hold some of them for a moment.
	eventually(t, fmt.Sprintf("no more than %d bytes live with %d strings of %d bytes", limit, len(cs.values), length), func() bool {
		return liveBytes() <= limit
	})
	for i, want := range cs.values {
		if v, err := c.Read(0, "GETRANGE", coldKey(i), "0", "19"); err != nil || v.Text() != want {
			t.Fatalf("%s begins with %q, not %q: %v", coldKey(i), v.Text(), want, err)
		}
	}
}

// liveBytes returns the bytes that live in the heap after a collection.
func liveBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
