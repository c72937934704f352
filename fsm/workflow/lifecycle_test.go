package workflow_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// A delivery carries the log up to its entry, whatever has come since, also when it is repeated.
func TestDeliveryCarriesItsPrefix(t *testing.T) {
	w := newWorld(t)
	w.submit(start("r"))
	w.advance()
	first := w.running[0]
	w.submit(plan("r", 1, 2), plan("r", 2, 2))
	w.finish(0, fine, "")
	d := w.deliver(queue.Response{Status: 500})
	if len(d) != 2 {
		t.Fatalf("%d deliveries of two plans", len(d))
	}
	if got := string(d[0].Body); strings.Count(got, "messageId") != 2 || strings.Contains(got, b64(`"targetStep":2`)) {
		t.Errorf("the first plan is delivered with %s", got)
	}
	if got := string(d[1].Body); strings.Count(got, "messageId") != 3 {
		t.Errorf("the second plan is delivered with %s", got)
	}
	w.now += 1000
	again := w.deliver(fine)
	if string(again[0].Body) != string(d[0].Body) {
		t.Errorf("repeated with %s, before with %s", again[0].Body, d[0].Body)
	}
	if !strings.HasPrefix(string(d[0].Body), `[{"messageId":"`+first.ID.String()+`","body":"`+b64(`{"order":7}`)+`","callType":"step"}`) {
		t.Errorf("the log begins as %.200s", d[0].Body)
	}
}

// The first result of a step wins, and a second one is answered with it.
func TestFirstResultWins(t *testing.T) {
	w := newWorld(t)
	w.submit(start("r"))
	one := w.submit(step("r", 1, "first"))[0]
	two := w.submit(step("r", 1, "second"))[0]
	if !two.Deduplicated || two.ID != one.ID || one.Deduplicated {
		t.Fatalf("answers %+v and %+v", one, two)
	}
	if list := w.bodies("r"); len(list) != 2 || !strings.Contains(list[1], "first") {
		t.Fatalf("the log is %q", list)
	}
}

// A retry of a delivery whose step is in the log is dropped, also when it was the last one allowed.
func TestLostAnswerIsNoFailure(t *testing.T) {
	w := newWorld(t)
	w.submit(start("r"))
	w.advance()
	w.submit(step("r", 1, "done"))
	w.finish(0, queue.Response{}, "timeout")
	w.now += 60_000
	d := w.deliver(fine)
	if len(d) != 1 || !w.run("r").Active() {
		t.Fatalf("%d deliveries, the run is %s", len(d), w.run("r").State)
	}
}

// An answer that is none of a workflow fails the run at once.
func TestDetectsWhatIsNoWorkflow(t *testing.T) {
	w := newWorld(t)
	n := start("r")
	w.submit(n)
	w.deliver(queue.Response{Status: 200, Body: []byte("hello")})
	r := w.run("r")
	if r.State != workflow.Failed || !strings.HasPrefix(r.Fault.Error, "detected a non-workflow") || string(r.Fault.Response.Body) != "hello" {
		t.Fatalf("the run is %s, %+v", r.State, r.Fault)
	}
}

// A call that fails is a result like another.
func TestCallThatFails(t *testing.T) {
	w := newWorld(t)
	w.submit(start("r"))
	w.deliver(fine)
	w.submit(call("r", 1))
	if again := w.submit(call("r", 1))[0]; !again.Deduplicated {
		t.Fatal("a call was taken twice")
	}
	d := w.deliver(queue.Response{Status: 503, Body: []byte("closed")})
	if len(d) != 1 || d[0].URL != "http://pay:9000/charge" || len(d[0].Service) != 0 {
		t.Fatalf("the call is %+v", d)
	}
	d = w.deliver(fine)
	if len(d) != 1 || d[0].URL != url || !strings.Contains(string(d[0].Body), `"status":503`) || !strings.Contains(string(d[0].Body), b64("closed")) {
		t.Fatalf("the endpoint is told %+v", d)
	}
	for _, f := range d[0].Header {
		if f.Name == workflow.SDKVersionHeader {
			t.Error("a callback must not carry the version of the protocol")
		}
	}
	if !w.run("r").Active() {
		t.Error("the run has ended")
	}
}

// The waiter is taken out once, by whoever comes first.
func TestWaitersWakeOnce(t *testing.T) {
	w := newWorld(t)
	w.submit(start("r"))
	wait := await("r", 1, "approve", 1000)
	for range 2 {
		apply(w, func(e *env.Env, p pair) (workflow.Receipt, error) { return p.s.Await(e, p.q, wait) })
	}
	if n := len(w.pairs[0].s.Waiters("approve", queue.NamePage{Limit: 1000}).Elements); n != 1 {
		t.Fatalf("%d waiters", n)
	}
	notify := func() int {
		out, err := apply(w, func(e *env.Env, p pair) (int, error) {
			n, err := p.s.Notify(e, p.q, workflow.Notification{EventID: "approve", Body: []byte("yes")})
			return len(n.Woken), err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if n := notify(); n != 1 {
		t.Fatalf("%d were woken", n)
	}
	if n := notify(); n != 0 {
		t.Fatalf("%d were woken again", n)
	}
	w.now += 5000
	w.advance()
	want := `{"stepId":1,"stepType":"Wait","stepName":"w","concurrent":1,"waitEventId":"approve","timeout":"60s","out":"` + b64("yes") + `"}`
	if list := w.bodies("r"); len(list) != 2 || list[1] != want {
		t.Fatalf("the log is %q", list)
	}
}

// The invoker learns of the end of its child, once.
func TestInvokerIsTold(t *testing.T) {
	w := newWorld(t)
	w.submit(start("parent"))
	child := start("child")
	child.Invoker = &workflow.Invoker{RunID: "parent", URL: url, Step: workflow.Step{ID: 1, Type: workflow.Invoke, Concurrent: 1}, Open: []byte(`{"stepId":1`)}
	w.submit(child)
	other := child
	other.RunID = "another"
	if r := w.submit(other)[0]; !r.Deduplicated || r.RunID != "child" {
		t.Fatalf("invoked again: %+v", r)
	}
	for range 2 {
		apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) {
			return p.s.End(e, p.q, workflow.Ending{RunID: "child", Result: []byte(`{"x":1}`), HasResult: true})
		})
	}
	if list := w.bodies("parent"); len(list) != 2 || list[1] != `{"stepId":1,"out":"{\"body\":\"{\\\"x\\\":1}\",\"isFailed\":false,\"isCanceled\":false}"}` {
		t.Fatalf("the log is %q", list)
	}
}

// A resume keeps finished steps and delivers what failed; a second one finds no dead letter.
func TestResume(t *testing.T) {
	w := newWorld(t)
	w.submit(start("r"))
	w.deliver(fine)
	w.submit(step("r", 1, "a"))
	w.deliver(queue.Response{Status: 500, Body: []byte(`{"message":"boom"}`)})
	w.now += 60_000
	w.deliver(queue.Response{Status: 500, Body: []byte(`{"message":"boom"}`)})
	old := w.run("r")
	if old.State != workflow.Failed || old.Callback == nil {
		t.Fatalf("the run is %s", old.State)
	}
	w.deliver(fine) // the failure callback
	resume := func() (workflow.Revived, error) {
		return apply(w, func(e *env.Env, p pair) (workflow.Revived, error) {
			return p.s.Revive(e, p.q, workflow.Revival{DeadSelection: workflow.DeadSelection{IDs: []queue.Stamp{old.Dead}, Strict: true}})
		})
	}
	out, err := resume()
	if err != nil || len(out.Runs) != 1 {
		t.Fatal(out, err)
	}
	if _, err := resume(); !errors.Is(err, queue.ErrNotFound) {
		t.Fatalf("resumed twice: %v", err)
	}
	d := w.deliver(fine)
	if len(d) != 1 || strings.Count(string(d[0].Body), "messageId") != 2 {
		t.Fatalf("resumed with %d deliveries", len(d))
	}
	if r := w.submit(step(out.Runs[0].ID, 1, "b"))[0]; !r.Deduplicated {
		t.Error("a finished step was taken again")
	}
}

// Acceptance line 5 of workflows: of fifty finished steps none is run again, and the log is the same to the byte.
func TestResumeOfALongRun(t *testing.T) {
	w := newWorld(t)
	w.submit(start("r"))
	w.deliver(fine)
	const steps = 500
	for i := range uint32(steps) {
		w.submit(step("r", i+1, "done"))
		if i+1 < steps {
			w.deliver(fine)
		}
	}
	before := w.bodies("r")
	for range 2 {
		w.deliver(queue.Response{Status: 500})
		w.now += 60_000
	}
	old := w.run("r")
	if old.State != workflow.Failed {
		t.Fatalf("the run is %s", old.State)
	}
	w.deliver(fine)
	out, err := apply(w, func(e *env.Env, p pair) (workflow.Revived, error) { return p.s.Revive(e, p.q, workflow.Revival{}) })
	if err != nil || len(out.Runs) != 1 {
		t.Fatal(out, err)
	}
	if after := w.bodies(out.Runs[0].ID); !slices.Equal(before, after) {
		t.Fatalf("a log of %d entries became one of %d", len(before), len(after))
	}
	if d := w.deliver(fine); len(d) != 1 {
		t.Fatalf("%d deliveries", len(d))
	}
	w.restore(1)
	w.same()
}

// What comes for a run that is over is refused in the way that makes an SDK stop.
func TestOver(t *testing.T) {
	w := newWorld(t)
	w.submit(start("r"))
	n, _ := apply(w, func(e *env.Env, p pair) (workflow.Cancelled, error) {
		return p.s.Cancel(e, p.q, workflow.Cancellation{})
	})
	if n.Count != 1 {
		t.Fatalf("%d cancelled", n.Count)
	}
	if r := w.submit(step("r", 1, "a"))[0]; !errors.Is(r.Refused, workflow.ErrOver) {
		t.Errorf("a step of a cancelled run: %+v", r)
	}
	if d := w.deliver(fine); len(d) != 0 {
		t.Errorf("%d deliveries of a cancelled run", len(d))
	}
	w.same()
}

// TestCancelledWaitsStayInTheLog: what a cancelled run was waiting for is its last entries, and no result of those steps.
func TestCancelledWaitsStayInTheLog(t *testing.T) {
	w := newWorld(t)
	w.submit(start("r"))
	w.deliver(fine)
	for id := uint32(1); id <= 2; id++ {
		if _, err := apply(w, func(e *env.Env, p pair) (workflow.Receipt, error) {
			return p.s.Await(e, p.q, await("r", id, "e", 60_000))
		}); err != nil {
			t.Fatal(err)
		}
	}
	w.now += 5000
	w.cancelRun("r")
	w.restore(0)
	w.same()
	r, s := w.run("r"), w.pairs[0].s
	if n := len(s.WaitersOf(r.No)) + len(s.Waiters("e", queue.NamePage{Limit: 1000}).Elements); n != 0 || r.Entries != 3 {
		t.Fatalf("%d waiters and %d entries", n, r.Entries)
	}
	for pos := uint32(1); pos <= 2; pos++ {
		e, _ := s.Entry(r.No, pos)
		body := fmt.Sprintf(`{"stepId":%d,"stepType":"Wait","stepName":"w","concurrent":1,"waitEventId":"e","timeout":"60s"}`, pos)
		if e.State != workflow.Unfinished || e.Step.ID != pos || e.Name != "w" || string(e.Body.Bytes()) != body || e.Deadline != e.Since+60_000 || e.Created != e.Since+5000 {
			t.Errorf("%+v %s", e, e.Body.Bytes())
		}
		if _, done := s.ResultOf(r.No, pos); done {
			t.Errorf("step %d has a result", pos)
		}
	}
	w.now += 100_000
	if d := w.deliver(fine); len(d) != 0 {
		t.Errorf("delivered after the end: %v", d)
	}
}

// TestFailuresOfOneEntry: steps of a run that fail in one entry fail it once: one dead letter, one call of the failure
// callback, and the invoker is told once, whatever else the entry says of the run.
func TestFailuresOfOneEntry(t *testing.T) {
	failed, retried := queue.Response{Status: 500}, queue.Response{Status: 489, Header: []queue.Field{{Name: "Upstash-NonRetryable-Error", Value: "true"}}}
	for name, answers := range map[string][]queue.Response{
		"all fail":                       {failed, failed, failed},
		"two fail":                       {failed, fine, failed},
		"one after an answer":            {fine, failed, failed},
		"some at once, some in the end":  {retried, failed, retried},
		"one fails":                      {fine, fine, failed},
		"the first fails, others are ok": {failed, fine, fine},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.submit(start("parent"))
			w.deliver(fine)
			n := start("r")
			n.Retries = 0
			n.Failure, n.Given = &queue.Callback{URL: "http://app:3000/failed"}, n.Given|queue.GivenFailure
			n.Invoker = &workflow.Invoker{RunID: "parent", URL: url, Step: workflow.Step{ID: 1, Type: workflow.Invoke, Concurrent: 1}, Open: []byte(`{"stepId":1`)}
			w.submit(n)
			w.deliver(fine)
			later := plan("r", 4, 4) // is waiting when the run fails, and must not be delivered any more
			later.Delay, later.Given = 30_000, queue.GivenDelay
			w.submit(plan("r", 1, 4), plan("r", 2, 4), plan("r", 3, 4), later)
			w.advance()
			if len(w.running) != 3 {
				t.Fatalf("%d deliveries are under way", len(w.running))
			}
			var results queue.Results
			for i, a := range w.running {
				results.Items = append(results.Items, queue.Result{AttemptRef: a.Ref(), Response: answers[i], RetryDelay: 100})
			}
			w.running = nil
			apply(w, func(e *env.Env, p pair) (queue.Dispositions, error) { return p.q.Finish(e, results) })
			if r := w.run("r"); r.State != workflow.Failed || r.Callback == nil {
				t.Fatalf("the run is %s, its callback %+v", r.State, r.Callback)
			}
			calls, told := 0, 0
			for range 3 {
				w.now += 60_000
				w.advance()
				for len(w.running) > 0 {
					switch a := w.running[0]; {
					case a.Content.URL == "http://app:3000/failed":
						calls++
					default:
						d, ok := w.pairs[0].s.Delivery(a.ID, a.Content.Run)
						if !ok || !strings.Contains(string(d.Body), b64(`{"stepId":1,"out":`)[:20]) {
							t.Errorf("sent after the failure: %s %+v", a.Content.URL, d)
						}
						told++
					}
					w.finish(0, fine, "")
				}
			}
			if calls != 1 || told != 1 {
				t.Errorf("the failure callback was called %d times, the invoker told %d times", calls, told)
			}
			if list, _, _ := w.pairs[0].s.DeadRuns(nil, &workflow.DeadFilter{}, queue.Page{Limit: 10}); len(list) != 1 {
				t.Errorf("%d dead letters", len(list))
			}
			if list := w.bodies("parent"); len(list) != 2 {
				t.Errorf("the invoker's log is %q", list)
			}
			w.same()
			w.restore(1)
			w.same()
		})
	}
}

// TestWebhookCalls: each call of a webhook is for one wait of it, the oldest, in its run alone; a call that meets no wait is kept for
// the next wait for a webhook, and the one that came first is taken first.
func TestWebhookCalls(t *testing.T) {
	w := newWorld(t)
	w.submit(start("r"), start("other"))
	hook := func(run string, step uint32) {
		t.Helper()
		n := await(run, step, "hook", 3_600_000)
		n.Step.Type = workflow.WaitForWebhook
		if _, err := apply(w, func(e *env.Env, p pair) (workflow.Receipt, error) { return p.s.Await(e, p.q, n) }); err != nil {
			t.Fatal(err)
		}
	}
	plain := func(run string, step uint32) {
		t.Helper()
		if _, err := apply(w, func(e *env.Env, p pair) (workflow.Receipt, error) {
			return p.s.Await(e, p.q, await(run, step, "hook", 3_600_000))
		}); err != nil {
			t.Fatal(err)
		}
	}
	call := func(body string, woken int, stored bool) {
		t.Helper()
		n := workflow.Notification{RunID: "r", EventID: "hook", Hook: true, Body: []byte(body)}
		out, err := apply(w, func(e *env.Env, p pair) (workflow.Notified, error) { return p.s.Notify(e, p.q, n) })
		if err != nil || len(out.Woken) != woken || out.Stored != stored {
			t.Errorf("call %q: %d woken, stored %v, %v", body, len(out.Woken), out.Stored, err)
		}
	}
	results := func(run string, want ...string) {
		t.Helper()
		list := w.bodies(run)[1:]
		if len(list) != len(want) {
			t.Fatalf("the log of %s is %q, want %q", run, list, want)
		}
		for i, body := range list {
			step, out, _ := strings.Cut(want[i], " ")
			if !strings.HasPrefix(body, `{"stepId":`+step+`,`) || !strings.Contains(body, b64(out)) {
				t.Errorf("entry %d of %s is %s, want step %s with %q", i+1, run, body, step, out)
			}
		}
	}
	plain("r", 1)
	hook("other", 1)
	call("kept first", 0, true) // a plain wait, and another run's, are not meant
	call("kept second", 0, true)
	hook("r", 2)
	results("r", "2 kept first")
	hook("r", 3)
	results("r", "2 kept first", "3 kept second")
	hook("r", 4)
	hook("r", 5)
	call("one", 1, false)
	results("r", "2 kept first", "3 kept second", "4 one")
	call("two", 1, false)
	results("r", "2 kept first", "3 kept second", "4 one", "5 two")
	call("three", 0, true)
	plain("r", 6) // is no wait for a webhook
	results("r", "2 kept first", "3 kept second", "4 one", "5 two")
	paged := []uint64{}
	for p := (queue.NamePage{Limit: 2}); ; {
		list := w.pairs[0].s.Waiters("hook", p)
		for _, waiter := range list.Elements {
			paged = append(paged, waiter.No)
		}
		if p.After = list.Last; !list.More {
			break
		}
	}
	if !slices.IsSorted(paged) || len(paged) != 3 {
		t.Fatalf("in pages: %v", paged)
	}
	if n := len(w.pairs[0].s.Waiters("hook", queue.NamePage{Limit: 1000}).Elements); n != 3 {
		t.Errorf("%d wait still", n)
	}
	w.same()
	w.restore(1)
	w.same()
}

// TestWaitsEndWhereTheySay: an event is told to the URL of the wait, a deadline that passes to the URL for that, each with its own
// options.
func TestWaitsEndWhereTheySay(t *testing.T) {
	w := newWorld(t)
	w.submit(start("r"))
	w.deliver(fine)
	wait := func(step uint32, event string) {
		t.Helper()
		n := await("r", step, event, 1000)
		n.URL, n.TimeoutURL = url+"/event", url+"/late"
		n.Options = queue.Options{Given: queue.GivenHeader, Header: []queue.Field{{Name: "Came", Value: "event"}}}
		n.TimeoutOptions = queue.Options{Given: queue.GivenHeader, Header: []queue.Field{{Name: "Came", Value: "late"}}}
		if _, err := apply(w, func(e *env.Env, p pair) (workflow.Receipt, error) { return p.s.Await(e, p.q, n) }); err != nil {
			t.Fatal(err)
		}
	}
	delivered := func(to, came string) {
		t.Helper()
		d := w.deliver(fine)
		if len(d) != 1 || d[0].URL != to || queue.Value(d[0].Header, "Came") != came {
			t.Fatalf("delivered %+v, want one to %s", d, to)
		}
	}
	wait(1, "approve")
	if _, err := apply(w, func(e *env.Env, p pair) (workflow.Notified, error) {
		return p.s.Notify(e, p.q, workflow.Notification{EventID: "approve"})
	}); err != nil {
		t.Fatal(err)
	}
	delivered(url+"/event", "event")
	wait(2, "other")
	w.now += 1000
	delivered(url+"/late", "late")
}

// TestRevivalUnderAnID: a dead letter may be revived under an id that is free, the run's own among them; not under that of a run
// that is active, nor several under one.
func TestRevivalUnderAnID(t *testing.T) {
	w := newWorld(t)
	w.submit(start("active"))
	w.deliver(fine)
	for _, id := range []string{"a", "b"} {
		n := start(id)
		n.Retries = 0
		w.submit(n)
		w.deliver(queue.Response{Status: 500})
		if s := w.run(id).State; s != workflow.Failed {
			t.Fatalf("%s is %s", id, s)
		}
	}
	revive := func(as string, ids ...string) (workflow.Revived, error) {
		n := workflow.Revival{RunID: as}
		for _, id := range ids {
			n.IDs = append(n.IDs, w.run(id).Dead)
		}
		return apply(w, func(e *env.Env, p pair) (workflow.Revived, error) { return p.s.Revive(e, p.q, n) })
	}
	for _, c := range []struct {
		as  string
		ids []string
	}{{"active", []string{"a"}}, {"new", []string{"a", "b"}}, {"active", []string{"a", "b"}}} {
		if out, err := revive(c.as, c.ids...); !errors.Is(err, workflow.ErrConflict) || len(out.Runs) != 0 {
			t.Errorf("%v revived as %s: %+v, %v", c.ids, c.as, out, err)
		}
	}
	if list, _, _ := w.pairs[0].s.DeadRuns(nil, &workflow.DeadFilter{}, queue.Page{Limit: 10}); len(list) != 2 {
		t.Fatalf("%d dead letters are left by refusals", len(list))
	}
	if out, err := revive("new", "a"); err != nil || len(out.Runs) != 1 || out.Runs[0].ID != "new" || !w.run("new").Active() {
		t.Errorf("revived as %+v, %v", out, err)
	}
	if r := w.run("active"); !r.Active() || r.RanAs != 0 {
		t.Errorf("the run whose id was asked for is %s", r.State)
	}
}
