package workflow_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// forkingOf is the fork of a run at the result of a step, of the whole log without one; false if the step has no result.
func forkingOf(s *workflow.Store, r *workflow.Run, step *uint32) (n workflow.Forking, ok bool) {
	n = workflow.Forking{Of: workflow.ForkSource{RunID: r.ID, Created: r.Created}, No: r.No}
	n.Entries, n.Of.Step, ok = s.ForkPoint(r, step)
	return n, ok
}

func (w *world) fork(n workflow.Forking) (workflow.RunRef, error) {
	w.t.Helper()
	return apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) { return p.s.ForkRun(e, p.q, n) })
}

// fork forks a run of the model: its log is the part that was asked for, something of it is to be delivered, and the run itself stays what it is.
func (m *model) fork() {
	w := m.w
	old := w.run(m.id())
	if old == nil {
		return
	}
	var at *uint32
	if step := uint32(rapid.IntRange(0, 6).Draw(m.t, "fork at")); step < 6 {
		at = &step
	}
	s := w.pairs[0].s
	n, ok := forkingOf(s, old, at)
	if !ok {
		return
	}
	var want []string
	for _, e := range s.ForkLog(old.No, n.Entries) {
		want = append(want, string(e.Body.Bytes()))
	}
	if rapid.Bool().Draw(m.t, "brought") {
		s.AppendRun(&n, old)
	}
	n.RunID = fmt.Sprintf("fork_%d", w.index)
	before := told(s, old)
	if _, err := w.fork(n); err != nil {
		m.t.Fatal(err)
	}
	if now, _ := w.pairs[0].s.Run(old.No); told(w.pairs[0].s, now) != before {
		m.t.Fatalf("the run was\n%s\nand is\n%s", before, told(w.pairs[0].s, now))
	}
	r, open := w.run(n.RunID), 0
	w.pairs[0].s.Log(r.No, func(_ uint32, e *workflow.Entry) bool {
		if e.State.Open() {
			open++
		}
		return true
	})
	if got := w.bodies(n.RunID); !slices.Equal(got, want) || open == 0 || r.Invoker != nil || *r.ForkOf != n.Of {
		m.t.Fatalf("of %q the fork has %q, %d of it to be delivered: %+v", want, got, open, r)
	}
	m.ids = append(m.ids, n.RunID)
}

// block makes a run with a block of a step that runs, a call, and a step that is not done: its log is in the order of the comments.
func (w *world) block(id string) {
	w.submit(start(id)) // 0: the payload
	w.deliver(fine)
	w.submit(step(id, 1, "a")) // 1
	w.deliver(fine)
	w.submit(plan(id, 2, 3), plan(id, 3, 3), plan(id, 4, 3)) // 2, 3, 4
	w.deliver(fine)
	of := func(n workflow.Submission) workflow.Submission {
		n.Step.Concurrent = 3
		return n
	}
	w.submit(of(call(id, 3))) // 5
	w.deliver(queue.Response{Status: 200, Body: []byte("paid")})
	// 6: the answer, which the endpoint has got
	w.submit(of(step(id, 2, "b"))) // 7
	w.deliver(fine)
	w.submit(of(step(id, 3, "paid"))) // 8
	w.deliver(fine)
	w.submit(of(step(id, 4, "d"))) // 9
	w.deliver(fine)
	w.submit(step(id, 5, "e")) // 10
	w.deliver(fine)
}

// TestForkDeliversWhatIsMissing: what follows on the last result is asked for, and what is missing of a block; nothing else is.
func TestForkDeliversWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		step  uint32
		log   string // the steps of the log: their results, p for plans, c for the call and a for its answer
		again []int  // the places that are delivered
	}{
		{0, "0", []int{0}},
		{1, "0 1", []int{1}},
		{2, "0 1 p2 p3 p4 c3 a3 2 3", []int{4, 8}}, // the answer's body is in the result of the call
		{3, "0 1 p2 p3 p4 c3 a3 2 3", []int{4, 8}},
		{4, "0 1 p2 p3 p4 c3 a3 2 3 4", []int{9}},
		{5, "0 1 p2 p3 p4 c3 a3 2 3 4 5", []int{10}},
	} {
		w := newWorld(t)
		w.block("r")
		s, old := w.pairs[0].s, w.run("r")
		n, ok := forkingOf(s, old, &c.step)
		if !ok {
			t.Fatalf("step %d has no result", c.step)
		}
		n.RunID = "f"
		if _, err := w.fork(n); err != nil {
			t.Fatal(err)
		}
		var log []string
		var again []int
		w.pairs[0].s.Log(w.run("f").No, func(pos uint32, e *workflow.Entry) bool {
			kind := map[workflow.Kind]string{workflow.CallEntry: "c", workflow.AnswerEntry: "a"}[e.Kind]
			if e.Target > 0 {
				kind = "p"
			}
			log = append(log, fmt.Sprint(kind, e.Number()))
			if e.State.Open() {
				again = append(again, int(pos))
			}
			return true
		})
		if got := strings.Join(log, " "); got != c.log || !slices.Equal(again, c.again) {
			t.Errorf("step %d: the log is %s, %v is delivered", c.step, got, again)
		}
		if sent := len(w.deliver(fine)); sent != len(c.again) {
			t.Errorf("step %d: %d deliveries", c.step, sent)
		}
		w.restore(1)
		w.same()
	}
}

// TestForkOfABlockThatIsNotAnswered: a run fails while the calls for the results of its block are still under way. The block is done, since a
// step follows it, so a fork of the run, and its resume, have the last step alone delivered.
func TestForkOfABlockThatIsNotAnswered(t *testing.T) {
	w := newWorld(t)
	w.submit(start("r"))
	w.deliver(fine)
	w.submit(plan("r", 1, 2), plan("r", 2, 2))
	w.deliver(fine)
	for id := range uint32(2) {
		n := step("r", id+1, "in a block")
		n.Step.Concurrent = 2
		w.submit(n)
	}
	w.advance() // nobody answers
	w.submit(step("r", 3, "after it"))
	w.advance()
	final := queue.Response{Status: 489, Header: []queue.Field{{Name: "Upstash-NonRetryable-Error", Value: "true"}}}
	w.finish(len(w.running)-1, final, "")
	s, old := w.pairs[0].s, w.run("r")
	if old.State != workflow.Failed {
		t.Fatalf("the run is %s", old.State)
	}
	n, _ := forkingOf(s, old, nil)
	n.RunID = "f"
	if _, err := w.fork(n); err != nil {
		t.Fatal(err)
	}
	_, err := apply(w, func(e *env.Env, p pair) (workflow.Revived, error) {
		return p.s.Revive(e, p.q, workflow.Revival{DeadSelection: workflow.DeadSelection{IDs: []queue.Stamp{old.Dead}}, RunID: "resumed"})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"f", "resumed"} {
		var again []uint32
		s.Log(w.run(id).No, func(_ uint32, e *workflow.Entry) bool {
			if e.State.Open() {
				again = append(again, e.Number())
			}
			return true
		})
		if !slices.Equal(again, []uint32{3}) {
			t.Errorf("%s: the results of the steps %d are delivered again", id, again)
		}
	}
}

// TestForkOfACallUnderWay: a call whose answer is not in the part that is taken over is made once more, by the fork.
func TestForkOfACallUnderWay(t *testing.T) {
	w := newWorld(t)
	w.submit(start("r"))
	w.deliver(fine)
	w.submit(call("r", 1))
	n, _ := forkingOf(w.pairs[0].s, w.run("r"), nil)
	n.URL = "http://other:3000/wf"
	f, err := w.fork(n)
	if err != nil {
		t.Fatal(err)
	}
	if sent := w.deliver(queue.Response{Status: 200, Body: []byte("paid")}); len(sent) != 2 || sent[0].URL != "http://pay:9000/charge" || sent[1].URL != sent[0].URL {
		t.Fatalf("%+v", sent)
	}
	for _, d := range w.deliver(fine) {
		if of := string(d.Body); d.URL != url && d.URL != n.URL || len(of) == 0 {
			t.Errorf("the answer went to %s: %s", d.URL, of)
		}
	}
	if d := w.run(f.ID); d.URL != n.URL || d.Failure.URL != n.URL {
		t.Errorf("%s, %s", d.URL, d.Failure.URL)
	}
	w.restore(0)
	w.same()
}

// TestForkIsOnItsOwn: what ties a run to others does not go along, an id that is in use is refused, and so is a run that is not there.
func TestForkIsOnItsOwn(t *testing.T) {
	w := newWorld(t)
	n := start("r")
	n.CommitAs, n.Hops, n.Gather = "anna", 2, &queue.Gather{Mode: queue.SingletonQueue, Key: "k"}
	n.Given |= queue.GivenCommit | queue.GivenGather
	n.Labels, n.Given = []string{"mine"}, n.Given|queue.GivenLabels
	w.submit(n)
	w.deliver(fine)
	w.submit(step("r", 1, "a"))
	of, _ := forkingOf(w.pairs[0].s, w.run("r"), nil)
	f, err := w.fork(of)
	if err != nil {
		t.Fatal(err)
	}
	if r := w.run(f.ID); r.CommitAs != "" || r.Gather != nil || r.Hold != workflow.NotHeld || !slices.Equal(r.Labels, n.Labels) || r.Hops != 2 {
		t.Errorf("%+v", r.Options)
	}
	of.Options.CommitAs, of.Options.Given = "bert", queue.GivenCommit
	if f, err = w.fork(of); err != nil || w.run(f.ID).CommitAs != "bert" {
		t.Errorf("%+v: %v", w.run(f.ID).Options, err)
	}
	of.RunID = "r"
	if _, err := w.fork(of); !errors.Is(err, workflow.ErrConflict) {
		t.Errorf("an id that lives: %v", err)
	}
	of.RunID = ""
	for _, change := range []func(*workflow.Forking){
		func(n *workflow.Forking) { n.No += 100 }, func(n *workflow.Forking) { n.Of.Created++ }, func(n *workflow.Forking) { n.Of.RunID = "other" },
		func(n *workflow.Forking) { n.Entries = 0 },
	} {
		wrong := of
		change(&wrong)
		if _, err := w.fork(wrong); !errors.Is(err, queue.ErrNotFound) {
			t.Errorf("%+v: %v", wrong.Of, err)
		}
	}
	of.Record = []byte{1, 2, 3}
	if _, err := w.fork(of); !errors.Is(err, queue.ErrInvalid) {
		t.Errorf("records that can't be read: %v", err)
	}
	w.same()
}
