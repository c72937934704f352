package session

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

var errBroken = errors.New("the connection broke")

// bench is a tracker and a clock that the test moves.
type bench struct {
	t *testing.T
	*Tracker
	at    time.Time
	wakes int
}

// newBench returns a tracker that knows a leader and has session 1.
func newBench(t *testing.T) *bench {
	b := &bench{t: t, at: time.Unix(1000, 0)}
	b.Tracker = New(func() time.Time { return b.at }, func() { b.wakes++ })
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

func (b *bench) batch() *Batch {
	b.t.Helper()
	k := b.Take()
	if k == nil {
		b.t.Fatal("there is no batch")
	}
	return k
}

// wants checks the result of a call, and takes it out.
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

func sequences(k *Batch) (list []uint64) {
	for _, q := range k.Requests {
		list = append(list, q.Seq)
	}
	return list
}

// answers returns outcomes of a batch's requests, all with one status.
func answers(k *Batch, s fsm.Status) (list []fsm.Outcome) {
	for _, q := range k.Requests {
		o := fsm.Outcome{Session: q.Session, Seq: q.Seq, Code: q.Code, Status: s}
		if s == fsm.Applied {
			o.Value = string(q.Body)
		}
		list = append(list, o)
	}
	return list
}

func (b *bench) sends(k *Batch, below uint64, seqs ...uint64) {
	b.t.Helper()
	if !slices.Equal(sequences(k), seqs) || k.LowWater.Below != below {
		b.t.Errorf("the batch has %v with nothing awaited below %d; want %v and %d", sequences(k), k.LowWater.Below, seqs, below)
	}
}

// TestOutcomesAreToldOnce: the answer of the leader and the node's own machine both tell of a request; the first counts.
func TestOutcomesAreToldOnce(t *testing.T) {
	b := newBench(t)
	x, y := b.add("x"), b.add("y")
	k := b.batch()
	b.sends(k, 1, 1, 2)
	b.Resolve(answers(k, fsm.Applied)[:1])
	b.wants(x, Result{Value: "x"})
	b.waits(y)
	b.Finish(k, answers(k, fsm.Applied), nil, false)
	b.wants(y, Result{Value: "y"})
	b.Resolve(answers(k, fsm.Applied))
	b.waits(x, y)
	z := b.add("z")
	b.sends(b.batch(), 3, 3)
	b.waits(z)
}

// TestOutcomesOfOthersAreNotOurs: a machine reports the outcomes of all sessions.
func TestOutcomesOfOthersAreNotOurs(t *testing.T) {
	b := newBench(t)
	c := b.add("x")
	k := b.batch()
	other := answers(k, fsm.Applied)
	other[0].Session = 2
	b.Resolve(other)
	b.waits(c)
}

// TestErrorsOfOperationsAreOutcomes: a request that was refused by the state was applied.
func TestErrorsOfOperationsAreOutcomes(t *testing.T) {
	b := newBench(t)
	c, said := b.add("x"), &fsm.Error{Code: "ERR", Text: "no"}
	k := b.batch()
	out := answers(k, fsm.Applied)
	out[0].Value, out[0].Err = nil, said
	b.Finish(k, out, nil, false)
	b.wants(c, Result{Err: said})
}

// TestSureFailureIsNoTry: a request that certainly entered no log is sent again, and may be refused with certainty.
func TestSureFailureIsNoTry(t *testing.T) {
	b := newBench(t)
	x, y := b.add("x"), b.add("y")
	b.Finish(b.batch(), nil, errBroken, true)
	b.waits(x, y)
	if !b.Paused() || b.Paused() {
		t.Error("a failed batch has to pause the next try, once")
	}
	k := b.batch()
	b.sends(k, 1, 1, 2)
	b.Finish(k, nil, errBroken, true)
	if got := b.Cancel(x); got.Err != fsm.ErrNoLeader {
		t.Errorf("what was never in a log came to %v", got)
	}
	b.sends(b.batch(), 2, 2)
	if got := b.Cancel(y); got.Err != fsm.ErrUnknown {
		t.Errorf("what is in flight came to %v", got)
	}
}

// TestUnsureFailureStaysATry: after one try of unknown outcome no later certainty makes the request unsent.
func TestUnsureFailureStaysATry(t *testing.T) {
	b := newBench(t)
	c := b.add("x")
	b.Finish(b.batch(), nil, errBroken, false)
	b.Finish(b.batch(), nil, errBroken, true)
	b.Finish(b.batch(), nil, errBroken, true)
	if got := b.Cancel(c); got.Err != fsm.ErrUnknown {
		t.Errorf("what may be in a log came to %v", got)
	}
}

// TestRefusedOutcomes: an entry of another term applied nothing; its requests are sent again and the others aren't.
func TestRefusedOutcomes(t *testing.T) {
	b := newBench(t)
	x, y := b.add("x"), b.add("y")
	k := b.batch()
	out := answers(k, fsm.Applied)
	out[1].Status = fsm.Refused
	b.Finish(k, out, nil, false)
	b.wants(x, Result{Value: "x"})
	b.waits(y)
	b.sends(b.batch(), 2, 2)
}

// TestRepeatedAwaitsTheMachine: the node's own machine answers a request that an earlier try has applied, and it is not sent again.
func TestRepeatedAwaitsTheMachine(t *testing.T) {
	b := newBench(t)
	c := b.add("x")
	b.Finish(b.batch(), nil, errBroken, false)
	k := b.batch()
	b.Finish(k, answers(k, fsm.Repeated), nil, false)
	b.waits(c)
	if b.Take() != nil {
		t.Error("it is sent once more")
	}
	b.Resolve(answers(k, fsm.Applied))
	b.wants(c, Result{Value: "x"})
}

// TestEndedSession: requests that were sent under an ended session have an unknown outcome; the others move to the next session.
func TestEndedSession(t *testing.T) {
	b := newBench(t)
	x := b.add("x")
	k := b.batch()
	y := b.add("y")
	b.Finish(k, answers(k, fsm.SessionExpired), nil, false)
	b.wants(x, Result{Err: fsm.ErrUnknown})
	b.waits(y)
	if b.Session() != 0 {
		t.Fatal("the ended session goes on")
	}
	b.Register(7)
	next := b.batch()
	b.sends(next, 2, 2)
	if next.LowWater.Session != 7 || next.Requests[0].Session != 7 {
		t.Errorf("the next session is 7, the batch is of %d and %d", next.LowWater.Session, next.Requests[0].Session)
	}
	b.Finish(next, answers(next, fsm.Applied), nil, false)
	b.wants(y, Result{Value: "y"})
}

// TestLateAnswersOfAnEndedSession: a batch of an old session says nothing about the requests of the new one.
func TestLateAnswersOfAnEndedSession(t *testing.T) {
	b := newBench(t)
	b.add("x")
	first := b.batch()
	b.add("y")
	second := b.batch()
	b.Finish(first, answers(first, fsm.SessionExpired), nil, false)
	b.Register(7)
	z := b.add("z")
	third := b.batch()
	b.Finish(second, answers(second, fsm.SessionExpired), nil, false)
	if b.Session() != 7 {
		t.Fatal("the late answer has ended the new session")
	}
	b.Finish(third, answers(third, fsm.Applied), nil, false)
	b.wants(z, Result{Value: "z"})
}

// TestLateAnswerOfAGivenUpPack: batches in flight are counted correctly when one that was given up is answered later.
func TestLateAnswerOfAGivenUpPack(t *testing.T) {
	b := newBench(t)
	x := b.add("x")
	first := b.batch()
	y := b.add("y")
	second := b.batch()
	b.Finish(first, nil, errBroken, false) // gives up the second, too
	again := b.batch()
	b.sends(again, 1, 1, 2)
	b.Finish(second, answers(second, fsm.Applied), nil, false)
	b.wants(y, Result{Value: "y"})
	b.waits(x)
	b.add("z")
	b.batch()
	if b.add("w"); !b.Idle() {
		t.Error("two batches are in flight, and a third may go")
	}
	b.Finish(again, answers(again, fsm.Applied), nil, false)
	b.wants(x, Result{Value: "x"})
	if b.Idle() {
		t.Error("a batch was answered, and none may go")
	}
}

// TestRestoredOver: a snapshot has replaced the entries of some requests, whose outcomes this node never saw.
func TestRestoredOver(t *testing.T) {
	b := newBench(t)
	x, y := b.add("x"), b.add("y")
	b.batch()
	z := b.add("z")
	b.Restored(func(session, seq uint64) bool { return session == 1 && seq == 2 })
	b.wants(x, Result{Err: fsm.ErrUnknown})
	b.waits(y, z)
}

// TestEndTellsEverybody: a tracker that stops answers each request with what is known of it.
func TestEndTellsEverybody(t *testing.T) {
	b := newBench(t)
	x := b.add("x")
	b.batch()
	y := b.add("y")
	b.End()
	b.wants(x, Result{Err: fsm.ErrUnknown})
	b.wants(y, Result{Err: fsm.ErrStopping})
	if _, err := b.Add(fsm.Exec.Code, nil); !errors.Is(err, fsm.ErrStopping) {
		t.Errorf("a stopped tracker takes a request: %v", err)
	}
	if c, k := b.AttachRequest(fsm.Exec.Code, nil); c != nil || k != nil {
		t.Error("a stopped tracker attaches a request")
	}
}

// TestPiggyback: a request attached to the entry of others has an identity like all, and falls back to batches.
func TestPiggyback(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		name    string
		finish  func(k *Batch)
		want    Result
		settled bool
		sent    bool // also after Abandon its outcome is unknown
	}{
		{"applied", func(k *Batch) { b.FinishPiggyback(k, answers(k, fsm.Applied), nil, false) }, Result{Value: "r"}, true, true},
		{"refused", func(k *Batch) { b.FinishPiggyback(k, answers(k, fsm.Refused), nil, false) }, Result{}, false, false},
		{"surely failed", func(k *Batch) { b.FinishPiggyback(k, nil, errBroken, true) }, Result{}, false, false},
		{"failed", func(k *Batch) { b.FinishPiggyback(k, nil, errBroken, false) }, Result{}, false, true},
		{"repeated", func(k *Batch) { b.FinishPiggyback(k, answers(k, fsm.Repeated), nil, false) }, Result{}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.t = t
			call, k := b.AttachRequest(fsm.Exec.Code, []byte("r"))
			if b.Take() != nil {
				t.Error("what is attached is in a batch, too")
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
			if got := b.Cancel(call); got.Err != want {
				t.Errorf("given up, it came to %v, not %v", got.Err, want)
			}
		})
	}
	b.t = t
	call, k := b.AttachRequest(fsm.Exec.Code, []byte("r"))
	b.FinishPiggyback(k, answers(k, fsm.SessionExpired), nil, false)
	b.wants(call, Result{Err: fsm.ErrUnknown})
	if c, _ := b.AttachRequest(fsm.Exec.Code, nil); c != nil || b.Session() != 0 {
		t.Error("a request is attached without a session")
	}
}

// TestMoreGoesAlong: requests that have come since the last batch go along with it, but not while a try has failed.
func TestMoreGoesAlong(t *testing.T) {
	b := newBench(t)
	b.add("x")
	if b.TakeMore() != nil {
		t.Error("with no batch in flight there is one to go along with")
	}
	b.batch()
	b.add("y")
	b.batch()
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

// TestPacksAreCut: a flood is sent in batches of bounded size, in order, each request once.
func TestPacksAreCut(t *testing.T) {
	b := newBench(t)
	body := bytes.Repeat([]byte("b"), 1<<10)
	const flood = 5000
	for range flood {
		b.add(string(body))
	}
	next, batches := uint64(1), 0
	for b.Waiting() > 0 {
		k := b.batch()
		batches++
		size := 0
		for _, q := range k.Requests {
			if q.Seq != next {
				t.Fatalf("sequence %d comes after %d", q.Seq, next-1)
			}
			next++
			size += len(q.Body) + FrameCost
		}
		if size > MaxBatchBytes {
			t.Fatalf("a batch of %d bytes", size)
		}
		b.Finish(k, answers(k, fsm.Applied), nil, false)
	}
	if want := flood*(1<<10+FrameCost)/MaxBatchBytes + 1; next != flood+1 || batches != want {
		t.Errorf("%d requests in %d batches; want %d in %d", next-1, batches, flood, want)
	}
	if b.Pending() != 0 {
		t.Errorf("%d have no outcome", b.Pending())
	}
	b.add("small")
	b.add(string(bytes.Repeat(body, MaxBatchBytes>>10)))
	b.add("small")
	for range 3 {
		k := b.batch()
		if len(k.Requests) != 1 {
			t.Errorf("a request as large as a batch goes with others: %v", sequences(k))
		}
		b.Finish(k, answers(k, fsm.Applied), nil, false)
	}
}

// TestFloodIsBounded: requests beyond the most that may wait are refused, with certainty, until some have outcomes.
func TestFloodIsBounded(t *testing.T) {
	b := newBench(t)
	b.most = 100
	for range 100 {
		b.add("x")
	}
	if _, err := b.Add(fsm.Exec.Code, nil); !errors.Is(err, fsm.ErrNoLeader) {
		t.Errorf("the request beyond the bound: %v", err)
	}
	k := b.batch()
	if len(k.Requests) != 100 {
		t.Errorf("%d requests were taken in", len(k.Requests))
	}
	b.Finish(k, answers(k, fsm.Applied), nil, false)
	b.add("x")
}
