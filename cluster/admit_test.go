package cluster

import (
	"errors"
	"testing"

	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
)

// TestAdmission judges hellos one by one.
func TestAdmission(t *testing.T) {
	n := &Node{opts: Options{NodeID: "n1"}, replica: replica{machine: fsm.NewMachine()}, identity: &identity{NodeID: "n1", DiskID: "d1", ClusterID: "one", Disks: map[string]string{"n2": "d2"}}}
	for i, r := range []fsm.Request{
		{Code: fsm.SetLevel.Code, Body: fsm.SetLevel.Body(fsm.LevelChange{Level: fsm.MaxLevel})},
		{Code: fsm.RemoveNode.Code, Body: fsm.RemoveNode.Body(fsm.NodeRef{Node: "n4"})},
	} {
		if _, err := n.machine.Apply(uint64(i+1), 1, (&fsm.Entry{Term: 1, Requests: []fsm.Request{r}}).Encode()); err != nil {
			t.Fatal(err)
		}
	}
	good := n.hello()
	good.Node, good.Disk, good.To = "n2", "d2", "n1"
	with := func(change func(*transport.Hello)) transport.Hello {
		g := good
		change(&g)
		return g
	}
	for name, c := range map[string]struct {
		g    transport.Hello
		what transport.Purpose
		want error
	}{
		"one of ours":               {good, transport.ForRaft, nil},
		"an unknown node of ours":   {with(func(g *transport.Hello) { g.Node, g.Disk = "n9", "d9" }), transport.ForRaft, nil},
		"another cluster":           {with(func(g *transport.Hello) { g.Cluster = "two" }), transport.ForRPC, ErrOtherCluster},
		"a wiped disk":              {with(func(g *transport.Hello) { g.Disk = "new" }), transport.ForRPC, ErrWipedDisk},
		"raft without a cluster":    {with(func(g *transport.Hello) { g.Cluster = "" }), transport.ForRaft, transport.ErrRejected},
		"a call without one":        {with(func(g *transport.Hello) { g.Cluster = "" }), transport.ForRPC, nil},
		"meant for another":         {with(func(g *transport.Hello) { g.To = "n3" }), transport.ForRaft, ErrAnotherNode},
		"for whoever has this port": {with(func(g *transport.Hello) { g.To = "" }), transport.ForRPC, nil},
		"a removed node":            {with(func(g *transport.Hello) { g.Node, g.Disk = "n4", "d4" }), transport.ForRPC, transport.ErrRemoved},
		"an older version":          {with(func(g *transport.Hello) { g.Level = fsm.MaxLevel - 1 }), transport.ForRPC, ErrLevel},
		"another processor":         {with(func(g *transport.Hello) { g.Arch = "pdp11" }), transport.ForRPC, ErrArchitecture},
	} {
		if err := n.admit(c.g, c.what); !errors.Is(err, c.want) || (c.want == nil && err != nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
