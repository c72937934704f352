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

// account is the model of a run whose state is what is left, and whose updates spend of it.
type account struct {
	id      string
	step    uint32
	left    int // -1: no state
	version uint64
	ids     []string
	taken   []string // the updates that were accepted, oldest first
	read    int      // how many of them a wait has taken
}

func (a *account) state() string {
	if a.left < 0 {
		return ""
	}
	return fmt.Sprintf(`{"left":%d}`, a.left)
}

const spend = `{"spend":"@.update.amount <= @.state.left && @.update.amount > 0","any":""}`

// stateModel holds the state of one run, and of those that it is resumed or restarted as, against a model.
type stateModel struct {
	w *world
	t *rapid.T
	a account
}

// TestStateOfRuns draws steps with and without states, again and again, updates, failures, resumes and restarts, with restores in between:
// the state is that of the last step that was recorded, its version counts each change once, and an update is accepted exactly if its rule
// holds for that state.
func TestStateOfRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &stateModel{w: newWorld(t), t: t, a: account{id: "r", left: -1}}
		n := start("r")
		n.Updates = []byte(spend)
		m.w.submit(n)
		m.w.deliver(fine)
		for range rapid.IntRange(10, 60).Draw(t, "steps") {
			m.one()
			m.check()
		}
		m.w.same()
	})
}

func (m *stateModel) one() {
	a := &m.a
	switch rapid.IntRange(0, 9).Draw(m.t, "what") {
	case 0, 1, 2:
		m.step()
	case 3, 4, 5:
		m.update()
	case 6:
		a.step++
		out, err := apply(m.w, func(e *env.Env, p pair) (workflow.Receipt, error) {
			return p.s.Await(e, p.q, await(a.id, a.step, "spend", 1<<40))
		})
		switch {
		case err != nil:
			m.t.Fatal(err)
		case out.ID.IsZero() != (a.read == len(a.taken)):
			m.t.Fatalf("%d updates were accepted, %d taken: %+v", len(a.taken), a.read, out)
		case out.ID.IsZero(): // nobody waits while an update is judged: that is another test's
			apply(m.w, func(e *env.Env, p pair) (int, error) {
				_, err := p.s.Notify(e, p.q, workflow.Notification{RunID: a.id, EventID: "spend"})
				return 0, err
			})
		default:
			if list := m.w.bodies(a.id); !strings.Contains(list[len(list)-1], b64(a.taken[a.read])) {
				m.t.Fatalf("the wait got %s, not %s", list[len(list)-1], a.taken[a.read])
			}
			a.read++
		}
		m.w.deliver(fine)
	case 7:
		m.w.restore(rapid.IntRange(0, 1).Draw(m.t, "restored"))
	default:
		if rapid.IntRange(0, 3).Draw(m.t, "fail") == 0 {
			m.fail()
		}
	}
}

// step submits a step, or one again that was submitted before.
func (m *stateModel) step() {
	a := &m.a
	again := a.step > 0 && rapid.IntRange(0, 3).Draw(m.t, "again") == 0
	if !again {
		a.step++
	}
	n := step(a.id, a.step, "out")
	left := rapid.IntRange(-3, 100).Draw(m.t, "left")
	switch {
	case left == -3:
		n.State = []byte(`"` + strings.Repeat("x", workflow.MaxState) + `"`)
	case left == -1:
		n.State = []byte("null")
	case left >= 0:
		n.State = fmt.Appendf(nil, `{"left":%d}`, left)
	}
	r := m.w.submit(n)[0]
	m.w.deliver(fine)
	switch {
	case again:
		if !r.Deduplicated {
			m.t.Fatalf("again: %+v", r)
		}
	case left == -3:
		if !errors.Is(r.Refused, workflow.ErrRefused) || !strings.Contains(r.Refused.Text, "65536 bytes") {
			m.t.Fatalf("too large: %+v", r)
		}
		a.step--
	case r.Refused != nil:
		m.t.Fatal(r.Refused)
	case left != -2:
		a.left, a.version = left, a.version+1
	}
}

func (m *stateModel) update() {
	a := &m.a
	n := workflow.Notification{RunID: a.id, EventID: "spend", Update: true}
	amount := rapid.IntRange(0, 100).Draw(m.t, "amount")
	n.Body = fmt.Appendf(nil, `{"amount":%d}`, amount)
	if rapid.Bool().Draw(m.t, "named") {
		n.UpdateID = fmt.Sprint("u", rapid.IntRange(0, 5).Draw(m.t, "id"))
	}
	out, err := apply(m.w, func(e *env.Env, p pair) (workflow.Verdict, error) {
		out, err := p.s.Notify(e, p.q, n)
		if err != nil {
			return workflow.Verdict{}, err
		}
		return *out.Update, nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	before := n.UpdateID != "" && slices.Contains(a.ids, n.UpdateID)
	holds := amount > 0 && amount <= a.left
	if out.Accepted != (before || holds) || out.Deduplicated != before || out.Version != a.version {
		m.t.Fatalf("%d of %d: %+v, version %d", amount, a.left, out, a.version)
	}
	if before || !holds {
		return
	}
	a.taken = append(a.taken, string(n.Body))
	if n.UpdateID != "" {
		a.ids = append(a.ids, n.UpdateID)
	}
}

// fail has the run fail, and resumes or restarts it.
func (m *stateModel) fail() {
	a := &m.a
	a.step++
	m.w.submit(step(a.id, a.step, "out"))
	for range 3 {
		m.w.deliver(queue.Response{Status: 500})
		m.w.now += 60_000
	}
	m.check() // of a run that has failed
	n := workflow.Revival{Restart: rapid.Bool().Draw(m.t, "restart")}
	out, err := apply(m.w, func(e *env.Env, p pair) (workflow.Revived, error) { return p.s.Revive(e, p.q, n) })
	if err != nil || len(out.Runs) != 1 {
		m.t.Fatal(out, err)
	}
	m.w.deliver(fine)
	*a = account{id: out.Runs[0].ID, step: a.step, left: a.left, version: a.version}
	if n.Restart {
		*a = account{id: a.id, left: -1}
	}
}

func (m *stateModel) check() {
	r := m.w.run(m.a.id)
	d := r.Data
	if d == nil {
		d = &workflow.Data{}
	}
	if string(d.State) != m.a.state() || d.Version != m.a.version || len(r.Rules()) != 2 {
		m.t.Fatalf("%s has the state %s of version %d, not %s of %d; rules %+v", r.ID, d.State, d.Version, m.a.state(), m.a.version, r.Rules())
	}
}

// TestRulesOfUpdates holds updates against rules of a run whose state is {"left":10,"open":true,"names":["a","b"]}.
func TestRulesOfUpdates(t *testing.T) {
	w := newWorld(t)
	w.submit(start("r"))
	w.deliver(fine)
	n := step("r", 1, "out")
	n.State = []byte(`{"left":10,"open":true,"names":["a","b"]}`)
	w.submit(n)
	w.deliver(fine)
	update := func(name, body string) (workflow.Verdict, error) {
		return apply(w, func(e *env.Env, p pair) (workflow.Verdict, error) {
			out, err := p.s.Notify(e, p.q, workflow.Notification{RunID: "r", EventID: name, Body: []byte(body), Update: true})
			if err != nil {
				return workflow.Verdict{}, err
			}
			return *out.Update, nil
		})
	}
	if _, err := update("add", "{}"); !errors.Is(err, queue.ErrNotFound) || !strings.Contains(err.Error(), "it has declared none") {
		t.Error(err)
	}
	next := uint32(1)
	for _, c := range []struct {
		rule, body string
		accepted   bool
	}{
		{"", `null`, true},
		{"@.update.n <= @.state.left", `{"n":10}`, true},
		{"@.update.n <= @.state.left", `{"n":11}`, false},
		{"@.update.n <= @.state.left", `{}`, false},
		{"$[?(@.update.n < @.state.left && @.state.open == true)]", `{"n":9.5}`, true},
		{"@.state.closed", `{}`, false},
		{"!@.state.closed", `{}`, true},
		{"@.update == @.state.names[1]", `"b"`, true},
		{"@.update == @.state.names[1]", `"a"`, false},
		{`@.update.by =~ "^a.*z$"`, `{"by":"abcz"}`, true},
		{"$[0].state.left == 10", `1`, true},
	} {
		next++
		n := step("r", next, "out")
		n.Updates = fmt.Appendf(nil, `{"add":%q,"other":null}`, c.rule)
		if r := w.submit(n)[0]; r.Refused != nil {
			t.Fatal(c.rule, r.Refused)
		}
		w.deliver(fine)
		if v, err := update("add", c.body); err != nil || v.Accepted != c.accepted || v.Accepted == (v.Refused != "") {
			t.Errorf("%s with %s: %+v, %v", c.rule, c.body, v, err)
		}
	}
	if _, err := update("none", "{}"); !errors.Is(err, queue.ErrNotFound) || !strings.Contains(err.Error(), "it accepts add, other") {
		t.Error(err)
	}
	if _, err := update("add", "{"); !errors.Is(err, queue.ErrInvalid) {
		t.Error(err)
	}
	if _, err := update("add", strings.Repeat("1", workflow.MaxState+1)); !errors.Is(err, queue.ErrInvalid) {
		t.Error(err)
	}
	if _, err := apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) { return p.s.End(e, p.q, workflow.Ending{RunID: "r"}) }); err != nil {
		t.Fatal(err)
	}
	if _, err := update("add", "{}"); !errors.Is(err, workflow.ErrEnded) {
		t.Error(err)
	}
}

// A rule that looks at too much is refused, and one that is none is no rule.
func TestRulesAreBounded(t *testing.T) {
	many := make([]string, 17)
	for i := range many {
		many[i] = fmt.Sprintf(`"n%d":""`, i)
	}
	for text, wrong := range map[string]string{
		`[]`: "not a JSON object", `{"a":1}`: "not a text", `{"a/b":""}`: "a name has", `{"":""}`: "a name has", `{"a":"@.x <"}`: "no condition",
		`{"a":"` + strings.Repeat("x", 1025) + `"}`: "too long", "{" + strings.Join(many, ",") + "}": "too many",
	} {
		if _, err := workflow.ReadUpdates([]byte(text)); err == nil || !strings.Contains(err.Text, wrong) {
			t.Errorf("%.40s: %v", text, err)
		}
	}
	w := newWorld(t)
	n := start("r")
	n.Updates = []byte(`{"deep":"@.update =~ '(a?){90}b'"}`)
	if r := w.submit(n)[0]; r.Refused != nil {
		t.Fatal(r.Refused)
	}
	body := []byte(`"` + strings.Repeat("a", 60_000) + `"`)
	out, err := apply(w, func(e *env.Env, p pair) (workflow.Verdict, error) {
		out, err := p.s.Notify(e, p.q, workflow.Notification{RunID: "r", EventID: "deep", Body: body, Update: true})
		if err != nil {
			return workflow.Verdict{}, err
		}
		return *out.Update, nil
	})
	if err != nil || out.Accepted || !strings.Contains(out.Refused, "too many values") {
		t.Errorf("%+v, %v", out, err)
	}
}

// The ids of the last hundred updates are remembered, and no more.
func TestUpdateIDsAreBounded(t *testing.T) {
	w := newWorld(t)
	n := start("r")
	n.Updates = []byte(`{"e":""}`)
	w.submit(n)
	send := func(id string) workflow.Verdict {
		out, err := apply(w, func(e *env.Env, p pair) (workflow.Verdict, error) {
			out, err := p.s.Notify(e, p.q, workflow.Notification{RunID: "r", EventID: "e", Body: []byte("1"), Update: true, UpdateID: id})
			if err != nil {
				return workflow.Verdict{}, err
			}
			return *out.Update, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	set := workflow.DefaultSettings()
	set.MaxSaved = 1000
	apply(w, func(e *env.Env, p pair) (workflow.Settings, error) { return p.s.Configure(e, set) })
	for i := range 101 {
		if v := send(fmt.Sprint(i)); v.Deduplicated {
			t.Fatal(i)
		}
	}
	w.restore(0)
	if v := send("1"); !v.Deduplicated || v.ID != "1" {
		t.Errorf("%+v", v)
	}
	if v := send("0"); v.Deduplicated {
		t.Errorf("%+v", v)
	}
	if n := len(w.run("r").Data.Accepted); n != 100 {
		t.Errorf("%d ids", n)
	}
}
