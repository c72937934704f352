package workflow_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// TestModel draws what clients, endpoints, deliverers and time can do, to two stores of which one or the other is restored
// from its snapshot in between, and compares answers, snapshots and indices.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		m := &model{w: w, t: t, results: map[string]string{}}
		for range rapid.IntRange(20, 150).Draw(t, "steps") {
			m.one()
		}
		w.same()
		m.check()
	})
}

type model struct {
	w       *world
	t       *rapid.T
	ids     []string
	results map[string]string // the first accepted result of (number of the run, step)
}

func (m *model) id() string {
	if len(m.ids) == 0 || rapid.IntRange(0, 20).Draw(m.t, "unknown") == 0 {
		return "nobody"
	}
	return rapid.SampledFrom(m.ids).Draw(m.t, "run")
}

func (m *model) one() {
	w, t := m.w, m.t
	number := uint32(rapid.IntRange(1, 5).Draw(t, "step"))
	event := fmt.Sprintf("e%d", rapid.IntRange(0, 2).Draw(t, "event"))
	switch rapid.IntRange(0, 21).Draw(t, "what") {
	case 0, 1:
		id := fmt.Sprintf("wfr_%d", rapid.IntRange(0, 5).Draw(t, "new"))
		n := start(id)
		if rapid.Bool().Draw(t, "flow") {
			n.Flow, n.Given = &queue.FlowControl{Key: "k", Parallelism: 2}, n.Given|queue.GivenFlow
		}
		if rapid.Bool().Draw(t, "keeps") {
			n.Keep, n.Updates = []string{"e0", "e*"}, []byte(`{"e1":"@.update != @.state"}`)
		}
		n.Deployment = rapid.SampledFrom([]string{"", "", "v1", "v2"}).Draw(t, "deployment")
		if len(m.ids) > 0 && rapid.IntRange(0, 3).Draw(t, "invoked") == 0 {
			n.Invoker = &workflow.Invoker{RunID: m.id(), URL: url, Step: workflow.Step{ID: number, Type: workflow.Invoke, Concurrent: 1}, Open: fmt.Appendf(nil, `{"stepId":%d`, number)}
		}
		w.submit(n)
		if !slices.Contains(m.ids, id) {
			m.ids = append(m.ids, id)
		}
	case 2, 3, 4:
		m.step(number)
	case 5:
		id := m.id()
		w.submit(plan(id, number, 2), plan(id, number+1, 2))
	case 6:
		w.submit(call(m.id(), number))
	case 7:
		n := await(m.id(), number, event, int64(rapid.IntRange(0, 3000).Draw(t, "timeout")))
		apply(w, func(e *env.Env, p pair) (workflow.Receipt, error) { return p.s.Await(e, p.q, n) })
	case 8:
		n := workflow.Notification{EventID: event, Body: []byte(`"data"`)}
		if rapid.Bool().Draw(t, "one run") {
			n.RunID = m.id()
			n.Update = rapid.Bool().Draw(t, "update")
		}
		apply(w, func(e *env.Env, p pair) (int, error) {
			out, err := p.s.Notify(e, p.q, n)
			return len(out.Woken), err
		})
	case 9:
		n := workflow.Ending{RunID: m.id(), Result: []byte("42"), HasResult: true}
		apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) { return p.s.End(e, p.q, n) })
	case 10:
		n := workflow.Cancellation{Filter: workflow.Filter{RunIDs: []string{m.id()}}}
		apply(w, func(e *env.Env, p pair) (workflow.Cancelled, error) { return p.s.Cancel(e, p.q, n) })
	case 11:
		n := workflow.Revival{Restart: rapid.Bool().Draw(t, "restart"), DeadSelection: workflow.DeadSelection{Limit: 1}}
		out, _ := apply(w, func(e *env.Env, p pair) (workflow.Revived, error) { return p.s.Revive(e, p.q, n) })
		for _, r := range out.Runs {
			m.ids = append(m.ids, r.ID)
		}
	case 12:
		m.retire()
	case 15:
		m.fork()
	case 13:
		w.restore(rapid.IntRange(0, 1).Draw(t, "restored"))
	case 14:
		m.deploy()
	default:
		w.now += int64(rapid.SampledFrom([]int{0, 1, 50, 1000, 20_000, 90_000_000}).Draw(t, "time"))
		w.advance()
		for len(w.running) > 0 && rapid.IntRange(0, 3).Draw(t, "answer") > 0 {
			p := rapid.SampledFrom([]queue.Response{fine, fine, {Status: 500, Body: []byte("boom")}, {}}).Draw(t, "response")
			w.finish(rapid.IntRange(0, len(w.running)-1).Draw(t, "attempt"), p, "")
		}
	}
}

// step submits a result. Only the first of each step is taken, and stays.
func (m *model) step(number uint32) {
	id := m.id()
	origin := rapid.SampledFrom([]string{"", "", "v1", "v2"}).Draw(m.t, "sdk")
	body := rapid.StringMatching(`[a-z]{0,8}`).Draw(m.t, "out")
	n := step(id, number, body)
	if rapid.Bool().Draw(m.t, "state") {
		n.State = []byte(`"` + body + `"`)
	}
	before := m.w.run(id)
	if origin != "" && before != nil && (before.Deployment != "" || before.Moves > 0) {
		n = submittedBy(origin, n)
	}
	r := m.w.submit(n)[0]
	if r.Refused != nil {
		return
	}
	key := fmt.Sprint(before.No, number) // an id may be used again as soon as its run is forgotten, in the same millisecond too
	if _, found := m.results[key]; !r.Deduplicated && found {
		m.t.Fatalf("two results of %s were accepted", key)
	}
	if !r.Deduplicated {
		m.results[key] = string(n.Body)
	}
	run, pos, ok := m.w.pairs[0].s.EntryOf(r.ID)
	if !ok {
		if m.w.pairs[0].s.Find(r.RunID, r.Created) != nil {
			m.t.Fatalf("the answer to %s names %s, which is no entry", key, r.ID)
		}
		return // a step of a failed run, for which there was no room any more
	}
	won, _ := m.w.pairs[0].s.Entry(run.No, pos)
	if first, found := m.results[key]; found && string(won.Body.Bytes()) != first {
		m.t.Fatalf("the result of %s was %s and is %s", key, first, won.Body.Bytes())
	}
}

// deploy makes, changes or deletes a deployment, or moves runs.
func (m *model) deploy() {
	w, t := m.w, m.t
	name := func(label string) string { return rapid.SampledFrom([]string{"v1", "v2", "v3"}).Draw(t, label) }
	switch rapid.IntRange(0, 3).Draw(t, "deploy") {
	case 0, 1:
		n := workflow.DeploymentChange{Name: name("name"), When: workflow.MoveWhen(rapid.IntRange(0, 2).Draw(t, "when"))}
		n.URL, n.Delete = originOf(n.Name), rapid.IntRange(0, 3).Draw(t, "delete") == 0
		if n.When != workflow.MoveNever {
			n.MoveTo = name("target")
		}
		w.changeDeployment(n)
	case 2:
		w.move(workflow.RunMove{RunID: m.id(), To: rapid.SampledFrom([]string{"", "v1", "v2"}).Draw(t, "to")})
	default:
		w.move(workflow.RunMove{From: name("from"), To: name("to")})
	}
}

// retire deletes dead letters, changes callbacks, or makes room.
func (m *model) retire() {
	w, t := m.w, m.t
	switch rapid.IntRange(0, 3).Draw(t, "retire") {
	case 0:
		apply(w, func(e *env.Env, p pair) (workflow.DeadDeleted, error) {
			return p.s.DeleteDead(e, p.q, workflow.DeadSelection{Limit: 1})
		})
	case 1:
		list, _, _ := w.pairs[0].s.DeadRuns(nil, &workflow.DeadFilter{}, queue.Page{Limit: 1})
		if len(list) > 0 {
			n := workflow.CallbackChange{Dead: list[0].Dead, Cancel: rapid.Bool().Draw(t, "cancel")}
			apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) { return p.s.ChangeCallback(e, p.q, n) })
		}
	case 2:
		limit := rapid.IntRange(1, 9).Draw(t, "sweep")
		apply(w, func(e *env.Env, p pair) (int, error) { return p.s.Sweep(e, p.q, limit), nil })
	default:
		n := workflow.DefaultSettings()
		n.EndedBytes = int64(rapid.IntRange(0, 20_000).Draw(t, "bytes"))
		apply(w, func(e *env.Env, p pair) (workflow.Settings, error) { return p.s.Configure(e, n) })
	}
}

// check compares what is open with what is on its way.
func (m *model) check() {
	for _, p := range m.w.pairs {
		list, _, _ := p.s.Runs(&workflow.Filter{}, workflow.Page{Limit: 1000})
		for _, r := range list {
			n := uint32(0)
			p.s.Log(r.No, func(pos uint32, e *workflow.Entry) bool {
				if pos != n {
					m.t.Fatalf("entry %d of %s stands at %d", n, r.ID, pos)
				}
				n++
				_, sent := p.q.Message(e.ID, m.w.now)
				if e.State.Open() != sent && e.State.Open() {
					m.t.Fatalf("entry %d of %s is to be delivered, but has no message", pos, r.ID)
				}
				if e.State.Open() && !r.Active() {
					m.t.Fatalf("entry %d of %s is open in a run that is %s", pos, r.ID, r.State)
				}
				return true
			})
			m.latest(p.s, r)
			m.deployed(p, r)
			if n != r.Entries {
				m.t.Fatalf("%s has %d entries and says %d", r.ID, n, r.Entries)
			}
			if !r.Active() && (len(p.s.WaitersOf(r.No)) > 0 || len(p.s.SavedFor(r.No)) > 0) {
				m.t.Fatalf("%s is over, but waits", r.ID)
			}
		}
	}
}

// deployed holds a run to its deployment: it is found by that as long as it is active, and what is on its way to its endpoint goes there.
func (m *model) deployed(p pair, r *workflow.Run) {
	found := false
	if r.Deployment != "" {
		list, _, _ := p.s.RunsOn(r.Deployment, workflow.Page{Limit: 1000})
		found = slices.ContainsFunc(list, func(one *workflow.Run) bool { return one.No == r.No })
		if d, there := p.s.Deployment(r.Deployment); r.Active() && (!there || d.Active != len(list) || d.Oldest != list[0]) {
			m.t.Fatalf("%s is on %s, which is %+v", r.ID, r.Deployment, d)
		}
	}
	if found != (r.Deployment != "" && r.Active()) {
		m.t.Fatalf("%s, on deployment %s and %s: found there: %t", r.ID, r.Deployment, r.State, found)
	}
	p.s.Log(r.No, func(pos uint32, e *workflow.Entry) bool {
		if message, sent := p.q.Message(e.ID, m.w.now); sent && e.State.Open() && e.Kind != workflow.CallEntry && message.Content.URL != p.s.Target(r) {
			m.t.Fatalf("entry %d of %s goes to %s, not to %s", pos, r.ID, message.Content.URL, p.s.Target(r))
		}
		return true
	})
}

// latest holds a run to what it says of when something last happened to it.
func (m *model) latest(s *workflow.Store, r *workflow.Run) {
	at := max(r.Created, r.Completed)
	s.Log(r.No, func(_ uint32, e *workflow.Entry) bool {
		at = max(at, e.Created)
		for i := range e.Errors {
			at = max(at, e.Errors[i].At)
		}
		if child := s.Child(r.No, e.Step.ID+1); child != nil {
			at = max(at, child.Created)
		}
		return true
	})
	for _, w := range s.WaitersOf(r.No) {
		at = max(at, w.Created)
	}
	if at > r.Latest() {
		m.t.Fatalf("%s says that nothing happened after %d, but its log goes to %d", r.ID, r.Latest(), at)
	}
}
