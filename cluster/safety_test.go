package cluster

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/internal/testports"
)

// Each test here fails if a fault that loses or invents data is injected into the function that it calls.

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
	look.consensus, look.machine = n.consensus, n.machine
	look.openTerm.Store(term)
	look.clock.Open(n.machine.Clock(), 0, time.Now(), false)
	look.ceiling.Restored(n.machine.Clock() + 3_600_000) // time needs no tick
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
