package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/internal/testports"
)

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
	ports, err := testports.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	defer ports.Release()
	n := opened(t, t.TempDir(), ports.Addr(0))
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		n.Close(ctx)
	}()
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
			look.clock.Open(n.machine.Clock(), 0, time.Now(), false)
			look.ceiling.Restored(n.machine.Clock() + 3_600_000) // time needs no tick
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
