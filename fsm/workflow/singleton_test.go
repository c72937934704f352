package workflow_test

import (
	"errors"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

func singleton(id string) workflow.Submission {
	n := start(id)
	n.Features |= workflow.Singleton
	return n
}

func (w *world) cancelRun(id string) {
	w.t.Helper()
	out, err := apply(w, func(e *env.Env, p pair) (workflow.Cancelled, error) {
		return p.s.Cancel(e, p.q, workflow.Cancellation{Filter: workflow.Filter{RunIDs: []string{id}}})
	})
	if err != nil || out.Count != 1 {
		w.t.Fatalf("%+v %v", out, err)
	}
}

func (w *world) endRun(id string) {
	w.t.Helper()
	if _, err := apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) {
		return p.s.End(e, p.q, workflow.Ending{RunID: id})
	}); err != nil {
		w.t.Fatal(err)
	}
}

// TestIDsOfLivingRunsAreTaken: a start with the id of a run that lives is refused, or deduplicated for older clients; of
// whatever state it ended in, the id of a run that is over is free.
func TestIDsOfLivingRunsAreTaken(t *testing.T) {
	ends := map[string]func(*world){
		"succeeded": func(w *world) { w.endRun("r") },
		"cancelled": func(w *world) { w.cancelRun("r") },
		"failed": func(w *world) {
			w.submit(step("r", 1, "x"))
			for range 2 {
				w.deliver(queue.Response{Status: 500})
				w.now += 1000
			}
			if s := w.run("r").State; s != workflow.Failed {
				t.Fatal(s)
			}
		},
	}
	for how, end := range ends { // unordered: each has a world of its own
		w := newWorld(t)
		first := w.submit(singleton("r"))[0]
		w.deliver(fine)
		if got := w.submit(singleton("r"))[0]; !errors.Is(got.Refused, workflow.ErrExists) {
			t.Errorf("%s: a second start while it lives: %+v", how, got)
		}
		if got := w.submit(start("r"))[0]; got.Refused != nil || !got.Deduplicated || got.ID != first.ID {
			t.Errorf("%s: of an older client: %+v", how, got)
		}
		end(w)
		w.now++
		second := w.submit(singleton("r"))[0]
		if second.Refused != nil || second.Deduplicated || second.ID == first.ID || second.Created == first.Created {
			t.Errorf("%s: a start when it is over: %+v", how, second)
		}
		w.restore(0)
		w.same()
		if d := w.deliver(fine); len(d) == 0 {
			t.Errorf("%s: the second run is not delivered", how)
		}
		if list := w.pairs[0].s.Named("r"); len(list) != 2 || !list[1].Active() {
			t.Errorf("%s: %d runs", how, len(list))
		}
	}
}

// TestNothingReachesALaterRun: what is still submitted by a step of a run that was cancelled is not taken for a step of the
// next run of the id.
func TestNothingReachesALaterRun(t *testing.T) {
	w := newWorld(t)
	w.submit(singleton("r"))
	w.deliver(fine)
	w.submit(step("r", 1, "a"))
	w.deliver(fine)
	old := w.run("r").Created
	w.cancelRun("r")
	w.now++
	w.submit(singleton("r"))
	refused := func(what string, n workflow.Submission) {
		t.Helper()
		if got := w.submit(n)[0]; !errors.Is(got.Refused, workflow.ErrOver) {
			t.Errorf("%s: %+v", what, got)
		}
	}
	refused("a step before the first call", step("r", 2, "old"))
	refused("a first step before the first call", step("r", 1, "old"))
	refused("a call before the first call", call("r", 1))
	if _, err := apply(w, func(e *env.Env, p pair) (workflow.Receipt, error) { return p.s.Await(e, p.q, await("r", 1, "e", 1000)) }); !errors.Is(err, workflow.ErrOver) {
		t.Errorf("a wait before the first call: %v", err)
	}
	if w.endRun("r"); !w.run("r").Active() {
		t.Error("the end of the first run has ended the second")
	}
	w.advance()
	refused("a step whose predecessor is not there", step("r", 2, "old"))
	named := step("r", 1, "old")
	named.Created = old
	refused("a step that names the first run", named)
	named.Created = w.run("r").Created
	if got := w.submit(named)[0]; got.Refused != nil {
		t.Errorf("a step that names the second run: %+v", got)
	}
	w.deliver(fine)
	if got := w.submit(step("r", 2, "new"))[0]; got.Refused != nil {
		t.Errorf("the second run's own second step: %+v", got)
	}
	if list := w.bodies("r"); len(list) != 3 {
		t.Errorf("%q", list)
	}
}
