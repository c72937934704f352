package session

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

// sharing is a tracker with a ledger.
type sharing struct {
	*bench
	ledger *Ledger
}

func newSharing(t *testing.T) *sharing {
	s := &sharing{newBench(t), NewLedger()}
	s.Shares(s.ledger)
	return s
}

func (s *sharing) of(db string) *Call {
	s.t.Helper()
	c, err := s.AddOf(db, fsm.Exec.Code, []byte(db))
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// owe makes hog a debtor and other active.
func (s *sharing) owe(debt time.Duration) {
	s.ledger.Note(s.at, debt, []fsm.Outcome{{Database: "hog", Work: 100_000_000}})
	s.ledger.Note(s.at, time.Millisecond, []fsm.Outcome{{Database: "other", Work: 1000}})
}

// TestDebtorWaits: requests of a database with a debt wait, other requests don't. When the debt is paid off they go in
// order, before later ones of the same database.
func TestDebtorWaits(t *testing.T) {
	s := newSharing(t)
	s.owe(200 * time.Millisecond)
	h1, o, h2, n := s.of("hog"), s.of("other"), s.of("hog"), s.add("of nobody")
	k := s.batch()
	s.sends(k, 1, 2, 4)
	if s.Held() != 2 || !s.Idle() {
		t.Errorf("%d are held, idle %v", s.Held(), s.Idle())
	}
	s.Finish(k, answers(k, fsm.Applied), nil, false)
	s.wants(o, Result{Value: "other"})
	s.wants(n, Result{Value: "of nobody"})
	s.waits(h1, h2)
	if k := s.Take(); k != nil {
		t.Fatalf("%v are sent before the debt is paid off", sequences(k))
	}
	s.at = s.at.Add(time.Second)
	h3 := s.of("hog")
	k = s.batch()
	s.sends(k, 1, 1, 3, 5)
	s.Finish(k, answers(k, fsm.Applied), nil, false)
	for _, c := range []*Call{h1, h2, h3} {
		s.wants(c, Result{Value: "hog"})
	}
	if s.Held() != 0 || len(s.tenants) != 0 {
		t.Errorf("%d are held, queues %v", s.Held(), s.tenants)
	}
}

// TestLargeRequestsGoOneByOne: while others are active, the large requests that a database without a debt sends at once go one by one,
// so that each is charged before the next is sent; while it is alone they are not held back.
func TestLargeRequestsGoOneByOne(t *testing.T) {
	s := newSharing(t)
	large := func() {
		if _, err := s.AddOf("hog", fsm.Exec.Code, make([]byte, MaxBatchBytes)); err != nil {
			t.Fatal(err)
		}
	}
	large()
	large()
	for seq := range uint64(2) {
		alone := s.batch()
		s.sends(alone, 1+seq, 1+seq)
		s.Finish(alone, answers(alone, fsm.Applied), nil, false)
	}
	s.owe(0)
	large()
	large()
	s.of("other")
	others := s.batch()
	s.sends(others, 3, 5)
	first := s.batch()
	s.sends(first, 3, 3)
	if k := s.Take(); k != nil {
		t.Fatalf("%v are sent beside the first", sequences(k))
	}
	s.ledger.Note(s.at, 100*time.Millisecond, []fsm.Outcome{{Database: "hog", Work: 100_000_000}})
	s.Finish(first, answers(first, fsm.Applied), nil, false)
	if k := s.Take(); k != nil {
		t.Fatalf("%v are sent before the first is paid off", sequences(k))
	}
	s.at = s.at.Add(time.Second)
	s.owe(0)
	s.sends(s.batch(), 4, 4)
}

// TestHeldTravelApart: requests that have waited for their database's share go in batches of their own, one at a time.
// They don't reduce the batches of others in flight.
func TestHeldTravelApart(t *testing.T) {
	s := newSharing(t)
	s.owe(50 * time.Millisecond)
	s.of("hog")
	s.of("other")
	s.sends(s.batch(), 1, 2)
	s.at = s.at.Add(400 * time.Millisecond) // paid off, and still a database that costs much
	s.owe(0)
	s.of("other")
	s.of("hog")
	small := s.batch()
	s.sends(small, 1, 3)
	hog := s.batch()
	s.sends(hog, 1, 1, 4)
	s.of("other")
	s.of("hog")
	if k := s.Take(); k != nil || !s.Idle() {
		t.Fatalf("%v are sent beside as many as may be in flight", k)
	}
	s.Finish(small, answers(small, fsm.Applied), nil, false)
	s.sends(s.batch(), 1, 5)
	if k := s.Take(); k != nil {
		t.Fatalf("%v are sent beside another batch of such a database", sequences(k))
	}
	s.Finish(hog, answers(hog, fsm.Applied), nil, false)
	s.sends(s.batch(), 2, 6)
}

// TestHeldRequestEnds: a held request whose client gives up, or whose time is over, was not applied, and is not sent any more.
func TestHeldRequestEnds(t *testing.T) {
	s := newSharing(t)
	s.owe(time.Second)
	gone, late := s.of("hog"), s.of("hog")
	if s.Take() != nil {
		t.Fatal("a debtor's request is sent")
	}
	if got := s.Cancel(gone); got.Err != fsm.ErrShare {
		t.Errorf("given up while it waits: %v", got)
	}
	s.Overdue(s.at.Add(Deadline))
	s.wants(late, Result{Err: fsm.ErrShare})
	s.at = s.at.Add(Deadline)
	if k := s.Take(); k != nil || s.Held() != 0 {
		t.Errorf("%v is sent, %d held", k, s.Held())
	}
}

// TestDeferredComesAgain: requests that an entry has deferred are sent again, in order and before new ones. If the
// client gives up before, the request was not applied.
func TestDeferredComesAgain(t *testing.T) {
	s := newSharing(t)
	var calls []*Call
	for range 4 {
		calls = append(calls, s.of("hog"))
	}
	k := s.batch()
	s.sends(k, 1, 1, 2, 3, 4)
	outcomes := answers(k, fsm.Applied)
	outcomes[2].Status, outcomes[3].Status = fsm.Deferred, fsm.Deferred
	s.Resolve(outcomes) // as the node's own machine tells it
	s.waits(calls[2], calls[3])
	s.Finish(k, outcomes, nil, false)
	s.wants(calls[0], Result{Value: "hog"})
	s.wants(calls[1], Result{Value: "hog"})
	s.of("hog")
	if s.Deferred() != 2 || s.Held() != 2 || s.Idle() {
		t.Fatalf("%d deferred, %d held, idle %v", s.Deferred(), s.Held(), s.Idle())
	}
	if got := s.Cancel(calls[2]); got.Err != fsm.ErrShare {
		t.Errorf("given up after it was deferred: %v", got)
	}
	k = s.batch()
	s.sends(k, 4, 4, 5) // as many at a time as were applied
	s.Finish(k, answers(k, fsm.Applied), nil, false)
	s.wants(calls[3], Result{Value: "hog"})
}

// TestDeferredUnawares: a request that was charged to no database, because its node did not know yet that there are
// shares, is sent again like any other, also by a tracker that keeps no shares.
func TestDeferredUnawares(t *testing.T) {
	body := fsm.InDatabase.Body(fsm.Owned{Database: "hog", Code: fsm.Publish.Code})
	for _, shares := range []bool{true, false} {
		s := &sharing{newBench(t), NewLedger()}
		if shares {
			s.Shares(s.ledger)
		}
		x, err := s.Add(fsm.InDatabase.Code, body)
		if err != nil {
			t.Fatal(err)
		}
		k := s.batch()
		y := s.add("y")
		s.Finish(k, answers(k, fsm.Deferred), nil, false)
		for !s.Idle() {
			k = s.batch()
			s.Finish(k, answers(k, fsm.Applied), nil, false)
		}
		s.wants(x, Result{Value: string(body)})
		s.wants(y, Result{Value: "y"})
		if s.Pending() != 0 || s.Held() != 0 {
			t.Errorf("%d pending, %d held", s.Pending(), s.Held())
		}
	}
}

// TestWindow: a database whose requests are deferred has fewer in flight, and more again when none are deferred.
func TestWindow(t *testing.T) {
	s := newSharing(t)
	for range 64 {
		s.of("hog")
	}
	k := s.batch()
	outcomes := answers(k, fsm.Deferred)
	outcomes[0].Status = fsm.Applied
	s.Finish(k, outcomes, nil, false)
	var sizes []int
	for s.Held() > 0 {
		k = s.batch()
		if more := s.TakeMore(); more != nil {
			t.Fatalf("%v are sent beyond the window", sequences(more))
		}
		sizes = append(sizes, len(k.Requests))
		s.Finish(k, answers(k, fsm.Applied), nil, false)
	}
	if !slices.Equal(sizes, []int{1, 2, 4, 8, 16, 32}) {
		t.Errorf("batches of %v", sizes)
	}
}

// TestHeldAfterAFailure: when a try has failed, everything goes again in sequence order, held or not.
func TestHeldAfterAFailure(t *testing.T) {
	s := newSharing(t)
	s.owe(100 * time.Millisecond)
	s.of("hog")
	s.of("other")
	k := s.batch()
	s.sends(k, 1, 2)
	s.Finish(k, nil, errBroken, true)
	s.Paused()
	s.sends(s.batch(), 1, 2)
	s.at = s.at.Add(time.Second)
	s.sends(s.batch(), 1, 1)
}

// TestSharesLoseNothing: whatever is deferred, given up or lost, each request ends once, those of a database are applied
// in the order of their sequence as long as no batch is lost, and nothing is left over.
func TestSharesLoseNothing(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := newSharing(t)
		var calls []*Call
		last := map[string]uint64{}
		var inFlight []*Batch
		for step := 0; step < 400 || s.Pending() > 0; step++ {
			if step > 20_000 {
				t.Fatalf("seed %d: %d are left, %d held", seed, s.Pending(), s.Held())
			}
			s.at = s.at.Add(time.Duration(r.IntN(3)) * time.Millisecond)
			if step < 400 {
				for range r.IntN(4) {
					calls = append(calls, s.of([]string{"hog", "other", ""}[r.IntN(3)]))
				}
			}
			if step < 400 && r.IntN(5) == 0 {
				s.owe(time.Duration(r.IntN(100)) * time.Millisecond)
			}
			if !s.Idle() {
				s.Paused()
				if k := s.Take(); k != nil {
					inFlight = append(inFlight, k)
				}
			}
			if len(inFlight) == 0 || r.IntN(2) == 0 {
				continue
			}
			k := inFlight[0]
			inFlight = inFlight[1:]
			outcomes := answers(k, fsm.Applied)
			hogs := 0
			for i := range outcomes {
				db := string(k.Requests[i].Body)
				if hogs++; db == "hog" && hogs > 2 {
					outcomes[i].Status = fsm.Deferred
				} else if db != "" && len(inFlight) == 0 && outcomes[i].Seq < last[db] {
					t.Fatalf("seed %d: %s has %d after %d", seed, db, outcomes[i].Seq, last[db])
				} else if len(inFlight) == 0 {
					last[db] = max(last[db], outcomes[i].Seq)
				}
			}
			for i := range outcomes { // once deferred, all that follow are
				if i > 0 && outcomes[i-1].Status == fsm.Deferred && string(k.Requests[i].Body) == "hog" {
					outcomes[i].Status = fsm.Deferred
				}
			}
			s.Finish(k, outcomes, nil, false)
		}
		for _, c := range calls {
			select {
			case got := <-c.Done():
				if got.Err != nil {
					t.Fatalf("seed %d: sequence %d: %v", seed, c.seq, got.Err)
				}
			default:
				t.Fatalf("seed %d: sequence %d has no outcome", seed, c.seq)
			}
		}
	}
}

// BenchmarkTake measures the way of a request into a batch and out of it: without shares, and with shares but no debts.
func BenchmarkTake(b *testing.B) {
	for _, databases := range []int{0, 1, 8} {
		b.Run(fmt.Sprintf("databases=%d", databases), func(b *testing.B) {
			p := New(time.Now, func() {})
			p.Lead(true)
			p.Register(1)
			names := []string{""}
			if databases > 0 {
				p.Shares(NewLedger())
				names = nil
				for i := range databases {
					names = append(names, fmt.Sprint("db", i))
				}
			}
			body := []byte("body")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c, err := p.AddOf(names[i%len(names)], fsm.Exec.Code, body)
				if err != nil {
					b.Fatal(err)
				}
				if i%64 == 63 {
					k := p.Take()
					p.Finish(k, answers(k, fsm.Applied), nil, false)
				}
				_ = c
			}
		})
	}
}
