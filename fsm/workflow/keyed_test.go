package workflow_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// keyedStart is a start by a key.
func keyedStart(id, input string, g queue.Gather) workflow.Submission {
	n := start(id)
	n.Body = []byte(input)
	n.Gather, n.Given = &g, n.Given|queue.GivenGather
	return n
}

// again restores the second store, and compares both.
func (w *world) again() {
	w.t.Helper()
	w.restore(1)
	w.same()
}

// TestDebouncedRunStartsOnce: one run with the last input, after the delay, and another one after that.
func TestDebouncedRunStartsOnce(t *testing.T) {
	w := newWorld(t)
	g := queue.Gather{Mode: queue.Debounce, Key: "k", Wait: 5_000, MaxWait: 8_000}
	first := w.submit(keyedStart("", "1", g))[0]
	w.now += 4_000
	second := w.submit(keyedStart("", "2", g))[0]
	if first.Debounced || !second.Debounced || second.RunID != first.RunID || second.Created != first.Created {
		t.Fatalf("%+v after %+v", second, first)
	}
	w.again()
	w.now += 3_999
	if sent := w.deliver(fine); len(sent) != 0 {
		t.Fatal("it starts before its time")
	}
	w.now++
	sent := w.deliver(fine)
	if len(sent) != 1 || !strings.Contains(string(sent[0].Body), "Mg==") && !strings.Contains(string(sent[0].Body), "2") {
		t.Fatalf("sent %d: %s", len(sent), sent[0].Body)
	}
	third := w.submit(keyedStart("", "3", g))[0]
	if third.Debounced || third.RunID == first.RunID {
		t.Errorf("a run that has started is debounced: %+v", third)
	}
	w.again()
}

// TestSingletonRuns: one run of a key lives at a time, whatever the modes are, and the next begins when it is over.
func TestSingletonRuns(t *testing.T) {
	w := newWorld(t)
	one := func(mode queue.GatherMode) queue.Gather { return queue.Gather{Mode: mode, Key: "k"} }
	first := w.submit(keyedStart("", "1", one(queue.SingletonSkip)))[0]
	w.deliver(fine)
	if n := w.submit(keyedStart("", "2", one(queue.SingletonSkip)))[0]; !n.Deduplicated || n.RunID != first.RunID {
		t.Errorf("skip: %+v", n)
	}
	if n := w.submit(keyedStart("", "2", one(queue.SingletonAttach)))[0]; !n.Attached || n.Deduplicated || n.RunID != first.RunID {
		t.Errorf("attach: %+v", n)
	}
	second := w.submit(keyedStart("", "2", one(queue.SingletonQueue)))[0]
	third := w.submit(keyedStart("", "3", one(queue.SingletonQueue)))[0]
	w.again()
	if sent := w.deliver(fine); len(sent) != 0 || w.run(second.RunID).Hold != workflow.HeldBehind {
		t.Fatalf("the second begins beside the first: %d sent", len(sent))
	}
	w.endRun(first.RunID)
	w.again()
	if sent := w.deliver(fine); len(sent) != 1 || w.run(second.RunID).Hold != workflow.NotHeld || w.run(third.RunID).Hold != workflow.HeldBehind {
		t.Fatalf("%d sent after the end of the first", len(sent))
	}
	fourth := w.submit(keyedStart("", "4", one(queue.SingletonCancel)))[0]
	for _, id := range []string{second.RunID, third.RunID} {
		if s := w.run(id).State; s != workflow.Canceled {
			t.Errorf("%s is %s", id, s)
		}
	}
	w.again()
	sent := w.deliver(fine)
	if len(sent) != 1 || w.run(fourth.RunID).State != workflow.Started {
		t.Fatalf("%d sent after the others were cancelled", len(sent))
	}
	other := keyedStart("", "5", one(queue.SingletonSkip))
	other.URL = "http://app:3000/other"
	if n := w.submit(other)[0]; n.Deduplicated {
		t.Error("another endpoint has the same singleton")
	}
	w.endRun(fourth.RunID)
	if n := w.submit(keyedStart("", "6", one(queue.SingletonSkip)))[0]; n.Deduplicated || n.Refused != nil {
		t.Errorf("a run that is over is in the way: %+v", n)
	}
	w.again()
}

// TestKeysThatRunsCantHave are refused: batches, what an invoker could not wait for, and everything below the level that knows it.
func TestKeysThatRunsCantHave(t *testing.T) {
	w := newWorld(t)
	batch := keyedStart("", "1", queue.Gather{Mode: queue.Batched, Key: "k", Wait: 1, Size: 1, Bytes: 1})
	if n := w.submit(batch)[0]; !errors.Is(n.Refused, queue.ErrInvalid) {
		t.Errorf("batch: %+v", n)
	}
	own := queue.Gather{Mode: queue.SingletonQueue, Key: "k"}
	parent := w.submit(keyedStart("", "1", own))[0]
	w.deliver(fine)
	child := keyedStart("", "2", own)
	invokes := workflow.Step{ID: 1, Concurrent: 1, Type: workflow.Invoke}
	child.Invoker = &workflow.Invoker{RunID: parent.RunID, Created: parent.Created, URL: url, Step: invokes, Open: []byte(`{"stepId":1`)}
	if n := w.submit(child)[0]; !errors.Is(n.Refused, workflow.ErrRefused) {
		t.Errorf("a run waits for one that waits for it: %+v", n)
	}
	child.Gather = &queue.Gather{Mode: queue.SingletonAttach, Key: "other"}
	if n := w.submit(child)[0]; !errors.Is(n.Refused, workflow.ErrRefused) {
		t.Errorf("an invoked run is attached: %+v", n)
	}
	w.levels = [2]env.Level{env.Files - 1, env.Files - 1}
	if n := w.submit(keyedStart("", "1", own))[0]; !errors.Is(n.Refused, queue.ErrInvalid) {
		t.Errorf("below the level: %+v", n)
	}
}

// TestRunPausesAtTheEnd: it lives, nothing of it is delivered, and resumed it goes on with the step that failed.
func TestRunPausesAtTheEnd(t *testing.T) {
	w := newWorld(t)
	n := start("r")
	n.OnFailure, n.Given = queue.Pause, n.Given|queue.GivenOnFailure
	w.submit(n)
	w.deliver(fine)
	resume := func() error {
		_, err := apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) {
			return p.s.Resume(e, p.q, workflow.RunChange{RunID: "r"})
		})
		return err
	}
	w.submit(step("r", 1, "x"))
	for round := range 2 {
		if err := resume(); !errors.Is(err, workflow.ErrConflict) {
			t.Errorf("a run that is not paused is resumed: %v", err)
		}
		for range 2 {
			w.deliver(queue.Response{Status: 500})
			w.now += 1000
		}
		r := w.run("r")
		if r.State != workflow.Started || r.Hold != workflow.HeldPaused || r.Fault == nil || r.Dead != (queue.Stamp{}) {
			t.Fatalf("round %d: %+v", round, r)
		}
		if list, all := w.pairs[0].s.Paused(10); all != 1 || len(list) != 1 {
			t.Errorf("%d are paused", all)
		}
		failures := w.deliver(queue.Response{Status: 200})
		if len(failures) != 1 || !strings.Contains(string(failures[0].Body), "500") {
			t.Errorf("%d deliveries of a paused run, want that of its failure: %+v", len(failures), failures)
		}
		w.again()
		w.now += 86_400_000
		if sent := w.deliver(fine); len(sent) != 0 {
			t.Fatal("a paused run is delivered")
		}
		if err := resume(); err != nil {
			t.Fatal(err)
		}
		w.again()
	}
	if sent := w.deliver(fine); len(sent) != 1 || w.run("r").Fault != nil {
		t.Fatalf("%d sent after it was resumed", len(sent))
	}
	w.submit(step("r", 2, "y"))
	for range 2 {
		w.deliver(queue.Response{Status: 500})
		w.now += 1000
	}
	w.cancelRun("r")
	if r := w.run("r"); r.State != workflow.Canceled || r.Hold != workflow.NotHeld || r.Fault != nil {
		t.Errorf("cancelled it is %+v", r)
	}
	if _, all := w.pairs[0].s.Paused(10); all != 0 {
		t.Error("a run that is over is paused")
	}
	w.again()
}

// TestPausedRunKeepsWhatComes: what happens to a run while it is paused is delivered when it is resumed, and not before.
func TestPausedRunKeepsWhatComes(t *testing.T) {
	w := newWorld(t)
	n := start("r")
	n.OnFailure, n.Given = queue.Pause, n.Given|queue.GivenOnFailure
	w.submit(n)
	w.deliver(fine)
	if _, err := apply(w, func(e *env.Env, p pair) (workflow.Receipt, error) {
		return p.s.Await(e, p.q, await("r", 1, "e", 60_000))
	}); err != nil {
		t.Fatal(err)
	}
	w.submit(step("r", 2, "x"))
	for range 2 {
		w.deliver(queue.Response{Status: 500})
		w.now += 1000
	}
	if r := w.run("r"); r.Hold != workflow.HeldPaused {
		t.Fatalf("%+v", r)
	}
	w.deliver(queue.Response{Status: 200}) // that of its failure
	out, err := apply(w, func(e *env.Env, p pair) (workflow.Notified, error) {
		return p.s.Notify(e, p.q, workflow.Notification{EventID: "e", Body: []byte("1")})
	})
	if err != nil || len(out.Woken) != 1 {
		t.Fatalf("notified: %+v %v", out, err)
	}
	w.again()
	w.now += 60_000
	if sent := w.deliver(fine); len(sent) != 0 {
		t.Errorf("%d deliveries of a paused run", len(sent))
	}
	if _, err := apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) {
		return p.s.Resume(e, p.q, workflow.RunChange{RunID: "r"})
	}); err != nil {
		t.Fatal(err)
	}
	w.again()
	if sent := w.deliver(fine); len(sent) != 2 {
		t.Errorf("%d deliveries of a run that was resumed, want those of both steps", len(sent))
	}
}

// TestPausedRunBeginsNothing: of a run that is paused no attempt begins. What is under way ends as it does, and a sleep is over when it
// would have been.
func TestPausedRunBeginsNothing(t *testing.T) {
	w := newWorld(t)
	n := start("r")
	n.OnFailure, n.Given, n.Retries = queue.Pause, n.Given|queue.GivenOnFailure, 2
	w.submit(n)
	w.deliver(fine)
	sleep := plan("r", 4, 4)
	sleep.Step.Type, sleep.Delay, sleep.Given = workflow.SleepFor, 60_000, queue.GivenDelay
	w.submit(plan("r", 1, 4), plan("r", 2, 4), plan("r", 3, 4), sleep)
	slept := w.now + 60_000
	w.advance()
	w.finish(0, queue.Response{Status: 500}, "")                                                                             // is to be retried when the run is paused
	w.finish(0, queue.Response{Status: 489, Header: []queue.Field{{Name: "Upstash-NonRetryable-Error", Value: "true"}}}, "") // pauses it
	r := w.run("r")
	if r.Hold != workflow.HeldPaused || len(w.running) != 1 {
		t.Fatalf("hold %d, %d under way", r.Hold, len(w.running))
	}
	w.again()
	w.finish(0, queue.Response{Status: 500}, "")
	w.deliver(queue.Response{Status: 200}) // its failure function
	w.now += 30_000
	if sent := w.deliver(fine); len(sent) != 0 {
		t.Fatalf("%d deliveries of a paused run", len(sent))
	}
	w.again()
	if _, err := apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) {
		return p.s.Resume(e, p.q, workflow.RunChange{RunID: "r"})
	}); err != nil {
		t.Fatal(err)
	}
	w.again()
	if sent := w.deliver(fine); len(sent) != 3 {
		t.Errorf("%d deliveries of a run that was resumed, want those of three steps", len(sent))
	}
	w.now = slept - 1
	if sent := w.deliver(fine); len(sent) != 0 {
		t.Error("the sleep is over too early")
	}
	w.now = slept
	if sent := w.deliver(fine); len(sent) != 1 {
		t.Error("the sleep began anew")
	}
}
