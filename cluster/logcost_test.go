package cluster

import (
	"errors"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/cluster/poison"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
)

// TestLargeEntriesAreChargedTheLog: an entry is charged what the log takes for its bytes, as large appends have shown it. Small
// ones, which a sync dominates, and failed ones show nothing.
func TestLargeEntriesAreChargedTheLog(t *testing.T) {
	var cost logCost
	cost.note(logstore.Append{Bytes: 100, Took: time.Hour})
	cost.note(logstore.Append{Bytes: 8 << 20, Took: time.Hour, Err: errors.New("full")})
	if took := cost.of(1 << 20); took != 0 {
		t.Fatalf("nothing was measured, and a MiB takes %v", took)
	}
	cost.note(logstore.Append{Bytes: 8 << 20, Took: 8 * time.Second})
	var charged time.Duration
	a := &adapter{
		m: fsm.NewMachine(), ceiling: new(clock.Ceiling), committed: func() {}, outcomes: func([]fsm.Outcome) {}, observe: func(int, int, time.Duration) {},
		fatal: func(reason string) { t.Error(reason) }, logged: cost.of,
		poisonGuard: poisonGuard{mark: poison.Nowhere(), orders: new(poison.Orders)},
		charge:      func(_ time.Time, took time.Duration, _ []fsm.Outcome) { charged = took },
	}
	set := func(index uint64, bytes int) time.Duration {
		b := fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.RESP, Rows: [][][]byte{{[]byte("SET"), []byte("k"), make([]byte, bytes)}}}
		e := fsm.Entry{Stamp: 1, Term: 1, Requests: []fsm.Request{{Code: fsm.Exec.Code, Body: fsm.Exec.Body(b)}}}
		a.Apply([]consensus.Entry{{Index: index, Term: 1, Command: true, Data: e.Encode()}})
		return charged
	}
	if took := set(1, 1<<20); took < handling*time.Second {
		t.Errorf("a value of a MiB is charged %v; the log takes a second for that, and all of the node %d times as long", took, handling)
	}
	if took := set(2, 10); took > 500*time.Millisecond {
		t.Errorf("a value of 10 bytes is charged %v", took)
	}
}
