package workflow_test

import (
	"errors"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// runNow has a message delivered at once.
func (w *world) runNow(id queue.ID) error {
	w.t.Helper()
	_, err := apply(w, func(e *env.Env, p pair) (struct{}, error) {
		err := p.q.RunNow(e, queue.RunNow{ID: id})
		if err == nil {
			p.s.RanNow(e, p.q, id)
		}
		return struct{}{}, err
	})
	return err
}

// TestRunNowOfSteps: a step that sleeps, one that is retried and a failure callback that is retried are due at once, and
// the run's log says so.
func TestRunNowOfSteps(t *testing.T) {
	w := newWorld(t)
	n := start("r")
	n.Options.Failure, n.Options.Given = &queue.Callback{URL: url}, n.Options.Given|queue.GivenFailure
	w.submit(n)
	w.deliver(fine)
	sleep := step("r", 1, "")
	sleep.Step.Type, sleep.Delay, sleep.Given = workflow.SleepFor, 3_600_000, sleep.Given|queue.GivenDelay
	id := w.submit(sleep)[0].ID
	if d := w.deliver(fine); len(d) != 0 {
		t.Fatal("a sleeping step was delivered")
	}
	if err := w.runNow(id); err != nil {
		t.Fatal(err)
	}
	e, _ := w.pairs[0].s.Entry(w.run("r").No, 1)
	if e.Next != w.now || e.FirstAt != w.now {
		t.Fatalf("the log says %d and %d", e.Next-w.now, e.FirstAt-w.now)
	}
	if d := w.deliver(queue.Response{Status: 500}); len(d) != 1 {
		t.Fatalf("%d deliveries", len(d))
	}
	if d := w.deliver(fine); len(d) != 0 {
		t.Fatal("a step in its retry delay was delivered")
	}
	w.restore(1)
	if err := w.runNow(id); err != nil {
		t.Fatal(err)
	}
	if d := w.deliver(queue.Response{Status: 500}); len(d) != 1 {
		t.Fatalf("%d deliveries", len(d))
	}
	r := w.run("r")
	if r.State != workflow.Failed {
		t.Fatalf("a last retry that fails: %s", r.State)
	}
	w.deliver(queue.Response{Status: 500})
	if r = w.run("r"); r.Callback.Next <= w.now {
		t.Fatalf("%+v", r.Callback)
	}
	if err := w.runNow(r.Callback.Message); err != nil || w.run("r").Callback.Next != w.now {
		t.Fatalf("%v %+v", err, w.run("r").Callback)
	}
	if d := w.deliver(fine); len(d) != 1 {
		t.Fatalf("%d deliveries", len(d))
	}
	if err := w.runNow(id); !errors.Is(err, queue.ErrNotFound) {
		t.Fatalf("a step that is done: %v", err)
	}
	w.same()
}
