package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/internal/testports"
)

// opened starts a cluster of one node and waits until it has opened its term.
func opened(t *testing.T, dir, addr string) *Node {
	t.Helper()
	n, err := Open(context.Background(), Options{
		NodeID: "n1", DataDir: dir, Heartbeat: 100 * time.Millisecond,
		Addresses: Addresses{Bind: addr}, Entrance: Entrance{InitialCluster: []Peer{{ID: "n1", Addr: addr}}},
		Owner: Owner{
			Fatal:     func(reason string) { t.Errorf("the node must stop: %s", reason) },
			Bootstrap: func(bool) (fsm.Bootstrap, bool) { return fsm.Bootstrap{}, false },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !n.Ready(context.Background()); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the node never leads")
		}
	}
	return n
}

// TestClockOpensAtTheCeiling: the clock of a new leader begins beyond every read that an earlier one may have placed, also
// when its machine had applied nothing of the log yet when it was elected. Here cluster time is an hour ahead of the wall
// clock, so nothing else would lead to it.
func TestClockOpensAtTheCeiling(t *testing.T) {
	ports, err := testports.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	defer ports.Release()
	dir, stop := t.TempDir(), func(n *Node) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		n.Close(ctx)
	}
	n := opened(t, dir, ports.Addr(0))
	ahead := time.Now().Add(time.Hour).UnixMilli()
	n.clock.AtLeast(ahead)
	if _, err := n.command(n.openTerm.Load(), fsm.Advance.Code, fsm.Advance.Body(fsm.AdvanceLimit{})); err != nil {
		t.Fatal(err)
	}
	was := n.machine.Clock()
	stop(n)
	if was < ahead {
		t.Fatalf("cluster time is at %d, not beyond %d", was, ahead)
	}
	n = opened(t, dir, ports.Addr(0))
	defer stop(n)
	if at, _ := n.clock.ReadTime(); at < was+clock.ReadAhead {
		t.Errorf("a read is placed at %d; the leader before may have placed one at %d", at, was+clock.ReadAhead)
	}
}
