package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/internal/testgate"
	"github.com/trireme-dev/trireme/internal/testports"
)

// Each test here fails with one fault that loses or invents data, planted in the function that it calls.

// voter answers a quorum check with a term.
type voter struct{ term uint64 }

func (voter) Hello() transport.Hello                         { return transport.Hello{Node: "n2"} }
func (voter) Expected(string) string                         { return "" }
func (voter) Admit(transport.Hello, transport.Purpose) error { return nil }
func (voter) Verify(string, time.Duration) error             { return nil }
func (voter) Excluded(error)                                 {}
func (voter) Rejected(net.Addr, error)                       {}
func (v voter) Handle(_ transport.Hello, _ transport.Kind, _ []byte, answer func([]byte, error)) {
	var w wire.Writer
	w.Uvarint(v.term)
	answer(w.B, nil)
}

// TestConfirmationNamesTheTerm: a voter that is in another term confirms nothing. It may have elected a later leader.
func TestConfirmationNamesTheTerm(t *testing.T) {
	m, err := transport.Listen(transport.Config{Bind: "127.0.0.1:0", Dial: net.DialTimeout}, voter{7})
	if err != nil {
		t.Fatal(err)
	}
	m.Start()
	s := newRPCClient(m)
	defer func() { s.pool.Close(); m.Close(); m.Wait() }()
	for term, want := range map[uint64]bool{6: false, 7: true, 8: false} {
		got := make(chan bool, 1)
		s.confirm(peerAddr{"n2", m.Advertise()}, term, func(ok bool) { got <- ok })
		if ok := <-got; ok != want {
			t.Errorf("a voter in term 7 confirms term %d: %v", term, ok)
		}
	}
}

// TestConfirmationNeedsAMajority: a read point holds when as many other voters as make a majority with the leader are in its
// term. Fewer are not enough, whoever answers first.
func TestConfirmationNeedsAMajority(t *testing.T) {
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
	for name, c := range map[string]struct {
		terms []uint64 // of the other voters; 0 doesn't answer
		want  bool
	}{
		"three voters, one":             {[]uint64{term + 1, term}, true},
		"three voters, none":            {[]uint64{term + 1, term + 1}, false},
		"three voters, nobody answers":  {[]uint64{0, 0}, false},
		"five voters, two":              {[]uint64{term, 0, term + 1, term}, true},
		"five voters, one":              {[]uint64{term, term + 1, term + 1, term + 1}, false},
		"five voters, one, one answers": {[]uint64{0, 0, term, 0}, false},
		"four voters, one":              {[]uint64{term, term + 1, term + 1}, false},
		"four voters, two":              {[]uint64{term, term, term + 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			look := &Node{}
			look.raft, look.opts.NodeID = n.raft, "n1"
			set := &voters{taken: time.Now().Add(time.Hour), needed: (len(c.terms) + 1) / 2}
			for i, term := range c.terms {
				m, err := transport.Listen(transport.Config{Bind: "127.0.0.1:0", Dial: net.DialTimeout}, voter{term})
				if err != nil {
					t.Fatal(err)
				}
				m.Start()
				if look.peers == nil {
					look.peers = newRPCClient(m)
					defer look.peers.pool.Close()
				}
				set.others = append(set.others, peerAddr{fmt.Sprint("n", i+2), m.Advertise()})
				stop := func() { m.Close(); m.Wait() }
				if i > 0 && term == 0 {
					stop()
				} else {
					defer stop()
				}
			}
			look.voters.Store(set)
			ended := make(chan error, 1)
			(&readIndex{n: look}).confirm(term, readPoint{index: 1}, func(_ readPoint, err error) { ended <- err })
			if err := <-ended; (err == nil) != c.want {
				t.Errorf("confirmed: %v", err)
			}
		})
	}
}

// TestVotersAskedAfterARefusalHaveTime: voters that are asked because others refused, right before hedgeDelay is over, are waited for
// like those that are asked then. A read would fail otherwise where the first voter is in another term and the second is slow.
func TestVotersAskedAfterARefusalHaveTime(t *testing.T) {
	ended := make(chan error, 1)
	c := &quorumConfirmation{n: &Node{}, voters: []peerAddr{{}, {}}, needed: 1, asked: 2, no: 1, end: func(_ readPoint, err error) { ended <- err }}
	c.timer = time.AfterFunc(time.Hour, func() {})
	defer c.timer.Stop()
	c.late()
	select {
	case err := <-ended:
		t.Fatalf("given up at once: %v", err)
	default:
	}
	c.timer.Stop()
	c.late()
	if err := testgate.Receive(t, "the end of the round", ended); !errors.Is(err, errUnconfirmed) {
		t.Error(err)
	}
}

// TestReadTimeComesBeforeItsIndex: an entry that is applied while a read point is taken is within the point's index. The
// other way round a read could be placed after an entry that it doesn't see.
func TestReadTimeComesBeforeItsIndex(t *testing.T) {
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
	look.raft, look.machine, look.store = n.raft, n.machine, n.store
	look.openTerm.Store(term)
	look.clock.Open(n.machine.Clock(), 0, time.Now(), false)
	look.ceiling.Restored(n.machine.Clock() + 3_600_000) // time needs no tick
	armed = true
	p, _, err := (&readIndex{n: look}).stampRead(term, false)
	if err != nil || during == 0 {
		t.Fatalf("point %+v, %v, entry %d", p, err, during)
	}
	if p.index < during {
		t.Errorf("the read's index is %d, and entry %d was applied after its time was taken", p.index, during)
	}
}

// TestLostLeadershipIsUncertain: an entry whose leader was deposed while it was committed may be in the log of its
// successor. Only errors that come before the log are certain.
func TestLostLeadershipIsUncertain(t *testing.T) {
	for err, want := range map[error]bool{
		raft.ErrLeadershipLost:               false,
		raft.ErrRaftShutdown:                 false,
		errors.New("write log: no space"):    false,
		raft.ErrNotLeader:                    true,
		raft.ErrLeadershipTransferInProgress: true,
		raft.ErrEnqueueTimeout:               true,
		raft.ErrAbortedByRestore:             true,
	} {
		if got := certain(err); got != want {
			t.Errorf("%v: certainly not applied: %v", err, got)
		}
	}
}

// TestDivergentNodeStops: a node whose digest differs from the majority's stops, and no other one does.
func TestDivergentNodeStops(t *testing.T) {
	for node, stops := range map[string]bool{"n1": true, "n2": false} {
		stopped := ""
		n := &Node{opts: Options{NodeID: "n1", Fatal: func(reason string) { stopped = reason }}, log: slog.New(slog.DiscardHandler)}
		n.verdict(fsm.DigestVerdict{Index: 5, Divergent: []string{node}})
		if (stopped != "") != stops {
			t.Errorf("%s differs, n1 stopped: %q", node, stopped)
		}
	}
}

// TestCertaintyTravels: a node that forwarded a batch hears from the leader whether it is certain that nothing was applied, and
// an answer that doesn't fit the batch makes nothing certain.
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
