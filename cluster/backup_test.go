package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/cluster/payloads"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/queue"
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
	work := startLoad(4, func(i int) (bool, bool) {
		rows := [][][]byte{clustertest.Words("DECR", "a"), clustertest.Words("INCR", "b"), clustertest.Words("SET", fmt.Sprint("k", i), strings.Repeat("v", 100))}
		_, err := fsm.Do(context.Background(), source.Nodes[0], fsm.Exec, fsm.Batch{As: acl.Trusted(acl.DefaultName), Mode: fsm.Transaction, Rows: rows})
		if err != nil {
			t.Errorf("%v", err)
		}
		return err == nil, err == nil
	})
	eventually(t, "some transactions", func() bool { return work.done.Load() > 50 })
	before = work.done.Load()
	frozen, err := source.Nodes[0].Freeze(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	begun := work.done.Load()
	eventually(t, "transactions after the fork", func() bool { return work.done.Load() > begun+20 })
	var b bytes.Buffer
	if _, err := frozen.Backup(&b, "test"); err != nil {
		t.Fatal(err)
	}
	work.end()
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

// digestLog keeps the indexes of the digests that a node logs.
type digestLog struct {
	mu      sync.Mutex
	indexes []uint64
}

func (l *digestLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *digestLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *digestLog) WithGroup(string) slog.Handler            { return l }

func (l *digestLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "digest" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "index" {
			l.indexes = append(l.indexes, a.Value.Uint64())
		}
		return true
	})
	return nil
}

func (l *digestLog) taken() []uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]uint64(nil), l.indexes...)
}

// TestNoDigestOfTheReplay starts a node again with digests in the log that it applies: it takes none of those, and the next one.
func TestNoDigestOfTheReplay(t *testing.T) {
	log := &digestLog{}
	c := clustertest.Start(t, 1, func(o *cluster.Options) { o.DigestEvery, o.Log = 40, slog.New(log) })
	writeUntil := func(count int) {
		n := 0
		eventually(t, fmt.Sprint(count, " digests"), func() bool {
			n++
			if _, err := c.Write(0, "SET", fmt.Sprint("k", n), "v"); err != nil {
				t.Fatal(err)
			}
			return len(log.taken()) >= count
		})
	}
	writeUntil(3)
	before, _ := c.Nodes[0].Machine().Applied()
	c.Stop(0)
	old := len(log.taken())
	c.StartAll()
	if after, _ := c.Nodes[0].Machine().Applied(); after < before {
		t.Fatalf("entry %d is applied, %d was", after, before)
	}
	writeUntil(old + 1)
	for _, index := range log.taken()[old:] {
		if index <= before {
			t.Errorf("a digest of entry %d, which the start has applied again", index)
		}
	}
}

// TestDivergentStateIsFound changes the state of one node without the log. The digests that all nodes take and report by
// themselves reveal it: that node stops, the others go on.
func TestDivergentStateIsFound(t *testing.T) {
	var stopped reasons
	c := clustertest.Start(t, 3, func(o *cluster.Options) { o.DigestEvery, o.Fatal = 40, stopped.by(o.NodeID) })
	write := func(n int, through ...int) {
		for i := range n {
			if _, err := c.Write(through[i%len(through)], "SET", fmt.Sprint("k", i), "v"); err != nil {
				t.Fatal(err)
			}
		}
	}
	all := func() string {
		return strings.Join([]string{stopped.of("n1"), stopped.of("n2"), stopped.of("n3")}, "|")
	}
	write(150, 0, 1, 2)
	if got := all(); got != "||" {
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
		return all() != "||"
	})
	if got := all(); !strings.HasPrefix(got, "|the state at index ") || !strings.HasSuffix(got, "|") {
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

// bodyOf returns the body of a message as a node reads it from its own state.
func bodyOf(t *testing.T, n *cluster.Node, id queue.ID) (body []byte) {
	t.Helper()
	found := false
	_, err := n.Read(t.Context(), fsm.Reading{}, func(v *fsm.View) { // once it has applied what was published
		m, ok := v.Messages().Message(id, v.Now())
		if found = ok; ok {
			body = m.Content.Body
		}
	})
	if err != nil || !found {
		t.Fatalf("the message is there: %v (%v)", found, err)
	}
	return body
}

// TestDamagedBodyComesFromAnotherNode: all nodes have the bodies of waiting messages on their disks; those that are damaged on one
// are read right, because another node has them, and a node that starts again has them all.
func TestDamagedBodyComesFromAnotherNode(t *testing.T) {
	c := clustertest.Start(t, 3, nil)
	var ids []queue.ID
	body := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, 3000+i) }
	for i := range 20 {
		p := queue.Publication{URL: "http://127.0.0.1:1", Body: body(i)}
		p.Delay, p.Given = 3_600_000, queue.GivenDelay
		out, err := fsm.Do(context.Background(), c.Nodes[i%3], fsm.Publish, queue.Publications{Items: []queue.Publication{p}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, out.Items[0].Messages[0].ID)
	}
	for i := range c.Nodes {
		if _, err := c.Read(i, "GET", "none"); err != nil { // it has applied what was published
			t.Fatal(err)
		}
		if err := c.Nodes[i].MovePayloads(); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(c.Dirs[1], payloads.Dir, "*.pay"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	damaged, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range damaged {
		damaged[i] ^= 0x55
	}
	if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		for at := range c.Nodes {
			if got := bodyOf(t, c.Nodes[at], id); !bytes.Equal(got, body(i)) {
				t.Errorf("node %d has another body of message %d: %d bytes", at, i, len(got))
			}
		}
	}
	c.Stop(1)
	if err := c.Open(1); err != nil {
		t.Fatal(err)
	}
	c.WaitReady()
	if _, err := c.Read(1, "GET", "none"); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		if got := bodyOf(t, c.Nodes[1], id); !bytes.Equal(got, body(i)) {
			t.Errorf("after a start the node has another body of message %d", i)
		}
	}
}

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
