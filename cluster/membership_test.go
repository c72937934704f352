package cluster_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/internal/certs"
)

// suffrages returns the servers as a node sees them, "n1 voter, n2 nonvoter".
func suffrages(n *cluster.Node) string {
	var all []string
	for _, s := range n.Status(context.Background()).Nodes {
		all = append(all, s.ID+" "+s.Suffrage)
	}
	return strings.Join(all, ", ")
}

// TestMembership lets a fourth node join under load, takes the first out, and replaces the second, whose disk is lost,
// by a node at its address: nothing acknowledged is lost, nothing is applied twice, and no request fails on nodes that
// stay.
func TestMembership(t *testing.T) {
	var removed reasons
	c := clustertest.Start(t, 3, func(o *cluster.Options) { o.Removed = removed.by(o.NodeID) })
	saysRemoved := func(id string) func() bool {
		return func() bool { return strings.Contains(removed.of(id), "was removed from its cluster") }
	}
	for i := range 200 {
		if _, err := c.Write(0, "SET", fmt.Sprint("k", i), "v"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Nodes[c.Leader()].Snapshot(); err != nil {
		t.Fatal(err)
	}
	counts := count(t, c, 1, 2)
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
	counts.agrees(t, c, n4)

	// The second loses its disk. A node with a new id takes its place and its address.
	c.Stop(1)
	if err := os.RemoveAll(c.Dirs[1]); err != nil {
		t.Fatal(err)
	}
	before := current(t, c, 2)
	counts = count(t, c, 2, n4)
	counts.done.Add(before)
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
	counts.agrees(t, c, n6)
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

// TestCopyOfARunningNodeEnds: a second process on a copy of the data directory of a node that runs, at another address, ends by
// itself and says why, although it counts one start more. The node itself, which was there first, goes on, and may be
// started again afterwards.
func TestCopyOfARunningNodeEnds(t *testing.T) {
	var ended reasons
	secret := clustertest.WithSecret("a secret that the nodes of this test share")
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		secret(o)
		o.Fatal = ended.by(o.NodeID)
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
		NodeID: "n2", DataDir: dir, Heartbeat: 300 * time.Millisecond, Owner: cluster.Owner{Fatal: ended.by("copy")},
		Addresses: cluster.Addresses{Bind: clustertest.Ports(t, 1)[0]}, Entrance: cluster.Entrance{InitialCluster: c.List},
	}
	secret(&o)
	copied, err := cluster.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the copy ends", func() bool { return ended.of("copy") != "" })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	copied.Close(ctx)
	for _, words := range []string{"n2 is running elsewhere", "was there first", c.List[1].Addr, "--join"} {
		if !strings.Contains(ended.of("copy"), words) {
			t.Errorf("the reason has no %q: %s", words, ended.of("copy"))
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
		if reason := ended.of(c.List[i].ID); reason != "" {
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

// TestOldCopyIsRefused: a node whose data directory is put back to an older state ends by itself, with a reason that says
// what to do, and the others go on; also if all of them have been started anew, and if the copy counts as many starts as
// the node had come to.
func TestOldCopyIsRefused(t *testing.T) {
	var ended reasons
	told := func() string { return ended.of("n2") }
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		if o.NodeID == "n2" {
			o.Fatal = ended.by("n2")
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
	ended.Clear()
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

var writeCompat = flag.Bool("compat.write", false, "write testdata/compat for this binary's feature level anew")

// compatKeys is the number of keys in each directory of testdata/compat; half of them were written after the snapshot.
const compatKeys = 40

// oldOptions returns the options of a node on a directory of testdata/compat.
func oldOptions(t *testing.T, dir string, fatal func(string)) cluster.Options {
	addr := clustertest.Ports(t, 1)[0]
	return cluster.Options{
		NodeID: "n1", DataDir: dir, Addresses: cluster.Addresses{Bind: addr}, Heartbeat: 100 * time.Millisecond,
		LevelAfter: 100 * time.Millisecond, Entrance: cluster.Entrance{InitialCluster: []cluster.Peer{{ID: "n1", Addr: addr}}},
		Owner: cluster.Owner{Fatal: fatal, Bootstrap: func(bool) (fsm.Bootstrap, bool) { return fsm.Bootstrap{}, false }},
	}
}

// TestOldDirectories: a node starts on the data directory of every level from env.Base on, finds what was written, in the
// snapshot and in the log after it, and goes on. A directory of a later level is refused with an error that names the
// levels, one of an earlier level with the ways that lead to this version. Both are left as they are.
func TestOldDirectories(t *testing.T) {
	if *writeCompat {
		recordDirectory(t)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "compat", "level-*.tar.gz"))
	if err != nil || len(files) < 2 {
		t.Fatalf("directories of earlier and later versions are missing: %v, %v", files, err)
	}
	for _, f := range files {
		var level uint32
		if _, err := fmt.Sscanf(filepath.Base(f), "level-%d.tar.gz", &level); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint(level), func(t *testing.T) {
			dir := t.TempDir()
			untar(t, f, dir)
			switch {
			case level > uint32(fsm.MaxLevel):
				newer(t, dir, level)
			case level < uint32(env.Base):
				former(t, dir, level)
			default:
				older(t, dir)
			}
		})
	}
}

func older(t *testing.T, dir string) {
	c := &clustertest.Cluster{T: t}
	n, err := cluster.Open(t.Context(), oldOptions(t, dir, func(reason string) { t.Errorf("the node must stop: %s", reason) }))
	if err != nil {
		t.Fatal(err)
	}
	c.Nodes = []*cluster.Node{n}
	defer c.StopAll()
	eventually(t, "the node serves", func() bool { return n.Ready(context.Background()) })
	for i := range compatKeys {
		if v, err := c.Read(0, "GET", fmt.Sprint("k", i)); err != nil || v.Text() != fmt.Sprint("v", i) {
			t.Errorf("k%d is %q, %v", i, v.Text(), err)
		}
	}
	if v, err := c.Write(0, "INCR", "n"); err != nil || v.IsError() {
		t.Errorf("writes go on: %v, %v", v, err)
	}
}

func newer(t *testing.T, dir string, level uint32) {
	before := listing(t, dir)
	_, err := cluster.Open(t.Context(), oldOptions(t, dir, func(reason string) { t.Errorf("the node must stop: %s", reason) }))
	if !errors.Is(err, cluster.ErrLevel) || !strings.Contains(err.Error(), fmt.Sprintf("is at feature level %d, this version knows %d; start the node with", level, fsm.MaxLevel)) {
		t.Fatalf("a directory of a later level: %v", err)
	}
	if after := listing(t, dir); after != before {
		t.Errorf("the refused directory was changed:\n%s\nbefore:\n%s", after, before)
	}
}

// former starts a node on a directory below env.Base: as it is, and with its log alone. It is refused with the ways that lead to this
// version.
func former(t *testing.T, dir string, level uint32) {
	for _, about := range []string{"with snapshots", "with a log alone"} {
		before := listing(t, dir)
		_, err := cluster.Open(t.Context(), oldOptions(t, dir, func(reason string) { t.Errorf("the node must stop: %s", reason) }))
		if !errors.Is(err, fsm.ErrFormerLevel) || !strings.Contains(err.Error(), fmt.Sprintf("%s: its data is of feature level %d, which this version does not read: run version 0.2.0", dir, level)) {
			t.Fatalf("%s: a directory of an earlier level: %v", about, err)
		}
		if after := listing(t, dir); after != before {
			t.Errorf("%s: the refused directory was changed:\n%s\nbefore:\n%s", about, after, before)
		}
		if err := os.RemoveAll(filepath.Join(dir, "snapshots")); err != nil {
			t.Fatal(err)
		}
	}
}

// listing returns the names of a directory's files with the digests of their contents, without the lock.
func listing(t *testing.T, dir string) string {
	var all strings.Builder
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "raft.lock" {
			return err
		}
		b, err := os.ReadFile(name)
		fmt.Fprintf(&all, "%s %x\n", name, sha256.Sum256(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// recordDirectory writes the directory of a node of this binary's level: a snapshot, and a log after it.
func recordDirectory(t *testing.T) {
	dir := t.TempDir()
	c := &clustertest.Cluster{T: t}
	n, err := cluster.Open(t.Context(), oldOptions(t, dir, func(reason string) { t.Errorf("the node must stop: %s", reason) }))
	if err != nil {
		t.Fatal(err)
	}
	c.Nodes = []*cluster.Node{n}
	eventually(t, "the level is in force", func() bool { return n.Ready(context.Background()) && n.FeatureLevel() == uint32(fsm.MaxLevel) })
	for i := range compatKeys {
		if v, err := c.Write(0, "SET", fmt.Sprint("k", i), fmt.Sprint("v", i)); err != nil || v.IsError() {
			t.Fatal(v, err)
		}
		if i == compatKeys/2 {
			if err := n.Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.StopAll()
	if err := os.MkdirAll(filepath.Join("testdata", "compat"), 0o755); err != nil {
		t.Fatal(err)
	}
	archive(t, dir, filepath.Join("testdata", "compat", fmt.Sprintf("level-%d.tar.gz", fsm.MaxLevel)))
}

// archive packs a directory, except the reserve, which holds nothing.
func archive(t *testing.T, dir, path string) {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	err = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(d.Name(), "reserve") {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: rel, Mode: 0o600, Size: int64(len(b))}); err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	})
	if err := errors.Join(err, w.Close(), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func untar(t *testing.T, path, dir string) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		b, err := io.ReadAll(r)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, b, 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
}

// listening is a log that says when it has had a line with a text.
type listening struct {
	text  string
	heard chan struct{}
}

func listenFor(text string) listening {
	return listening{text, make(chan struct{}, 1)}
}

func (l listening) Enabled(context.Context, slog.Level) bool { return true }
func (l listening) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l listening) WithGroup(string) slog.Handler            { return l }

func (l listening) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if strings.Contains(a.Value.String(), l.text) {
			select {
			case l.heard <- struct{}{}:
			default:
			}
		}
		return true
	})
	return nil
}

func (l listening) await(t *testing.T, who string) {
	t.Helper()
	select {
	case <-l.heard:
	case <-time.After(time.Minute):
		t.Errorf("%s has not said %q", who, l.text)
	}
}

// TestNodeWithoutTheSecret: a node that is started without the secret of the others, as with --cluster-insecure, is kept
// out. Both sides say why and what to set; the others go on, and with the secret it is one of them again.
func TestNodeWithoutTheSecret(t *testing.T) {
	const odd = 2
	secured := listenFor("connections to this node need TLS: start the other node with the same --cluster-secret-file")
	plain := listenFor("received a TLS connection, but this node was started without --cluster-secret-file")
	withSecret := clustertest.WithSecret(certs.NewSecret())
	insecure := false
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		if o.NodeID == "n3" && insecure {
			o.Log = slog.New(plain)
			return
		}
		o.Log = slog.New(secured)
		withSecret(o)
	})
	if _, err := c.Write(0, "SET", "k", "before"); err != nil {
		t.Fatal(err)
	}
	c.Stop(odd)
	insecure = true
	if err := c.Open(odd); err != nil {
		t.Fatal(err)
	}
	secured.await(t, "a node with the secret")
	plain.await(t, "the node without")
	if _, err := c.Write(0, "SET", "k", "after"); err != nil {
		t.Fatalf("the others: %v", err)
	}
	c.Stop(odd)
	insecure = false
	c.StartAll()
	if v, err := c.Read(odd, "GET", "k"); err != nil || v.Text() != "after" {
		t.Errorf("with the secret it reads %q, %v", v.Text(), err)
	}
}
