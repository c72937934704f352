package scheduler

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/internal/testgate"
)

// lead runs a scheduler as a leader's term; the function that it returns ends the term.
func lead(t *testing.T, s *Scheduler) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { s.Run(ctx); close(over) }()
	end = func() { cancel(); testgate.Receive(t, "the end of the term", over) }
	t.Cleanup(end)
	return end
}

func scheduler(t *testing.T, e *engine, change ...func(*Options)) *Scheduler {
	t.Helper()
	o := Options{Claimer: e, Deliverer: testSender(t), Senders: 64}
	for _, f := range change {
		f(&o)
	}
	s := New(o)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		s.Close(ctx)
	})
	return s
}

func TestDeliver(t *testing.T) {
	url, requests := sinkOf(t, nil)
	e := newEngine()
	lead(t, scheduler(t, e))
	id := e.publish(t, queue.Publication{URL: url, Body: []byte("hello")})
	if got := <-requests; got.body != "hello" || got.header.Get("Upstash-Message-Id") != id.String() || got.header.Get("Upstash-Retried") != "0" {
		t.Error(got)
	}
	until(t, "delivered", func() bool { return slices.Equal(e.states(id), []string{"CREATED", "ACTIVE", "DELIVERED"}) })
}

// TestRetryUntilTaken: the delay of the message's expression is waited out, and the
// count of retries is told.
func TestRetryUntilTaken(t *testing.T) {
	var n atomic.Int32
	url, requests := sinkOf(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) < 3 {
			w.WriteHeader(500)
		}
	})
	e := newEngine()
	lead(t, scheduler(t, e))
	begin := time.Now()
	o := queue.Options{Given: queue.GivenRetries | queue.GivenRetryDelay, Retries: 5, RetryDelay: "100*(retried+1)"}
	id := e.publish(t, queue.Publication{URL: url, Options: o})
	for want := range 3 {
		if got := <-requests; got.header.Get("Upstash-Retried") != fmt.Sprint(want) {
			t.Errorf("attempt %d: %v", want, got.header)
		}
	}
	if took := time.Since(begin); took < 300*time.Millisecond {
		t.Errorf("delivered after %v", took)
	}
	want := []string{"CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "DELIVERED"}
	until(t, "delivered", func() bool { return slices.Equal(e.states(id), want) })
}

// TestAnswersWithCommands are recorded by entries of their own. What has no outcome is proposed again; if the commands are refused
// before they ran, the attempt has failed.
func TestAnswersWithCommands(t *testing.T) {
	url, _ := sinkOf(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Svc-Commit", `[["PING"]]`) })
	e := newEngine()
	var asked atomic.Int32
	e.commits = func() error {
		switch asked.Add(1) {
		case 1:
			return &queue.Error{Code: queue.ErrMemory.Code, Text: "no room"}
		case 2, 3:
			return errNoLeader
		}
		return nil
	}
	lead(t, scheduler(t, e))
	o := queue.Options{Given: queue.GivenRetries | queue.GivenRetryDelay | queue.GivenCommit, Retries: 5, RetryDelay: "1", CommitAs: "default"}
	id := e.publish(t, queue.Publication{URL: url, Options: o})
	until(t, "delivered", func() bool {
		return slices.Equal(e.states(id), []string{"CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "DELIVERED"})
	})
	if n := asked.Load(); n != 4 {
		t.Errorf("answers with commands were proposed %d times", n)
	}
}

func TestScheduleFires(t *testing.T) {
	url, requests := sinkOf(t, nil)
	e := newEngine()
	lead(t, scheduler(t, e))
	begin := time.Now().Truncate(time.Millisecond) // as the entry is stamped
	put := queue.SchedulePut{ID: "s", Cron: "@every 1s", Every: 1000, Publish: queue.Publication{URL: url}}
	if err := e.apply(func(v *env.Env) error { _, err := e.store.PutSchedule(v, put); return err }); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := <-requests; got.header.Get("Upstash-Schedule-Id") != "s" {
			t.Error(got)
		}
	}
	if took := time.Since(begin); took < 2*time.Second {
		t.Errorf("two ticks took %v", took)
	}
}

// TestManyAtOnce: results share entries, and never more attempts run than there are
// senders.
func TestManyAtOnce(t *testing.T) {
	var now, most atomic.Int32
	count := func(w http.ResponseWriter, _ *http.Request) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		time.Sleep(time.Millisecond) // long enough to overlap
		now.Add(-1)
	}
	server, stop := plainSink(t, count)
	defer stop()
	e := newEngine()
	e.latency = 5 * time.Millisecond
	const all = 1000
	for range all {
		e.publish(t, queue.Publication{URL: server})
	}
	lead(t, scheduler(t, e, func(o *Options) { o.Senders, o.HostShare = 100, 100 }))
	until(t, "all delivered", func() bool { e.mu.Lock(); defer e.mu.Unlock(); return sum(e.entries) == all })
	if most.Load() > 100 {
		t.Errorf("%d at once", most.Load())
	}
	if len(e.entries) > all/2 {
		t.Errorf("%d results took %d entries", all, len(e.entries))
	}
}

// TestBlockedHostKeepsToItsShare: a destination that never answers holds its share of
// the senders, and others are delivered to meanwhile.
func TestBlockedHostKeepsToItsShare(t *testing.T) {
	var held atomic.Int32
	blocked := raw(t, func(c net.Conn) { held.Add(1); io.Copy(io.Discard, c) })
	fine, stop := plainSink(t, nil)
	defer stop()
	e := newEngine()
	for range 200 {
		e.publish(t, queue.Publication{URL: blocked})
	}
	for range 200 {
		e.publish(t, queue.Publication{URL: fine})
	}
	lead(t, scheduler(t, e, func(o *Options) { o.Senders, o.HostShare = 64, 8 }))
	until(t, "the fine ones are delivered", func() bool { e.mu.Lock(); defer e.mu.Unlock(); return sum(e.entries) == 200 })
	if held.Load() > 8 {
		t.Errorf("%d attempts to one host", held.Load())
	}
}

// TestResultsAreRecordedAfterTheTerm: what a destination has answered counts, though the
// leader that asked it is none any more.
func TestResultsAreRecordedAfterTheTerm(t *testing.T) {
	url, requests := sinkOf(t, nil)
	e := newEngine()
	s := scheduler(t, e)
	answered := make(chan struct{})
	s.Deliverer = delivererFunc(func(ctx context.Context, a *queue.Attempt) (queue.Result, bool) {
		n, ok := testSender(t).Send(ctx, a)
		e.set(func() { e.lost = true })
		close(answered)
		return n.Result, ok
	})
	end := lead(t, s)
	id := e.publish(t, queue.Publication{URL: url})
	<-requests
	<-answered
	end()
	e.set(func() { e.lost = false })
	until(t, "delivered", func() bool { return slices.Contains(e.states(id), "DELIVERED") })
}

// TestEndOfATermEndsItsAttempts: they are not recorded as failures; the next term's first
// Advance takes them over and sends again.
func TestEndOfATermEndsItsAttempts(t *testing.T) {
	var n atomic.Int32
	reached := make(chan struct{}, 10)
	url := raw(t, func(c net.Conn) {
		reached <- struct{}{}
		if n.Add(1) == 1 {
			io.Copy(io.Discard, c)
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	})
	e := newEngine()
	s := scheduler(t, e)
	end := lead(t, s)
	id := e.publish(t, queue.Publication{URL: url})
	<-reached
	end()
	e.set(func() { e.term++ })
	lead(t, s)
	<-reached
	until(t, "delivered", func() bool { return slices.Contains(e.states(id), "DELIVERED") })
	if got := e.states(id); !slices.Equal(got, []string{"CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "DELIVERED"}) {
		t.Error(got)
	}
}

// TestCloseWaitsForAttempts: a node that stops lets what it sends end, and hands it in.
func TestCloseWaitsForAttempts(t *testing.T) {
	answer := testgate.New(t)
	url, _ := sinkOf(t, func(http.ResponseWriter, *http.Request) { answer.Wait() })
	e := newEngine()
	s := New(Options{Claimer: e, Deliverer: testSender(t)})
	lead(t, s)
	id := e.publish(t, queue.Publication{URL: url})
	answer.Reached(1)
	closed := make(chan struct{})
	go func() { s.Close(t.Context()); close(closed) }()
	until(t, "closing", s.isDraining)
	other := e.publish(t, queue.Publication{URL: url}) // is not claimed any more
	answer.Open()
	testgate.Receive(t, "the end of the scheduler", closed)
	if got := e.states(id); !slices.Contains(got, "DELIVERED") {
		t.Error(got)
	}
	if got := e.states(other); len(got) != 1 {
		t.Error(got)
	}
}

// TestLeaseThatCannotBeRenewed: two seconds before its end the attempt is ended.
func TestLeaseThatCannotBeRenewed(t *testing.T) {
	c := newClaims(1)
	ref := queue.AttemptRef{ID: queue.ID{Seq: 1}, Number: 1}
	ctx, cancel := context.WithCancel(t.Context())
	asked := time.Now()
	c.add(ref, "", cancel, asked)
	c.endOverdue(asked.Add(7999 * time.Millisecond))
	if ctx.Err() != nil {
		t.Fatal("ended early")
	}
	c.renewed([]queue.AttemptRef{ref}, nil, asked.Add(3*time.Second))
	c.endOverdue(asked.Add(10 * time.Second))
	if ctx.Err() != nil {
		t.Fatal("ended though it was renewed")
	}
	c.endOverdue(asked.Add(11 * time.Second))
	if ctx.Err() == nil {
		t.Fatal("not ended")
	}
}

func TestLostAttemptIsEnded(t *testing.T) {
	c := newClaims(1)
	ref := queue.AttemptRef{ID: queue.ID{Seq: 1}, Number: 1}
	ctx, cancel := context.WithCancel(t.Context())
	c.add(ref, "", cancel, time.Now())
	c.renewed([]queue.AttemptRef{ref}, []queue.AttemptRef{ref}, time.Now())
	if ctx.Err() == nil {
		t.Error("not ended")
	}
}

// TestLongAttemptKeepsItsLease: renewals keep a claim longer than one lease lasts.
func TestLongAttemptKeepsItsLease(t *testing.T) {
	if testing.Short() {
		t.Skip("takes longer than a lease")
	}
	t.Parallel()
	answer := testgate.New(t)
	url, _ := sinkOf(t, func(http.ResponseWriter, *http.Request) { answer.Wait() })
	e := newEngine()
	lead(t, scheduler(t, e))
	id := e.publish(t, queue.Publication{URL: url})
	answer.Reached(1)
	claimed := time.Now()
	until(t, "longer than a lease", func() bool { return time.Since(claimed) > 11*time.Second })
	answer.Open()
	until(t, "delivered", func() bool { return slices.Equal(e.states(id), []string{"CREATED", "ACTIVE", "DELIVERED"}) })
}

// TestTakeOverIsRetriedUntilItSucceeds: claims of the term before are taken over though the
// log would not take the new term's first Advance.
func TestTakeOverIsRetriedUntilItSucceeds(t *testing.T) {
	url, requests := sinkOf(t, nil)
	e := newEngine()
	id := e.publish(t, queue.Publication{URL: url})
	if all, err := e.Advance(t.Context(), queue.Demand{Claims: 1}); err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	e.set(func() { e.term++; e.lost = true })
	lead(t, scheduler(t, e))
	time.Sleep(2 * retryInterval) // the first tries fail
	e.set(func() { e.lost = false })
	<-requests
	until(t, "delivered", func() bool { return slices.Contains(e.states(id), "DELIVERED") })
}

func TestPanicIsAFailedAttempt(t *testing.T) {
	e := newEngine()
	lead(t, scheduler(t, e, func(o *Options) {
		o.Deliverer = delivererFunc(func(context.Context, *queue.Attempt) (queue.Result, bool) { panic("oh") })
	}))
	id := e.publish(t, queue.Publication{URL: "http://127.0.0.1/"})
	until(t, "failed", func() bool { return slices.Contains(e.states(id), "ERROR") })
}

// TestIdleLoopWritesNoEntries: with nothing to do no Advance is asked for, beyond the
// first of the term.
func TestIdleLoopWritesNoEntries(t *testing.T) {
	e := newEngine()
	lead(t, scheduler(t, e))
	until(t, "the first Advance", func() bool { e.mu.Lock(); defer e.mu.Unlock(); return e.advances == 1 })
	for range 100 {
		e.apply(func(*env.Env) error { return nil }) // wakes the loop
	}
	e.publish(t, queue.Publication{URL: "http://127.0.0.1/", Options: queue.Options{Given: queue.GivenDelay, Delay: 3_600_000}})
	time.Sleep(50 * time.Millisecond) // that nothing happens takes a while to see
	e.set(func() {
		if e.advances != 1 {
			t.Errorf("%d Advances", e.advances)
		}
	})
}

func TestRampAfterAnElection(t *testing.T) {
	s := scheduler(t, newEngine(), func(o *Options) { o.Senders = 1000 })
	m := newPolicy(s.Senders, s.HostShare, s.limiters, time.Now())
	for since, want := range map[time.Duration]int{0: 200, time.Second: 400, 3 * time.Second: 800, 4 * time.Second: 1000, time.Hour: 1000} {
		if got := m.allowed(since); got != want {
			t.Errorf("after %v: %d; want %d", since, got, want)
		}
	}
	m.senders = 50
	if got := m.allowed(0); got != 50 {
		t.Errorf("few senders: %d", got)
	}
}

type delivererFunc func(context.Context, *queue.Attempt) (queue.Result, bool)

func (df delivererFunc) Send(ctx context.Context, a *queue.Attempt) (queue.Answer, bool) {
	n, ok := df(ctx, a)
	return queue.Answer{Result: n}, ok
}

// plainSink is a sink that keeps nothing of what it gets.
func plainSink(t *testing.T, f http.HandlerFunc) (url string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if f != nil {
			f(w, r)
		}
	})}
	var wg sync.WaitGroup
	wg.Go(func() { s.Serve(l) })
	return "http://" + l.Addr().String(), func() { s.Close(); wg.Wait() }
}

func sum(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}
