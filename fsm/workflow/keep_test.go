package workflow_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// keeper is a run as the model of kept events has it.
type keeper struct {
	id    string
	keep  []string
	kept  [][2]string // event and body, oldest first
	waits [][2]string // event and step
	took  []string    // the results of its waits, in the order of the log
	steps uint32
}

func (k *keeper) keeps(event string) bool {
	return slices.ContainsFunc(k.keep, func(name string) bool {
		prefix, is := strings.CutSuffix(name, "*")
		return name == event || is && strings.HasPrefix(event, prefix)
	})
}

// keepModel holds runs that keep events against a model, in which a run has a list of events and a list of waits.
type keepModel struct {
	w    *world
	t    *rapid.T
	runs []*keeper
	n    int
	most int
}

// TestKeptEvents draws starts, events, waits and ends, also in pieces and with restores in between: a run gets every event that it keeps
// once, the oldest first, and never one that it does not keep and does not wait for.
func TestKeptEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &keepModel{w: newWorld(t), t: t, most: 3}
		set := workflow.DefaultSettings()
		set.MaxSaved = m.most
		apply(m.w, func(e *env.Env, p pair) (workflow.Settings, error) { return p.s.Configure(e, set) })
		for range rapid.IntRange(10, 80).Draw(t, "steps") {
			m.one()
		}
		m.w.same()
		for _, k := range m.runs {
			m.check(k)
		}
	})
}

func (m *keepModel) one() {
	event := rapid.SampledFrom([]string{"a", "ab", "abc", "b", "bc"}).Draw(m.t, "event")
	m.n++
	switch rapid.IntRange(0, 9).Draw(m.t, "what") {
	case 0, 1:
		k := &keeper{id: fmt.Sprint("wfr_", m.n), keep: rapid.SampledFrom([][]string{nil, {"a"}, {"a*"}, {"ab*", "a*", "b"}, {"*"}, {"bc"}}).Draw(m.t, "keep")}
		n := start(k.id)
		n.Keep = k.keep
		m.w.submit(n)
		m.runs = append(m.runs, k)
	case 2, 3, 4:
		m.notify(event, fmt.Sprint("body", m.n))
	case 5, 6:
		m.await(event)
	case 7:
		m.w.restore(rapid.IntRange(0, 1).Draw(m.t, "restored"))
	case 8:
		if k := m.any(); k != nil && rapid.IntRange(0, 2).Draw(m.t, "end") == 0 {
			apply(m.w, func(e *env.Env, p pair) (workflow.RunRef, error) {
				return p.s.End(e, p.q, workflow.Ending{RunID: k.id})
			})
			m.runs = slices.DeleteFunc(m.runs, func(other *keeper) bool { return other == k })
		}
	default:
		m.notifyOne(event, fmt.Sprint("body", m.n))
	}
}

func (m *keepModel) any() *keeper {
	if len(m.runs) == 0 {
		return nil
	}
	return rapid.SampledFrom(m.runs).Draw(m.t, "run")
}

// give is what a run does with an event: its waits end, or it is kept, for which there may be no room.
func (m *keepModel) give(k *keeper, event, body string, keep bool) (woken int, kept, full bool) {
	k.waits = slices.DeleteFunc(k.waits, func(w [2]string) bool {
		if w[0] == event {
			woken++
			k.took = append(k.took, body)
		}
		return w[0] == event
	})
	if woken > 0 || !keep {
		return woken, false, false
	}
	if full = len(k.kept) >= m.most; !full {
		k.kept = append(k.kept, [2]string{event, body})
	}
	return 0, !full, full
}

func (m *keepModel) notify(event, body string) {
	var want, got []string
	for _, k := range m.runs {
		woken, kept, full := m.give(k, event, body, k.keeps(event))
		for range woken {
			want = append(want, "woken "+k.id)
		}
		if kept || full {
			want = append(want, fmt.Sprint("kept ", k.id, full))
		}
	}
	n := workflow.Notification{EventID: event, Body: []byte(body)}
	limit := rapid.SampledFrom([]int64{1, 1000, math.MaxInt64}).Draw(m.t, "limit")
	for more := true; more; {
		out, err := apply(m.w, func(e *env.Env, p pair) (workflow.Notified, error) {
			p.s.NotifyPrice(e, &n, limit)
			return p.s.Notify(e, p.q, n)
		})
		if err != nil {
			m.t.Fatal(err)
		}
		for _, one := range out.Woken {
			got = append(got, "woken "+one.RunID)
		}
		for _, one := range out.Kept {
			got = append(got, fmt.Sprint("kept ", one.RunID, one.Full))
		}
		more, n.Until, n.After = out.More, out.Until, out.After
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		m.t.Fatalf("%s with %s: %q, not %q", event, body, got, want)
	}
}

func (m *keepModel) notifyOne(event, body string) {
	k := m.any()
	if k == nil {
		return
	}
	_, _, full := m.give(k, event, body, true)
	_, err := apply(m.w, func(e *env.Env, p pair) (int, error) {
		out, err := p.s.Notify(e, p.q, workflow.Notification{EventID: event, RunID: k.id, Body: []byte(body)})
		return len(out.Woken), err
	})
	if full != errors.Is(err, workflow.ErrFull) {
		m.t.Fatalf("full %v: %v", full, err)
	}
}

func (m *keepModel) await(event string) {
	k := m.any()
	if k == nil {
		return
	}
	k.steps++
	out, err := apply(m.w, func(e *env.Env, p pair) (workflow.Receipt, error) {
		return p.s.Await(e, p.q, await(k.id, k.steps, event, 1<<40))
	})
	if err != nil {
		m.t.Fatal(err)
	}
	at := slices.IndexFunc(k.kept, func(e [2]string) bool { return e[0] == event })
	if (at >= 0) == out.ID.IsZero() {
		m.t.Fatalf("%s waits for %s, and has kept %q: %s", k.id, event, k.kept, out.ID)
	}
	if at < 0 {
		k.waits = append(k.waits, [2]string{event, fmt.Sprint(k.steps)})
		return
	}
	k.took = append(k.took, k.kept[at][1])
	k.kept = slices.Delete(k.kept, at, at+1)
}

// check compares what a run has got with the model.
func (m *keepModel) check(k *keeper) {
	list := m.w.bodies(k.id)[1:]
	for i, body := range list {
		if i >= len(k.took) || !strings.Contains(body, b64(k.took[i])) {
			m.t.Fatalf("%s took %q, but its log has %q", k.id, k.took, list)
		}
	}
	if saved := m.w.pairs[0].s.SavedFor(m.w.run(k.id).No); len(list) != len(k.took) || len(saved) != len(k.kept) {
		m.t.Fatalf("%s took %q and keeps %q: the log has %d, and %d are kept", k.id, k.took, k.kept, len(list), len(saved))
	}
}

// A run keeps at most 16 names of 256 bytes.
func TestKeptNamesAreBounded(t *testing.T) {
	w := newWorld(t)
	for text, list := range map[string][]string{
		"too many names": make([]string, queue.MaxKept+1), "too long": {strings.Repeat("x", queue.MaxKeptName+1)}, "asterisk": {"a*b"}, "names of events": {""},
	} {
		n := start("r")
		n.Keep = list
		if r := w.submit(n)[0]; r.Refused == nil || !strings.Contains(r.Refused.Text, text) {
			t.Errorf("%s: %+v", text, r.Refused)
		}
	}
}

// A run that is full is passed over. If nobody else is reached, that is an error.
func TestFullKeeperHoldsUpNobody(t *testing.T) {
	w := newWorld(t)
	set := workflow.DefaultSettings()
	set.MaxSaved = 1
	apply(w, func(e *env.Env, p pair) (workflow.Settings, error) { return p.s.Configure(e, set) })
	begin := func(id string) {
		n := start(id)
		n.Keep = []string{"e"}
		w.submit(n)
	}
	notify := func() workflow.Notified {
		out, err := apply(w, func(e *env.Env, p pair) (workflow.Notified, error) {
			return p.s.Notify(e, p.q, workflow.Notification{EventID: "e"})
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	begin("first")
	if out := notify(); out.NobodyHasRoom() != nil {
		t.Fatal(out.NobodyHasRoom())
	}
	if out := notify(); !errors.Is(out.NobodyHasRoom(), workflow.ErrFull) {
		t.Errorf("a full run: %+v", out)
	}
	begin("second")
	out := notify()
	if err := out.NobodyHasRoom(); err != nil || len(out.Kept) != 2 || !out.Kept[0].Full || out.Kept[1].Full {
		t.Errorf("%+v, %v", out.Kept, err)
	}
}
