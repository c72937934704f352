package workflow_test

import (
	"fmt"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// TestBulkCancelOfRuns: what is too much for one entry goes on by sweeps, and runs that start later are not meant.
func TestBulkCancelOfRuns(t *testing.T) {
	w := newWorld(t)
	const all = 500 + 130
	for i := range all {
		w.submit(start(fmt.Sprint("r", i)))
	}
	matched := all
	ask := func(act queue.BulkAct, id string) queue.BulkAction {
		t.Helper()
		b, err := apply(w, func(e *env.Env, p pair) (queue.BulkAction, error) {
			return p.s.BulkCancel(e, p.q, workflow.BulkCancellation{BulkRequest: queue.BulkRequest{Act: act, ID: id, Matched: matched}, Filter: workflow.Filter{URLs: []string{url}}})
		})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := ask(queue.BulkStart, "")
	if b.Done() || b.Processed != 500 || b.Total != all {
		t.Fatalf("%+v", b)
	}
	w.submit(start("later"))
	if again := ask(queue.BulkStart, ""); again.ID != b.ID {
		t.Fatalf("%+v", again)
	}
	sweep := func(id string) *queue.BulkAction {
		t.Helper()
		for n := 0; !w.pairs[0].s.Bulk().Find(id).Done(); n++ {
			if n > 100 {
				t.Fatal("it does not end")
			}
			apply(w, func(e *env.Env, p pair) (int, error) { return p.s.SweepBulk(e, p.q, 200), nil })
			w.restore(n % 2)
		}
		w.same()
		return w.pairs[0].s.Bulk().Find(id)
	}
	if got := sweep(b.ID); got.Processed != all || got.Total != all {
		t.Fatalf("%+v", got)
	}
	if !w.run("later").Active() || w.run("r0").Active() {
		t.Fatal("the wrong runs were cancelled")
	}
	if c := w.pairs[0].s.Counts(); c.Active != 1 {
		t.Fatalf("%+v", c)
	}
	matched = 1
	if last := sweep(ask(queue.BulkStart, "").ID); last.Total != 1 || last.Processed != 1 || w.run("later").Active() {
		t.Fatalf("%+v", last)
	}
}

// TestMessagesOfRunsAreNotCancelled: what cancels messages, by their ids, by a filter or in bulk, leaves those of runs alone: these
// end with their run.
func TestMessagesOfRunsAreNotCancelled(t *testing.T) {
	w := newWorld(t)
	w.submit(start("r"))
	w.deliver(fine)
	later := step("r", 1, "a")
	later.Delay, later.Given = 60_000, queue.GivenDelay
	ofRun := w.submit(later)[0].ID
	message := func() {
		t.Helper()
		p := queue.Publication{URL: url}
		p.Delay, p.Given = 60_000, queue.GivenDelay
		if _, err := apply(w, func(e *env.Env, p2 pair) (int, error) {
			out, err := p2.q.Publish(e, queue.Publications{Items: []queue.Publication{p}})
			return len(out.Items), err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for name, cancel := range map[string]func(e *env.Env, p pair) (int, error){
		"by ids": func(e *env.Env, p pair) (int, error) {
			out, err := p.q.Cancel(e, queue.Cancellation{IDs: []queue.ID{ofRun}})
			return out.Count + 1, err // the message stays for the next
		},
		"by a filter": func(e *env.Env, p pair) (int, error) {
			out, err := p.q.Cancel(e, queue.Cancellation{})
			return out.Count, err
		},
		"in bulk": func(e *env.Env, p pair) (int, error) {
			out, err := p.q.BulkCancel(e, queue.BulkCancellation{})
			return out.Processed, err
		},
		"by host": func(e *env.Env, p pair) (int, error) {
			out, err := p.q.BulkCancel(e, queue.BulkCancellation{Filter: queue.Filter{Hosts: []string{"app:3000"}}})
			return out.Processed, err
		},
	} {
		apply(w, func(e *env.Env, p pair) (queue.Cancelled, error) { return p.q.Cancel(e, queue.Cancellation{}) })
		message()
		if n, err := apply(w, cancel); err != nil || n != 1 {
			t.Errorf("%s: %d were cancelled, %v; want one", name, n, err)
		}
	}
	apply(w, func(e *env.Env, p pair) (queue.Cancelled, error) { return p.q.Cancel(e, queue.Cancellation{}) })
	w.now += 60_000
	if d := w.deliver(fine); len(d) != 1 || !w.run("r").Active() {
		t.Errorf("%d deliveries of the run are left, it is %s", len(d), w.run("r").State)
	}
}
