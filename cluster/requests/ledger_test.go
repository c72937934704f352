package requests

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"trireme/fsm"
)

var errBroken = errors.New("the connection broke")

// bench is a ledger and a clock that the test moves.
type bench struct {
	t *testing.T
	*Ledger
	at    time.Time
	wakes int
}

// newBench is a ledger that knows a leader and has session 1.
func newBench(t *testing.T) *bench {
	b := &bench{t: t, at: time.Unix(1000, 0)}
	b.Ledger = New(func() time.Time { return b.at }, func() { b.wakes++ })
	b.Lead(true)
	b.Register(1)
	return b
}

func (b *bench) add(body string) *Call {
	b.t.Helper()
	c, err := b.Add(fsm.Exec.Code, []byte(body))
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

func (b *bench) pack() *Pack {
	b.t.Helper()
	k := b.Take()
	if k == nil {
		b.t.Fatal("there is no pack")
	}
	return k
}

// wants checks what a call has come to; an outcome is taken out.
func (b *bench) wants(c *Call, want Result) {
	b.t.Helper()
	select {
	case got := <-c.Done():
		if got != want {
			b.t.Errorf("sequence %d came to %v, not %v", c.seq, got, want)
		}
	default:
		b.t.Errorf("sequence %d has no outcome, not %v", c.seq, want)
	}
}

func (b *bench) waits(calls ...*Call) {
	b.t.Helper()
	for _, c := range calls {
		select {
		case got := <-c.Done():
			b.t.Errorf("sequence %d came to %v already", c.seq, got)
		default:
		}
	}
}

func sequences(k *Pack) (list []uint64) {
	for _, q := range k.Requests {
		list = append(list, q.Seq)
	}
	return list
}

// answers are outcomes of a pack's requests, all of one status.
func answers(k *Pack, s fsm.Status) (list []fsm.Outcome) {
	for _, q := range k.Requests {
		o := fsm.Outcome{Session: q.Session, Seq: q.Seq, Code: q.Code, Status: s}
		if s == fsm.Applied {
			o.Value = string(q.Body)
		}
		list = append(list, o)
	}
	return list
}

func (b *bench) sends(k *Pack, below uint64, seqs ...uint64) {
	b.t.Helper()
	if !slices.Equal(sequences(k), seqs) || k.Mark.Below != below {
		b.t.Errorf("the pack has %v with nothing awaited below %d; want %v and %d", sequences(k), k.Mark.Below, seqs, below)
	}
}

// TestOutcomesAreToldOnce: the answer of the leader and the node's own machine both tell of a request; the first counts.
func TestOutcomesAreToldOnce(t *testing.T) {
	b := newBench(t)
	x, y := b.add("x"), b.add("y")
	k := b.pack()
	b.sends(k, 1, 1, 2)
	b.Resolve(answers(k, fsm.Applied)[:1])
	b.wants(x, Result{Value: "x"})
	b.waits(y)
	b.Finish(k, answers(k, fsm.Applied), nil, false)
	b.wants(y, Result{Value: "y"})
	b.Resolve(answers(k, fsm.Applied))
	b.waits(x, y)
	z := b.add("z")
	b.sends(b.pack(), 3, 3)
	b.waits(z)
}

// TestOutcomesOfOthersAreNotOurs: a machine tells of all sessions.
func TestOutcomesOfOthersAreNotOurs(t *testing.T) {
	b := newBench(t)
	c := b.add("x")
	k := b.pack()
	other := answers(k, fsm.Applied)
	other[0].Session = 2
	b.Resolve(other)
	b.waits(c)
}

// TestErrorsOfOperationsAreOutcomes: a request that was refused by the state was applied.
func TestErrorsOfOperationsAreOutcomes(t *testing.T) {
	b := newBench(t)
	c, said := b.add("x"), &fsm.Error{Code: "ERR", Text: "no"}
	k := b.pack()
	out := answers(k, fsm.Applied)
	out[0].Value, out[0].Err = nil, said
	b.Finish(k, out, nil, false)
	b.wants(c, Result{Err: said})
}

// TestSureFailureIsNoTry: what certainly entered no log is sent again, and may be refused with certainty.
func TestSureFailureIsNoTry(t *testing.T) {
	b := newBench(t)
	x, y := b.add("x"), b.add("y")
	b.Finish(b.pack(), nil, errBroken, true)
	b.waits(x, y)
	if !b.Paused() || b.Paused() {
		t.Error("a failed pack has to pause the next try, once")
	}
	k := b.pack()
	b.sends(k, 1, 1, 2)
	b.Finish(k, nil, errBroken, true)
	if got := b.Abandon(x); got.Err != fsm.ErrNoLeader {
		t.Errorf("what was never in a log came to %v", got)
	}
	b.sends(b.pack(), 2, 2)
	if got := b.Abandon(y); got.Err != fsm.ErrUnknown {
		t.Errorf("what is under way came to %v", got)
	}
}

// TestUnsureFailureStaysATry: after one try of unknown fate no later certainty makes the request unsent.
func TestUnsureFailureStaysATry(t *testing.T) {
	b := newBench(t)
	c := b.add("x")
	b.Finish(b.pack(), nil, errBroken, false)
	b.Finish(b.pack(), nil, errBroken, true)
	b.Finish(b.pack(), nil, errBroken, true)
	if got := b.Abandon(c); got.Err != fsm.ErrUnknown {
		t.Errorf("what may be in a log came to %v", got)
	}
}

// TestRefusedOutcomes: an entry of another term applied nothing; its requests come again and the others don't.
func TestRefusedOutcomes(t *testing.T) {
	b := newBench(t)
	x, y := b.add("x"), b.add("y")
	k := b.pack()
	out := answers(k, fsm.Applied)
	out[1].Status = fsm.Refused
	b.Finish(k, out, nil, false)
	b.wants(x, Result{Value: "x"})
	b.waits(y)
	b.sends(b.pack(), 2, 2)
}

// TestRepeatedAwaitsTheMachine: what an earlier try has applied is answered by the node's own machine, and not sent again.
func TestRepeatedAwaitsTheMachine(t *testing.T) {
	b := newBench(t)
	c := b.add("x")
	b.Finish(b.pack(), nil, errBroken, false)
	k := b.pack()
	b.Finish(k, answers(k, fsm.Repeated), nil, false)
	b.waits(c)
	if b.Take() != nil {
		t.Error("it is sent once more")
	}
	b.Resolve(answers(k, fsm.Applied))
	b.wants(c, Result{Value: "x"})
}

// TestEndedSession: what was sent under an ended session is of unknown outcome, what was not moves to the next.
func TestEndedSession(t *testing.T) {
	b := newBench(t)
	x := b.add("x")
	k := b.pack()
	y := b.add("y")
	b.Finish(k, answers(k, fsm.Gone), nil, false)
	b.wants(x, Result{Err: fsm.ErrUnknown})
	b.waits(y)
	if b.Session() != 0 {
		t.Fatal("the ended session goes on")
	}
	b.Register(7)
	next := b.pack()
	b.sends(next, 2, 2)
	if next.Mark.Session != 7 || next.Requests[0].Session != 7 {
		t.Errorf("the next session is 7, the pack is of %d and %d", next.Mark.Session, next.Requests[0].Session)
	}
	b.Finish(next, answers(next, fsm.Applied), nil, false)
	b.wants(y, Result{Value: "y"})
}

// TestLateAnswersOfAnEndedSession: a pack of an old session says nothing about the requests of the new one.
func TestLateAnswersOfAnEndedSession(t *testing.T) {
	b := newBench(t)
	b.add("x")
	first := b.pack()
	b.add("y")
	second := b.pack()
	b.Finish(first, answers(first, fsm.Gone), nil, false)
	b.Register(7)
	z := b.add("z")
	third := b.pack()
	b.Finish(second, answers(second, fsm.Gone), nil, false)
	if b.Session() != 7 {
		t.Fatal("the late answer has ended the new session")
	}
	b.Finish(third, answers(third, fsm.Applied), nil, false)
	b.wants(z, Result{Value: "z"})
}

// TestLateAnswerOfAGivenUpPack: packs under way are counted right when one that was given up is answered after all.
func TestLateAnswerOfAGivenUpPack(t *testing.T) {
	b := newBench(t)
	x := b.add("x")
	first := b.pack()
	y := b.add("y")
	second := b.pack()
	b.Finish(first, nil, errBroken, false) // gives up the second, too
	again := b.pack()
	b.sends(again, 1, 1, 2)
	b.Finish(second, answers(second, fsm.Applied), nil, false)
	b.wants(y, Result{Value: "y"})
	b.waits(x)
	b.add("z")
	b.pack()
	if b.add("w"); !b.Idle() {
		t.Error("two packs are under way, and a third may go")
	}
	b.Finish(again, answers(again, fsm.Applied), nil, false)
	b.wants(x, Result{Value: "x"})
	if b.Idle() {
		t.Error("a pack was answered, and none may go")
	}
}

// TestRestoredOver: a snapshot has jumped over the entries of some requests, whose outcome nobody saw.
func TestRestoredOver(t *testing.T) {
	b := newBench(t)
	x, y := b.add("x"), b.add("y")
	b.pack()
	z := b.add("z")
	b.Restored(func(session, seq uint64) bool { return session == 1 && seq == 2 })
	b.wants(x, Result{Err: fsm.ErrUnknown})
	b.waits(y, z)
}

// TestEndTellsEverybody: who stops says of each request what is known.
func TestEndTellsEverybody(t *testing.T) {
	b := newBench(t)
	x := b.add("x")
	b.pack()
	y := b.add("y")
	b.End()
	b.wants(x, Result{Err: fsm.ErrUnknown})
	b.wants(y, Result{Err: fsm.ErrStopping})
	if _, err := b.Add(fsm.Exec.Code, nil); !errors.Is(err, fsm.ErrStopping) {
		t.Errorf("a stopped ledger takes a request: %v", err)
	}
	if c, k := b.Board(fsm.Exec.Code, nil); c != nil || k != nil {
		t.Error("a stopped ledger lets a request ride")
	}
}

// TestRides: a request that goes along with an entry of others has an identity as all have, and falls back to packs.
func TestRides(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		name    string
		finish  func(k *Pack)
		want    Result
		settled bool
		sent    bool // also after Abandon its outcome is unknown
	}{
		{"applied", func(k *Pack) { b.Arrive(k, answers(k, fsm.Applied), nil, false) }, Result{Value: "r"}, true, true},
		{"refused", func(k *Pack) { b.Arrive(k, answers(k, fsm.Refused), nil, false) }, Result{}, false, false},
		{"surely failed", func(k *Pack) { b.Arrive(k, nil, errBroken, true) }, Result{}, false, false},
		{"failed", func(k *Pack) { b.Arrive(k, nil, errBroken, false) }, Result{}, false, true},
		{"repeated", func(k *Pack) { b.Arrive(k, answers(k, fsm.Repeated), nil, false) }, Result{}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.t = t
			call, k := b.Board(fsm.Exec.Code, []byte("r"))
			if b.Take() != nil {
				t.Error("what rides is in a pack, too")
			}
			c.finish(k)
			if c.settled {
				b.wants(call, c.want)
				return
			}
			want := fsm.ErrNoLeader
			if c.sent {
				want = fsm.ErrUnknown
			}
			if got := b.Abandon(call); got.Err != want {
				t.Errorf("given up, it came to %v, not %v", got.Err, want)
			}
		})
	}
	b.t = t
	call, k := b.Board(fsm.Exec.Code, []byte("r"))
	b.Arrive(k, answers(k, fsm.Gone), nil, false)
	b.wants(call, Result{Err: fsm.ErrUnknown})
	if c, _ := b.Board(fsm.Exec.Code, nil); c != nil || b.Session() != 0 {
		t.Error("without a session a request rides")
	}
}

// TestMoreGoesAlong: what has come since the last pack goes along with it, but not while a try has failed.
func TestMoreGoesAlong(t *testing.T) {
	b := newBench(t)
	b.add("x")
	if b.TakeMore() != nil {
		t.Error("with no pack under way there is one to go along with")
	}
	b.pack()
	b.add("y")
	b.pack()
	b.add("z")
	if b.Waiting() != 1 || !b.Idle() {
		t.Errorf("%d requests wait; idle %v", b.Waiting(), b.Idle())
	}
	k := b.TakeMore()
	b.sends(k, 1, 3)
	b.Finish(k, nil, errBroken, false)
	if b.TakeMore() != nil {
		t.Error("a try has failed, and more goes along")
	}
}

// TestPacksAreCut: a flood is sent in packs of bounded size, in order, each request once.
func TestPacksAreCut(t *testing.T) {
	b := newBench(t)
	body := bytes.Repeat([]byte("b"), 1<<10)
	const flood = 5000
	for range flood {
		b.add(string(body))
	}
	next, packs := uint64(1), 0
	for b.Waiting() > 0 {
		k := b.pack()
		packs++
		size := 0
		for _, q := range k.Requests {
			if q.Seq != next {
				t.Fatalf("sequence %d comes after %d", q.Seq, next-1)
			}
			next++
			size += len(q.Body) + FrameCost
		}
		if size > PackBytes {
			t.Fatalf("a pack of %d bytes", size)
		}
		b.Finish(k, answers(k, fsm.Applied), nil, false)
	}
	if want := flood*(1<<10+FrameCost)/PackBytes + 1; next != flood+1 || packs != want {
		t.Errorf("%d requests in %d packs; want %d in %d", next-1, packs, flood, want)
	}
	if b.Pending() != 0 {
		t.Errorf("%d have no outcome", b.Pending())
	}
	b.add("small")
	b.add(string(bytes.Repeat(body, PackBytes>>10)))
	b.add("small")
	for range 3 {
		k := b.pack()
		if len(k.Requests) != 1 {
			t.Errorf("a request as large as a pack goes with others: %v", sequences(k))
		}
		b.Finish(k, answers(k, fsm.Applied), nil, false)
	}
}

// TestFloodIsBounded: more than the most that may wait is refused, with certainty, until some have outcomes.
func TestFloodIsBounded(t *testing.T) {
	b := newBench(t)
	b.most = 100
	for range 100 {
		b.add("x")
	}
	if _, err := b.Add(fsm.Exec.Code, nil); !errors.Is(err, fsm.ErrNoLeader) {
		t.Errorf("the request beyond the bound: %v", err)
	}
	k := b.pack()
	if len(k.Requests) != 100 {
		t.Errorf("%d requests were taken in", len(k.Requests))
	}
	b.Finish(k, answers(k, fsm.Applied), nil, false)
	b.add("x")
}
