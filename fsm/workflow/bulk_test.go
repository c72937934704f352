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
	ask := func(act queue.BulkAct, id string) queue.BulkAction {
		t.Helper()
		b, err := apply(w, func(e *env.Env, p pair) (queue.BulkAction, error) {
			return p.s.BulkCancel(e, p.q, workflow.BulkCancellation{BulkRequest: queue.BulkRequest{Act: act, ID: id, Matched: all}, Filter: workflow.Filter{URLs: []string{url}}})
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
	for n := 0; !w.pairs[0].s.Bulk().Find(b.ID).Done(); n++ {
		if n > 100 {
			t.Fatal("it does not end")
		}
		apply(w, func(e *env.Env, p pair) (int, error) { return p.s.SweepBulk(e, p.q, 200), nil })
		w.restore(n % 2)
	}
	w.same()
	if got := w.pairs[0].s.Bulk().Find(b.ID); got.Processed != all || got.Total != all {
		t.Fatalf("%+v", got)
	}
	if !w.run("later").Active() || w.run("r0").Active() {
		t.Fatal("the wrong runs were cancelled")
	}
	if c := w.pairs[0].s.Counts(); c.Active != 1 {
		t.Fatalf("%+v", c)
	}
	last := ask(queue.BulkStart, "")
	if !last.Done() || last.Total != 1 {
		t.Fatalf("%+v", last)
	}
}
