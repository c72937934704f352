package cluster_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
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
