package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/internal/testports"
)

// Each test here fails if a fault that loses or invents data is injected into the function that it calls.

// TestReadTimeComesBeforeItsIndex: an entry that is applied while a read point is taken is within the point's index. The
// other way round a read could be placed after an entry that it doesn't see.
func TestReadTimeComesBeforeItsIndex(t *testing.T) {
	n := alone(t)
	term := n.openTerm.Load()
	armed, during := false, uint64(0)
	look := &Node{clock: clock.New(func() time.Time {
		if armed {
			armed = false
			e := &fsm.Entry{Term: term, Stamp: n.machine.Clock() + 1}
			if _, err := n.proposeAlone(e, fsm.Advance.Code, fsm.Advance.Body(fsm.AdvanceLimit{})); err != nil {
				t.Error(err)
			}
			during, _ = n.machine.Applied()
		}
		return time.Now()
	}, wallTime)}
	look.consensus, look.machine = n.consensus, n.machine
	look.openTerm.Store(term)
	look.clock.Open(env.At(n.machine.Clock()), 0, time.Now(), false)
	look.ceiling.Restored(env.At(n.machine.Clock() + 3_600_000)) // time needs no tick
	armed = true
	p, _, err := (&readIndex{n: look}).stampRead(term, false)
	if err != nil || during == 0 {
		t.Fatalf("point %+v, %v, entry %d", p, err, during)
	}
	if p.Index < during {
		t.Errorf("the read's index is %d, and entry %d was applied after its time was taken", p.Index, during)
	}
}

// TestDivergentNodeStops: a node whose digest differs from the majority's stops, and no other one does.
func TestDivergentNodeStops(t *testing.T) {
	for node, stops := range map[string]bool{"n1": true, "n2": false} {
		stopped := ""
		n := &Node{opts: Options{NodeID: "n1", Owner: Owner{Fatal: func(reason string) { stopped = reason }}}, log: slog.New(slog.DiscardHandler)}
		n.verdict(fsm.DigestVerdict{Index: 5, Divergent: []string{node}})
		if (stopped != "") != stops {
			t.Errorf("%s differs, n1 stopped: %q", node, stopped)
		}
	}
}

// TestCertaintyTravels: the leader tells a node that forwarded a batch whether it is certain that nothing was applied. An
// answer that doesn't fit the batch makes nothing certain.
func TestCertaintyTravels(t *testing.T) {
	b := &batch{requests: make([]fsm.Request, 2), lowWater: fsm.LowWater{Session: 7}}
	for _, sure := range []bool{true, false} {
		_, err, got := readBatchAnswer(b, answerBatch(b, nil, errors.New("the leader's"), sure))
		if err == nil || err.Error() != "the leader's" || got != sure {
			t.Errorf("certain %v: came as %v, %v", sure, got, err)
		}
	}
	for count, fits := range map[int]bool{0: false, 1: false, 2: true, 3: false} {
		outcomes := make([]fsm.Outcome, count)
		for i := range outcomes {
			outcomes[i] = fsm.Outcome{Seq: uint64(i), Code: fsm.Advance.Code, Status: fsm.Repeated}
		}
		got, err, sure := readBatchAnswer(b, answerBatch(b, outcomes, nil, false))
		if (err == nil) != fits || sure || fits && len(got) != count {
			t.Errorf("%d outcomes of a batch of two: %d, %v, certain %v", count, len(got), err, sure)
		}
	}
}

// ofVoters is a leader among voters that no other leader has, none of which confirms it.
type ofVoters struct {
	consensus.Consensus
	others []consensus.Server
	needed int
}

func (ov ofVoters) Voters() ([]consensus.Server, int) { return ov.others, ov.needed }

func (ov ofVoters) Confirm(_ uint64, end func(error)) { end(consensus.ErrUnconfirmed) }

// TestAskingVoterIsAsked: the term that comes with the question for a read point counts as that voter's answer only if it is this
// leader's term, and comes from the known process of a voter that makes a majority with the leader. Otherwise the voters are
// asked, and here none of them confirms.
func TestAskingVoterIsAsked(t *testing.T) {
	n := alone(t)
	term := n.openTerm.Load()
	known, err := membership.OpenIncarnations(t.TempDir(), 1, func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	process := []transport.Process{{Boot: 1, Name: "first"}, {Boot: 2, Name: "second"}}
	if err := known.Record("n2", membership.Incarnation{Disk: "d2", Processes: process}); err != nil {
		t.Fatal(err)
	}
	said := func(term uint64) []byte {
		var w wire.Writer
		w.Uvarint(term)
		return w.B
	}
	voter2 := transport.Hello{Node: "n2", Disk: "d2", Processes: process}
	after := voter2
	after.Processes = append(process[:2:2], transport.Process{Boot: 3, Name: "third"})
	disk, stranger, old := voter2, voter2, voter2
	disk.Disk, stranger.Node, old.Processes = "d3", "n9", nil
	for name, c := range map[string]struct {
		from    transport.Hello
		payload []byte
		voters  int
		want    bool
	}{
		"a voter of this term":               {voter2, said(term), 3, true},
		"a voter of an earlier term":         {voter2, said(term - 1), 3, false},
		"a voter of a later term":            {voter2, said(term + 1), 3, false},
		"an older version":                   {voter2, nil, 3, false},
		"malformed":                          {voter2, []byte{0xff}, 3, false},
		"more than a term":                   {voter2, append(said(term), 0), 3, false},
		"one of five voters":                 {voter2, said(term), 5, false},
		"a later process of its disk":        {after, said(term), 3, false},
		"another disk":                       {disk, said(term), 3, false},
		"a process that doesn't name itself": {old, said(term), 3, false},
		"no voter":                           {stranger, said(term), 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			look := &Node{clock: clock.New(time.Now, wallTime)}
			look.machine, look.opts.NodeID, look.incarnations = n.machine, "n1", known
			look.openTerm.Store(term)
			look.clock.Open(env.At(n.machine.Clock()), 0, time.Now(), false)
			look.ceiling.Restored(env.At(n.machine.Clock() + 3_600_000)) // time needs no tick
			look.quorum = &readIndex{n: look}
			among := ofVoters{Consensus: n.consensus, needed: c.voters / 2}
			for i := range c.voters - 1 {
				among.others = append(among.others, consensus.Server{ID: fmt.Sprint("n", i+2), Voter: true})
			}
			look.consensus = among
			ended := make(chan error, 1)
			var point []byte
			look.answerReadIndex(c.from, c.payload, func(b []byte, err error) { point = b; ended <- err })
			err := <-ended
			if (err == nil) != c.want {
				t.Fatalf("given: %v", err)
			}
			if p, bad := consensus.DecodePoint(point); c.want && (bad != nil || p.Index != n.consensus.CommitPoint(term).Index || p.Term != term) {
				t.Errorf("point %+v, %v", p, bad)
			}
		})
	}
}

// TestRoundsAreShared: a second round is begun while another is in flight only if that one takes long, and never a third.
func TestRoundsAreShared(t *testing.T) {
	for name, c := range map[string]struct {
		inFlight int
		ago      time.Duration
		want     bool
	}{
		"none":                  {0, 0, true},
		"one that just began":   {1, 0, false},
		"one that takes long":   {1, time.Hour, true},
		"two that take long":    {maxRounds, time.Hour, false},
		"the last was long ago": {0, time.Hour, true},
	} {
		r := &reader{inFlight: c.inFlight, newest: time.Now().Add(-c.ago)}
		if c.ago == 0 {
			r.newest = time.Now().Add(time.Hour) // however slow the machine is
		}
		if got := r.room(); got != c.want {
			t.Errorf("%s: room for another: %v", name, got)
		}
	}
}

// alone returns a node that leads a cluster of its own until the test ends.
func alone(t *testing.T) *Node {
	t.Helper()
	ports, err := testports.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ports.Release)
	n := opened(t, t.TempDir(), ports.Addr(0))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		n.Close(ctx)
	})
	return n
}

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
	n.clock.AtLeast(env.At(ahead))
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
	if at, _ := n.clock.ReadTime(); at.Now < was+clock.ReadAhead {
		t.Errorf("a read is placed at %d; the leader before may have placed one at %d", at, was+clock.ReadAhead)
	}
}

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
