package main

import (
	"context"
	"io"
	"log"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/cluster/membership"
)

// TestGossipIsOnlyAHint has somebody with the key of gossip pass himself off as a node that doesn't answer, and as one that there is
// none of. The status of the cluster has the address that he gives for the first. Its leader and its nodes are those of raft, what
// nodes that answer say of themselves stands, and commands are served.
func TestGossipIsOnlyAHint(t *testing.T) {
	c := clustertest.Start(t, 3, func(o *cluster.Options) { o.HTTP = "http://" + o.NodeID })
	key := []byte("0123456789abcdef")
	gossip := func(id, http string, seeds ...string) *membership.Members {
		m, err := membership.OpenMembers(membership.MembersOptions{
			NodeID: id, ClusterID: "one", Bind: "127.0.0.1:0", Key: key, HTTP: http, Version: "forged", Level: 99,
			Seeds:  func(context.Context) []string { return seeds },
			Logger: log.New(io.Discard, "", 0),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m
	}
	leader := c.Leader()
	gone := (leader + 1) % 3
	own := gossip(c.List[leader].ID, "http://"+c.List[leader].ID)
	for _, id := range []string{c.List[gone].ID, c.List[(leader+2)%3].ID, "n9"} {
		gossip(id, "http://forged", own.Addr())
	}
	for deadline := time.Now().Add(time.Minute); len(own.List()) < 4; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("gossip lists %v", own.List())
		}
	}
	c.Stop(gone)
	e := &nodeEngine{}
	e.node.Store(c.Nodes[leader])
	got, err := (&admin{engine: e, gossip: own.List}).Cluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Leader != c.List[leader].ID || len(got.Nodes) != 3 {
		t.Errorf("the leader is %s of %d nodes, want %s of 3", got.Leader, len(got.Nodes), c.List[leader].ID)
	}
	for _, n := range got.Nodes {
		want := "http://" + n.ID
		if n.ID == c.List[gone].ID {
			want = "http://forged"
		}
		if n.HTTP != want {
			t.Errorf("%s is at %s, want %s", n.ID, n.HTTP, want)
		}
	}
	for i := range c.List {
		if i == gone {
			continue
		}
		if v, err := c.Write(i, "SET", "k", "v"); err != nil || v.IsError() {
			t.Errorf("a write through %s: %v %v", c.List[i].ID, v, err)
		}
	}
}
