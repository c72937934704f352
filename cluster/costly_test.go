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

// turns is a group committer without a node, whose entries the test makes and ends.
type turns struct {
	*groupCommitter
	t *testing.T
}

func newTurns(t *testing.T) *turns {
	m := newGroupCommitter(nil)
	m.term, m.ready = 1, true
	return &turns{m, t}
}

// wait queues batches: c is a costly one, s a small one, L one that is large enough for an entry while another is in flight.
func (tu *turns) wait(kinds string) {
	for _, k := range kinds {
		b := &batch{costly: k == 'c', requests: []fsm.Request{{Body: []byte{byte(k)}}}}
		if k == 'L' {
			b.requests[0].Body = make([]byte, overlapBytes)
			b.requests[0].Body[0] = 'L'
		}
		tu.enqueue(b)
	}
}

// entry begins the next entry, which must be of such batches; none if want is empty. The returned function ends it.
func (tu *turns) entry(want string) func() {
	tu.t.Helper()
	batches, _ := tu.next()
	got := ""
	for _, b := range batches {
		got += string(b.requests[0].Body[:1])
	}
	if got != want {
		tu.t.Fatalf("the next entry is of %q, want %q", got, want)
	}
	if got == "" {
		return nil
	}
	in := &entryInRaft{costly: batches[0].costly}
	return func() { tu.done(in) }
}

// TestCostlyBatchesTakeTurns: costly batches and others go in entries of their own, in turn. A costly entry is alone in
// flight.
func TestCostlyBatchesTakeTurns(t *testing.T) {
	m := newTurns(t)
	m.wait("scsc")
	end := m.entry("ss")
	m.wait("s")
	m.entry("") // not while the small one is in flight
	end()
	end = m.entry("cc") // their turn, though a small one waits
	m.wait("cL")
	m.entry("") // nothing goes while a costly one is in flight
	end()
	end = m.entry("sL")
	m.wait("L")
	m.entry("") // a large one may not pass the costly one a second time
	end()
	m.entry("c")()
	end = m.entry("L")
	m.wait("L")
	second := m.entry("L") // without costly ones large entries overlap as ever
	m.wait("c")
	end()
	m.entry("")
	second()
	end = m.entry("c")
	end()
	m.entry("")
}

// TestCostlyBatchesOfAnOldTerm: when a term ends, nothing of its turns is left.
func TestCostlyBatchesOfAnOldTerm(t *testing.T) {
	m := newTurns(t)
	m.wait("sc")
	end := m.entry("s")
	for _, b := range m.queue {
		b.answer = func([]fsm.Outcome, error, bool) {}
	}
	m.endTerm()
	end()
	m.startTerm(2)
	m.openTerm(2)
	m.wait("s")
	m.entry("s")()
	m.wait("c")
	m.entry("c")()
}

// TestFragmentsTakeTurns: the fragments of a large entry and entries of others take turns, costly batches wait for its end, and
// a fragment is alone in flight.
func TestFragmentsTakeTurns(t *testing.T) {
	m := newTurns(t)
	fragment := func(want bool) func() {
		t.Helper()
		if large := m.nextFragment(); (large != nil) != want {
			t.Fatalf("a fragment is next: %v, want %v", large != nil, want)
		}
		return m.doneFragment
	}
	m.large = &largeEntry{}
	end := fragment(true)
	m.wait("scL")
	fragment(false)
	m.entry("")
	end()
	fragment(false) // others wait
	end = m.entry("sL")
	m.wait("s")
	m.entry("")
	fragment(false)
	end()
	m.entry("") // its turn
	end = fragment(true)
	end()
	m.entry("s")()
	m.entry("") // the costly one waits
	fragment(true)()
	fragment(true)()
	m.large = nil
	m.entry("c")()
	fragment(false)
}

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
		m: fsm.NewMachine(), ceiling: new(clock.Ceiling), committed: func() {}, outcomes: func([]fsm.Outcome) {}, observe: func(int, time.Duration) {},
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
