package workflow_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// inlineSteps is the number of steps of the runs of this test.
const inlineSteps = 5

// execution is an endpoint at work on one delivery. It goes on when its attempt is over, as endpoints do that were too slow.
type execution struct {
	attempt queue.AttemptRef
	view    []string // the results that it has seen or recorded
	stopped bool     // it does nothing more
	fails   bool     // and answers with an error
	over    bool     // its attempt has ended
}

// inlineModel drives one run.
type inlineModel struct {
	w    *world
	t    *rapid.T
	all  []*execution
	made int // results so far, each another one
	sent []workflow.Submission
}

// TestInlineSteps has endpoints record steps by the deliveries that they answer, with attempts that fail, are lost, or end before their
// endpoints do, posts of several steps, posts and deliveries that come twice, steps that are refused, and restores in between. No endpoint
// ever continues from a result that the log does not have, and the run comes to its end.
func TestInlineSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &inlineModel{w: newWorld(t), t: t}
		n := start("r")
		n.Features |= workflow.Inline
		n.Retries = 100
		m.w.submit(n)
		for range rapid.IntRange(5, 80).Draw(t, "actions") {
			m.one()
			m.check()
		}
		for range 200 {
			if !m.w.run("r").Active() {
				break
			}
			m.w.now += 1000
			m.claim()
			for i := len(m.all) - 1; i >= 0; i-- {
				if e := m.all[i]; !e.over {
					for !e.stopped {
						m.post(e)
					}
					m.answer(e, !e.fails)
				}
			}
			m.check()
		}
		r := m.w.run("r")
		if r.State != workflow.Succeeded || len(m.log()) != inlineSteps {
			t.Fatalf("the run is %s with %d steps", r.State, len(m.log()))
		}
		if last := m.log()[inlineSteps-1]; r.HasResult && string(r.Result.Bytes()) != last {
			t.Fatalf("the run ended with %s, and its last step is %s", r.Result.Bytes(), last)
		}
		m.w.same()
	})
}

func (m *inlineModel) one() {
	var e *execution
	if len(m.all) > 0 {
		e = rapid.SampledFrom(m.all).Draw(m.t, "execution")
	}
	switch rapid.IntRange(0, 9).Draw(m.t, "what") {
	case 0, 1:
		m.w.now += int64(rapid.IntRange(0, 3000).Draw(m.t, "later"))
		m.claim()
	case 2:
		m.w.restore(rapid.IntRange(0, 1).Draw(m.t, "restored"))
	case 3:
		if e != nil && !e.over {
			m.answer(e, e.stopped && !e.fails)
		}
	case 4:
		if e != nil && !e.over {
			m.lose(e)
		}
	case 5:
		m.w.submit(m.sent...) // once more, as proxies do
	default:
		if e != nil && !e.stopped {
			m.post(e)
		}
	}
}

// claim begins the attempts that are due.
func (m *inlineModel) claim() {
	m.w.running = nil
	m.w.advance()
	for _, a := range m.w.running {
		d, ok := m.w.pairs[0].s.Delivery(a.ID, a.Content.Run)
		e := &execution{attempt: a.Ref()}
		m.all = append(m.all, e)
		if !ok {
			e.stopped = true
			continue
		}
		if !d.Inline {
			m.t.Fatal("the delivery does not tell its attempt")
		}
		var list []struct{ Body []byte }
		if err := json.Unmarshal(d.Body, &list); err != nil {
			m.t.Fatal(err)
		}
		for _, n := range list[1:] {
			e.view = append(e.view, string(n.Body))
		}
		if rapid.IntRange(0, 3).Draw(m.t, "twice") == 0 { // by a proxy, which passes on the other's answer
			m.all = append(m.all, &execution{attempt: a.Ref(), view: slices.Clone(e.view), over: true})
		}
	}
}

// post has an execution record its next steps, or end the run.
func (m *inlineModel) post(e *execution) {
	at := uint32(len(e.view))
	list := []workflow.Submission{{Kind: workflow.EndSubmission, RunID: "r", Attempt: e.attempt, Step: workflow.Step{ID: at}, End: &workflow.Ending{}}}
	if at < inlineSteps {
		list = nil
		for id := at + 1; id <= min(inlineSteps, at+uint32(rapid.IntRange(1, 3).Draw(m.t, "ahead"))); id++ {
			m.made++
			n := step("r", id, fmt.Sprint(m.made))
			n.URL, n.Attempt = "", e.attempt
			list = append(list, n)
		}
		if last := &list[len(list)-1]; last.Step.ID == inlineSteps && rapid.Bool().Draw(m.t, "end") {
			last.End = &workflow.Ending{Result: last.Body, HasResult: true}
		}
	}
	m.sent = list
	if rapid.IntRange(0, 5).Draw(m.t, "refused") == 0 {
		m.refused(slices.Clone(list))
	}
	all := m.w.submit(list...)
	if list[0].Kind == workflow.StepSubmission && rapid.IntRange(0, 3).Draw(m.t, "again") == 0 {
		all = m.w.submit(list...) // its answer was lost
	}
	switch out := all[len(all)-1]; {
	case out.Refused != nil:
		e.stopped = true
	case list[0].Kind == workflow.EndSubmission:
		e.stopped, e.fails = true, !out.Ended
	case !out.Inline:
		e.stopped, e.fails = true, out.Deduplicated
	default:
		for _, n := range list {
			e.view = append(e.view, string(n.Body))
		}
		e.stopped = out.Ended
	}
}

// refused has a step refused, with which the run should have ended or which others follow.
func (m *inlineModel) refused(list []workflow.Submission) {
	if list[0].Kind != workflow.StepSubmission {
		return
	}
	before, active := m.log(), m.w.run("r").Active()
	list[0].State, list[0].End = []byte("no JSON"), &workflow.Ending{}
	m.w.submit(list...)
	if !slices.Equal(before, m.log()) || active != m.w.run("r").Active() {
		m.t.Fatal("a refused step has changed the run")
	}
}

// answer ends the attempt of an execution, which goes on if it has not stopped.
func (m *inlineModel) answer(e *execution, good bool) {
	p := queue.Response{Status: 500}
	if good {
		p = fine
	}
	m.finish(e, queue.Result{AttemptRef: e.attempt, Response: p, RetryDelay: 100})
}

// lose ends it as a leader does that leads no more.
func (m *inlineModel) lose(e *execution) {
	m.finish(e, queue.Result{AttemptRef: e.attempt, Lost: true})
}

func (m *inlineModel) finish(e *execution, r queue.Result) {
	e.over = true
	apply(m.w, func(v *env.Env, p pair) (queue.Dispositions, error) {
		return p.q.Finish(v, queue.Results{Items: []queue.Result{r}})
	})
}

// log is the results of the run.
func (m *inlineModel) log() []string { return m.w.bodies("r")[1:] }

// check holds what executions have seen against the log, and looks for a run that nobody goes on with.
func (m *inlineModel) check() {
	log := m.log()
	for _, e := range m.all {
		if len(e.view) > len(log) || !slices.Equal(e.view, log[:len(e.view)]) {
			m.t.Fatalf("an endpoint has seen %q, the log has %q", e.view, log)
		}
	}
	if err := m.w.pairs[0].s.Consistent(); err != nil {
		m.t.Fatal(err)
	}
	r, open := m.w.run("r"), 0
	m.w.pairs[0].s.Log(r.No, func(pos uint32, e *workflow.Entry) bool {
		if e.State.Open() {
			open++
			if _, at, found := m.w.pairs[0].s.EntryOf(e.ID); !found || at != pos {
				m.t.Fatalf("message %s delivers entry %d, and is found as another one", e.ID, pos)
			}
		}
		return true
	})
	if r.Active() && open == 0 {
		m.t.Fatal("nothing of an active run is delivered any more")
	}
}

// TestStepSentAgainEndsNothing: a step that comes again with the end of the run ends nothing once its attempt has recorded others after it.
func TestStepSentAgainEndsNothing(t *testing.T) {
	w := newWorld(t)
	n := start("r")
	n.Features |= workflow.Inline
	w.submit(n)
	w.advance()
	of := w.running[0].Ref()
	steps := []workflow.Submission{step("r", 1, "1"), step("r", 2, "2")}
	for i := range steps {
		steps[i].URL, steps[i].Attempt = "", of
	}
	if all := w.submit(steps...); !all[1].Inline {
		t.Fatalf("%+v", all)
	}
	early := steps[0]
	early.End = &workflow.Ending{}
	if out := w.submit(early)[0]; out.Ended || !w.run("r").Active() {
		t.Errorf("the run is over: %+v", out)
	}
	late := steps[1]
	late.End = &workflow.Ending{}
	if out := w.submit(late)[0]; !out.Ended || w.run("r").Active() {
		t.Errorf("the run is not over: %+v", out)
	}
}
