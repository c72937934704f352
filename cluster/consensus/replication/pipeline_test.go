package replication

import (
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/transport"
)

// wireEnd is the follower's end of a pipeline: calls that wait for their answers.
type wireEnd struct {
	calls chan sentCall
	ended bool
}

type sentCall struct {
	q      *raft.AppendEntriesRequest
	answer func([]byte, error)
}

func (we *wireEnd) Call(_ transport.Kind, b []byte, answer func([]byte, error)) bool {
	q, err := DecodeRequest(b)
	if err != nil {
		panic(err)
	}
	we.calls <- sentCall{q, answer}
	return true
}

func (we *wireEnd) Ended() bool { return we.ended }

func startPipeline(t *testing.T) (*pipeline, *wireEnd) {
	w := &wireEnd{calls: make(chan sentCall, 1000)}
	p := newPipeline(1, w, func() {})
	t.Cleanup(func() { p.Close() })
	return p, w
}

func entries(term, from, to uint64, size int) (list []*raft.Log) {
	for i := from; i <= to; i++ {
		list = append(list, &raft.Log{Index: i, Term: term, Data: make([]byte, size)})
	}
	return list
}

func request(term, from, to uint64, size int) *raft.AppendEntriesRequest {
	return &raft.AppendEntriesRequest{Term: term, PrevLogEntry: from - 1, PrevLogTerm: term, Entries: entries(term, from, to, size)}
}

func (p *pipeline) ask(t *testing.T, q *raft.AppendEntriesRequest) raft.AppendFuture {
	t.Helper()
	f, err := p.AppendEntries(q, new(raft.AppendEntriesResponse))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (p *pipeline) putEarly(t *testing.T, term, from, to uint64) {
	t.Helper()
	b, err := AppendRequest(nil, request(term, from, to, 10))
	if err != nil {
		t.Fatal(err)
	}
	p.sendEarly(from, to, term, b)
}

func (we *wireEnd) next(t *testing.T) sentCall {
	t.Helper()
	select {
	case c := <-we.calls:
		return c
	case <-time.After(time.Minute):
		t.Fatal("nothing was sent")
		panic("")
	}
}

func (c sentCall) accept(last uint64) {
	c.answer(AppendResponse(nil, &raft.AppendEntriesResponse{Term: c.q.Term, LastLog: last, Success: true}), nil)
}

func (p *pipeline) awaitAnswer(t *testing.T, want raft.AppendFuture, success bool) {
	t.Helper()
	select {
	case f := <-p.done:
		if f != want || f.Response().Success != success {
			t.Fatalf("answered %+v with %+v", f.Request(), f.Response())
		}
	case <-time.After(time.Minute):
		t.Fatal("no answer")
	}
}

func (we *wireEnd) silent(t *testing.T, what string) {
	t.Helper()
	select {
	case c := <-we.calls:
		t.Errorf("%s: sent %+v", what, c.q)
	default:
	}
}

// TestAnswersAreTimed: an append with entries is timed from the moment it is sent, early or not. One without entries says nothing of
// the follower's disk.
func TestAnswersAreTimed(t *testing.T) {
	p, w := startPipeline(t)
	timed, last := 0, time.Duration(0)
	p.answered = func(took time.Duration) { timed, last = timed+1, took }
	p.ask(t, &raft.AppendEntriesRequest{Term: 1, PrevLogEntry: 4, PrevLogTerm: 1})
	w.next(t).accept(4)
	if timed != 0 {
		t.Error("an append without entries was timed")
	}
	p.ask(t, request(1, 5, 5, 10))
	w.next(t).accept(5)
	begun := time.Now()
	p.putEarly(t, 1, 6, 6)
	c := w.next(t)
	time.Sleep(5 * time.Millisecond) // a slow disk
	c.accept(6)
	most := time.Since(begun)
	if timed != 2 || last < 5*time.Millisecond || last > most {
		t.Errorf("%d answers were timed, the last took %v, want 2 and 5 ms to %v", timed, last, most)
	}
	p.ask(t, request(1, 7, 7, 10))
	w.next(t).answer(nil, errors.New("refused"))
	if timed != 2 {
		t.Error("a failed call was timed")
	}
}

// TestEarlyEntriesAreSentOnce: what was sent early is not sent again, whether raft asks for it before or after the follower's
// answer, and raft is answered only by the follower.
func TestEarlyEntriesAreSentOnce(t *testing.T) {
	p, w := startPipeline(t)
	f := p.ask(t, request(2, 5, 6, 10))
	w.next(t).accept(6)
	p.awaitAnswer(t, f, true)

	p.putEarly(t, 2, 7, 8)
	first := w.next(t)
	f = p.ask(t, request(2, 7, 8, 10))
	select {
	case <-p.done:
		t.Fatal("raft has an answer before the follower gave one")
	default:
	}
	first.accept(8)
	p.awaitAnswer(t, f, true)

	p.putEarly(t, 2, 9, 9)
	w.next(t).accept(9)
	p.awaitAnswer(t, p.ask(t, request(2, 9, 9, 10)), true)
	w.silent(t, "entries that were sent early")
}

// TestEarlyAnswerCoversAllBefore: one append for what was sent early in two is answered by the second.
func TestEarlyAnswerCoversAllBefore(t *testing.T) {
	p, w := startPipeline(t)
	p.ask(t, &raft.AppendEntriesRequest{Term: 2, PrevLogEntry: 4, PrevLogTerm: 2}) // nothing new: it says where the follower is
	w.next(t)
	p.putEarly(t, 2, 5, 5)
	p.putEarly(t, 2, 6, 7)
	one, two := w.next(t), w.next(t)
	f := p.ask(t, request(2, 5, 7, 10))
	one.accept(5)
	select {
	case <-p.done:
		t.Fatal("answered by the first of two")
	default:
	}
	two.accept(7)
	p.awaitAnswer(t, f, true)
	w.silent(t, "all was sent early")
}

// TestOtherEntriesAreNotTakenForThem: an early answer does not count for another term or another last entry.
func TestOtherEntriesAreNotTakenForThem(t *testing.T) {
	for name, q := range map[string]*raft.AppendEntriesRequest{
		"another term": request(3, 5, 5, 10), "more entries": request(2, 5, 6, 10), "fewer entries": request(2, 4, 4, 10),
	} {
		p, w := startPipeline(t)
		p.ask(t, request(2, 4, 4, 10))
		w.next(t)
		p.putEarly(t, 2, 5, 5)
		w.next(t).accept(5)
		f := p.ask(t, q)
		select {
		case f := <-p.done:
			t.Fatalf("%s: answered %+v", name, f.Request())
		default:
		}
		w.next(t).answer(AppendResponse(nil, &raft.AppendEntriesResponse{Term: 9}), nil)
		p.awaitAnswer(t, f, false)
	}
}

// TestNothingEarlyToASlowFollower: only a follower that was sent all before, and answers, gets entries early.
func TestNothingEarlyToASlowFollower(t *testing.T) {
	p, w := startPipeline(t)
	p.putEarly(t, 2, 5, 5)
	w.silent(t, "it is not known where the follower is")
	p.ask(t, request(2, 5, 5, 10))
	w.next(t)
	p.putEarly(t, 2, 7, 7)
	w.silent(t, "it misses the entry before")
	for i := range uint64(maxEarlyCalls) {
		p.putEarly(t, 2, 6+i, 6+i)
		w.next(t)
	}
	p.putEarly(t, 2, 6+maxEarlyCalls, 6+maxEarlyCalls)
	w.silent(t, "raft has not asked for those before")
	p, w = startPipeline(t)
	p.ask(t, request(2, 5, 5, maxEarlyBytes+1))
	w.next(t)
	p.putEarly(t, 2, 6, 6)
	w.silent(t, "much is unanswered")
	w.ended = true
	p.putEarly(t, 2, 6, 6)
	w.silent(t, "the connection has ended")
}

// TestFailedCallEndsThePipeline: raft is given an answer without success, of entries sent early too.
func TestFailedCallEndsThePipeline(t *testing.T) {
	for name, fail := range map[string]func(sentCall){
		"no connection": func(c sentCall) { c.answer(nil, errors.New("cut")) },
		"malformed":     func(c sentCall) { c.answer([]byte{1, 2}, nil) },
		"refused":       func(c sentCall) { c.answer(AppendResponse(nil, &raft.AppendEntriesResponse{Term: 2}), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			p, w := startPipeline(t)
			f := p.ask(t, request(2, 5, 5, 10))
			fail(w.next(t))
			p.awaitAnswer(t, f, false)
			p.putEarly(t, 2, 6, 6)
			fail(w.next(t))
			p.awaitAnswer(t, p.ask(t, request(2, 6, 6, 10)), false)
		})
	}
}

// TestLargeAppendIsSplit: no call is larger than connections take, raft is answered once, by the last, and a follower that
// answers nothing gets a bounded number of bytes.
func TestLargeAppendIsSplit(t *testing.T) {
	p, w := startPipeline(t)
	answered := make(chan raft.AppendFuture)
	go func() {
		f, err := p.AppendEntries(request(2, 1, 64, 512<<10), new(raft.AppendEntriesResponse))
		if err != nil {
			t.Error(err)
		}
		answered <- f
	}()
	for last := uint64(0); last < 64; {
		c := w.next(t)
		if got := len(c.q.Entries); c.q.PrevLogEntry != last || got == 0 || got > 2 {
			t.Fatalf("%d entries after %d, want some after %d", got, c.q.PrevLogEntry, last)
		}
		last += uint64(len(c.q.Entries))
		if unanswered := len(w.calls); unanswered > maxCalls {
			t.Fatalf("%d calls are unanswered", unanswered)
		}
		c.accept(last)
	}
	p.awaitAnswer(t, <-answered, true)
}

// TestCloseFreesRaft: raft does not wait for a follower whose pipeline is closed.
func TestCloseFreesRaft(t *testing.T) {
	p, w := startPipeline(t)
	for i := range uint64(maxCalls) {
		p.ask(t, request(2, 1+i, 1+i, 10))
		w.next(t)
	}
	failed := make(chan error)
	go func() {
		_, err := p.AppendEntries(request(2, 1+maxCalls, 1+maxCalls, 10), new(raft.AppendEntriesResponse))
		failed <- err
	}()
	p.Close()
	if err := <-failed; !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v", err)
	}
}
