package workflow_test

import (
	"fmt"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// TestRunsWithoutTheirDeadLetterAreSealed: a run whose dead letter is deleted long after the runs around it went into volumes goes into one,
// too, which is before those of runs that ended later; a reader finds it.
func TestRunsWithoutTheirDeadLetterAreSealed(t *testing.T) {
	w := newWorld(t)
	for _, p := range w.pairs {
		p.s.Raise(env.Files)
	}
	w.submit(start("failed"))
	w.advance()
	w.finish(0, queue.Response{Status: 489, Header: []queue.Field{{Name: "Upstash-NonRetryable-Error", Value: "true"}}}, "")
	for len(w.running) == 0 { // the failure callback
		w.advance()
	}
	w.finish(0, fine, "")
	w.now += 60_000
	for i := range 130 {
		id := fmt.Sprint("r", i)
		w.submit(start(id))
		apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) { return p.s.End(e, p.q, workflow.Ending{RunID: id}) })
	}
	later := func() {
		w.now += 24 * 3_600_000
		for range 10 {
			apply(w, func(e *env.Env, p pair) (int, error) { return p.s.Sweep(e, p.q, 200), nil })
		}
	}
	later()
	if n := w.pairs[0].s.InTrees(); n != 1 {
		t.Fatalf("%d runs are in the trees, want the one with a dead letter; %+v", n, w.pairs[0].s.Counts())
	}
	apply(w, func(e *env.Env, p pair) (workflow.DeadDeleted, error) {
		return p.s.DeleteDead(e, p.q, workflow.DeadSelection{})
	})
	later()
	s := w.pairs[0].s
	if n := s.InTrees(); n != 0 {
		t.Errorf("%d runs are in the trees", n)
	}
	if !s.VolumesInOrder() {
		t.Error("the volume that goes first is not the one whose runs ended first")
	}
	list, _, _ := s.Thawing().Runs(&workflow.Filter{RunIDs: []string{"failed"}}, workflow.Page{Limit: 10})
	if len(list) != 1 || list[0].State != workflow.Failed || list[0].Dead != (queue.Stamp{}) {
		t.Errorf("the run is found as %+v", list)
	}
	w.restore(1)
	w.same()
}
