package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/internal/testgate"
	"github.com/trireme-dev/trireme/node/quota"
)

// in runs a command in a database.
func in(n *cluster.Node, db string, words ...string) (string, error) {
	as := acl.Trusted(acl.DefaultName)
	as.DB = db
	row := make([][]byte, len(words))
	for i, w := range words {
		row[i] = []byte(w)
	}
	out, err := fsm.Do(context.Background(), n, fsm.Exec, fsm.Batch{As: as, Origin: command.RESP, Rows: [][][]byte{row}})
	if err != nil {
		return "", err
	}
	if out.Values[0].IsError() {
		return "", errRefused
	}
	return out.Values[0].Text(), nil
}

// TestHogDoesNotHoldANeighbour: costly writes of one database wait at all nodes. A neighbour's small writes are applied
// while most of the costly ones still wait, and none of them is lost, applied twice or refused.
func TestHogDoesNotHoldANeighbour(t *testing.T) {
	const costly, small = 90, 5
	c := clustertest.Start(t, 3, nil)
	awaitLevel(t, c)
	for _, name := range []string{"hog", "neighbour"} {
		tokens := fsm.DatabaseTokens{Name: name}
		tokens.Standard[0], tokens.ReadOnly[0] = 1, 2
		if _, err := fsm.Do(context.Background(), c.Nodes[0], fsm.CreateDatabase, tokens); err != nil {
			t.Fatal(err)
		}
	}
	// More work than an entry does for a database, and little time.
	write := []string{"EVAL", "redis.call('SETRANGE', KEYS[1], ARGV[1], 'x') return redis.call('INCR', KEYS[2])", "2", "v", "n", strconv.Itoa(64 * fsm.EntryShare)}
	var wg sync.WaitGroup
	var done atomic.Int64
	for i := range costly {
		wg.Go(func() {
			if _, err := in(c.Nodes[i%3], "hog", write...); err != nil {
				t.Errorf("a costly write: %v", err)
			}
			done.Add(1)
		})
	}
	for done.Load() == 0 && !t.Failed() { // until they are under way
		if _, err := in(c.Nodes[0], "neighbour", "INCR", "n"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range small {
		if _, err := in(c.Nodes[i%3], "neighbour", "INCR", "n"); err != nil {
			t.Fatal(err)
		}
	}
	if n := done.Load(); n > costly*2/3 {
		t.Errorf("the neighbour's %d writes were done after %d of %d costly ones", small, n, costly)
	}
	wg.Wait()
	if n, err := in(c.Nodes[0], "hog", "GET", "n"); n != strconv.Itoa(costly) || err != nil {
		t.Errorf("%d costly writes count %s, %v", costly, n, err)
	}
	if deferred := figure(t, c.Nodes, "trireme_requests_deferred_total"); deferred == 0 {
		t.Error("nothing was deferred")
	}
	if held := figure(t, c.Nodes, "trireme_requests_held"); held != 0 {
		t.Errorf("%v are held when all is done", held)
	}
}

// figure returns the sum of a metric of all nodes.
func figure(t *testing.T, nodes []*cluster.Node, name string) (sum float64) {
	t.Helper()
	for _, n := range nodes {
		registry := prometheus.NewRegistry()
		registry.MustRegister(n.Collectors()...)
		all, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			if m.GetName() == name {
				for _, v := range m.GetMetric() {
					sum += v.GetCounter().GetValue() + v.GetGauge().GetValue()
				}
			}
		}
	}
	return sum
}

// TestDailyLimitOnThreeNodes spends a small limit through all nodes at once while
// leadership moves: exactly as many commands are let through.
func TestDailyLimitOnThreeNodes(t *testing.T) {
	const limit = 90
	c := clustertest.Start(t, 3, nil)
	if _, err := fsm.Do(context.Background(), c.Nodes[0], fsm.Configure, fsm.Settings{DailyLimit: limit}); err != nil {
		t.Fatal(err)
	}
	var granted, failed atomic.Int64
	var wg sync.WaitGroup
	for i, n := range c.Nodes {
		m := quota.New(n)
		for range 4 {
			wg.Go(func() {
				for j := range limit / 4 {
					if i == 0 && j == 5 {
						_ = c.Nodes[c.Leader()].TransferLeadership("") // one of several may be refused
					}
					took, err := take(n, m)
					granted.Add(took)
					if err != nil && !errors.As(err, new(*quota.Exceeded)) {
						failed.Add(1)
						t.Logf("node %d: %v", i, err)
					}
				}
			})
		}
	}
	wg.Wait()
	if granted.Load() > limit || (failed.Load() == 0 && granted.Load() != limit) {
		t.Errorf("%d of %d commands were let through, %d failed", granted.Load(), limit, failed.Load())
	}
}

// take proposes as an entry point does, with the quota that the node knows. The node may not know the limit yet.
func take(n interface {
	Read(context.Context, fsm.Reading, func(*fsm.View)) (fsm.ReadAt, error)
}, m *quota.Meter) (int64, error) {
	var now fsm.Quota
	if _, err := n.Read(context.Background(), fsm.Reading{}, func(v *fsm.View) { now, _ = v.Quota("") }); err != nil {
		return 0, err
	}
	return m.Take(context.Background(), "", now, 1, false)
}

// TestLongReadsShareANode runs as many long reads of one database on a node as it may have. One more waits until its
// time is over. Its short reads and the long reads of others are served, and so are its own long reads when the first
// have ended.
func TestLongReadsShareANode(t *testing.T) {
	c := clustertest.Start(t, 1, nil)
	awaitLevel(t, c)
	n := c.Nodes[0]
	for _, name := range []string{"hog", "neighbour"} {
		tokens := fsm.DatabaseTokens{Name: name}
		tokens.Standard[0], tokens.ReadOnly[0] = 1, 2
		if _, err := fsm.Do(context.Background(), n, fsm.CreateDatabase, tokens); err != nil {
			t.Fatal(err)
		}
	}
	most := max(1, runtime.GOMAXPROCS(0)/2)
	leave, ended := testgate.New(t), make(chan error, most)
	for i := range most {
		go func() {
			_, err := n.Read(context.Background(), fsm.Reading{Long: true, Database: "hog"}, func(*fsm.View) { leave.Wait() })
			ended <- err
		}()
		leave.Reached(i + 1)
	}
	script := func(db string) func(*fsm.View) {
		as := acl.Trusted(acl.DefaultName)
		as.DB = db
		return func(v *fsm.View) {
			v.Exec(as, command.RESP, [][]byte{[]byte("EVAL_RO"), []byte("return 1"), []byte("0")})
		}
	}
	for name, r := range map[string]fsm.Reading{"said": {Long: true, Database: "hog"}, "found out": {Database: "hog"}} {
		ctx, cancel := context.WithCancel(context.Background())
		got := make(chan error, 1)
		go func() {
			_, err := n.Read(ctx, r, script("hog"))
			got <- err
		}()
		eventually(t, "the read waits for its turn", func() bool { return figure(t, c.Nodes, "trireme_reads_held") == 1 })
		cancel()
		if err := testgate.Receive(t, "the end of a read that has waited", got); !errors.Is(err, fsm.ErrReadShare) {
			t.Errorf("a long read too many, as is %s: %v", name, err)
		}
	}
	if _, err := n.Read(context.Background(), fsm.Reading{Database: "hog"}, func(*fsm.View) {}); err != nil {
		t.Errorf("a short read: %v", err)
	}
	for db, r := range map[string]fsm.Reading{"neighbour": {Database: "neighbour"}, "": {Long: true}} {
		if _, err := n.Read(context.Background(), r, script(db)); err != nil {
			t.Errorf("a long read of database %q: %v", db, err)
		}
	}
	leave.Open()
	for range most {
		if err := testgate.Receive(t, "the end of a long read", ended); err != nil {
			t.Error(err)
		}
	}
	if _, err := n.Read(context.Background(), fsm.Reading{Database: "hog"}, script("hog")); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if held := figure(t, c.Nodes, "trireme_reads_held"); held != 0 {
		t.Errorf("%v are held when all is done", held)
	}
}

var errRefused = errors.New("refused")

var oneKilobyte = bytes.Repeat([]byte("v"), 1000)

// put stores a kilobyte under a key.
func put(ctx context.Context, n *cluster.Node, key string) error {
	rows := [][][]byte{{[]byte("SET"), []byte(key), oneKilobyte}}
	out, err := fsm.Do(ctx, n, fsm.Exec, fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.RESP, Rows: rows})
	if err == nil && out.Values[0].IsError() {
		return errRefused
	}
	return err
}

// TestEvictionOnThreeNodes writes three times the memory limit through all nodes at once while leadership moves: no write
// is refused, memory stays at the limit, and all nodes have evicted the same keys.
func TestEvictionOnThreeNodes(t *testing.T) {
	const limit, writers, writes = 60_000, 6, 25
	c := clustertest.Start(t, 3, nil)
	ctx := context.Background()
	awaitLevel(t, c)
	if _, err := fsm.Do(ctx, c.Nodes[0], fsm.Configure, fsm.Settings{MaxMemory: limit, Policy: keyspace.AllKeysLRU}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var refused atomic.Int64
	for w := range writers {
		wg.Go(func() {
			for i := range writes {
				if w == 0 && i == writes/2 {
					_ = c.Nodes[c.Leader()].TransferLeadership("") // it may be refused
				}
				if err := put(ctx, c.Nodes[w%3], fmt.Sprint("k", w, ".", i)); errors.Is(err, errRefused) {
					refused.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := refused.Load(); n > 0 {
		t.Errorf("%d writes were refused", n)
	}
	agree(t, c, limit)
}

// TestEvictionAfterLostLeader cuts the leader off while keys are evicted for what two other nodes write, and lets it come
// back: its own picks that were never committed have evicted nothing, and all nodes have the same state.
func TestEvictionAfterLostLeader(t *testing.T) {
	const limit, writes = 60_000, 50
	network := clustertest.NewNetwork()
	c := clustertest.Start(t, 3, network.Adjust)
	ctx := context.Background()
	awaitLevel(t, c)
	if _, err := fsm.Do(ctx, c.Nodes[0], fsm.Configure, fsm.Settings{MaxMemory: limit, Policy: keyspace.AllKeysLFU}); err != nil {
		t.Fatal(err)
	}
	leader := c.Leader()
	var wg sync.WaitGroup
	for w := range 3 {
		wg.Go(func() {
			for i := range writes {
				if w == leader && i == writes/2 {
					network.Cut(c.List[leader].ID)
					late, cancel := context.WithTimeout(ctx, time.Second)
					defer cancel()
					_ = put(late, c.Nodes[w], "late") // it makes an entry that nobody takes
					return
				}
				for deadline := time.Now().Add(time.Minute); put(ctx, c.Nodes[w], fmt.Sprint("k", w, ".", i)) != nil && time.Now().Before(deadline); {
					time.Sleep(5 * time.Millisecond)
				}
			}
		})
	}
	wg.Wait()
	network.Heal(c.List[leader].ID)
	agree(t, c, limit)
}

// agree waits until all nodes have the same state, within the limit.
func agree(t *testing.T, c *clustertest.Cluster, limit int64) {
	t.Helper()
	type seen struct {
		bytes   int64
		evicted uint64
		digest  string
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // the last writes may be above the limit until the next tick
		var all [3]seen
		for i, n := range c.Nodes {
			n.Machine().View(0, [16]byte{}, func(v *fsm.View) {
				_, all[i].bytes = v.Usage()
				all[i].evicted = v.Evicted()
			})
			all[i].digest = n.Machine().Fork().Digest()
		}
		if all[0] == all[1] && all[1] == all[2] && all[0].bytes <= limit {
			if all[0].evicted == 0 || all[0].bytes < limit/2 {
				t.Errorf("%v, limit %d", all[0], limit)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the nodes have %v, the limit is %d", all, limit)
		}
	}
}

// awaitLevel waits for the feature level that has eviction.
func awaitLevel(t *testing.T, c *clustertest.Cluster) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if c.Nodes[0].Machine().Level() >= env.Base {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the feature level does not rise")
		}
	}
}

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
