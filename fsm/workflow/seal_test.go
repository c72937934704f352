package workflow_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// told is all that a store says of a run and its log.
func told(s *workflow.Store, r *workflow.Run) string {
	var b strings.Builder
	fmt.Fprint(&b, r.No, r.ID, r.Created, r.State, r.Entries, r.Completed, r.HasResult, string(r.Result.Bytes()), r.Latest(), r.URL, r.Labels, r.CallerIP)
	fmt.Fprintf(&b, " %q %+v %+v", r.Keep, r.Rules(), r.Data)
	s.Log(r.No, func(pos uint32, e *workflow.Entry) bool {
		fmt.Fprint(&b, "\n", pos, e.ID, e.Kind, e.Step, e.Created, e.FirstAt, string(e.Body.Bytes()), e.URL, e.State, e.Retried, len(e.Errors))
		if result, ok := s.ResultOf(r.No, e.Number()); ok {
			fmt.Fprint(&b, " result ", result.ID)
		}
		if owner, at, ok := s.EntryOf(e.ID); !ok || owner.No != r.No || at != pos {
			fmt.Fprint(&b, " is not found by its message")
		}
		return true
	})
	return b.String()
}

// runsOf are all runs that a filter chooses, page by page.
func runsOf(t *testing.T, s *workflow.Store, f *workflow.Filter, limit int) (all []string) {
	t.Helper()
	for after := uint64(0); ; {
		list, cursor, more := s.Runs(f, workflow.Page{After: after, Limit: limit})
		for _, r := range list {
			all = append(all, told(s, r))
		}
		if !more {
			return all
		}
		if cursor == after && after != 0 {
			t.Fatal("the pages have no end")
		}
		after = cursor
	}
}

// TestSealedRunsReadAlike: what is read of runs that have gone into volumes is what it would be if they had not: by filter and page, by
// id, by message, before and after a restore; and equal states have equal snapshots.
func TestSealedRunsReadAlike(t *testing.T) {
	w := newWorld(t)
	w.levels[1] = env.Base
	w.pairs[0].s.Raise(env.Files)
	r := rand.New(rand.NewPCG(4, 9))
	var ids, alive []string
	steps := map[string]uint32{}
	for range 6000 {
		switch n := r.IntN(100); {
		case n < 12:
			id := fmt.Sprintf("wfr_%d", len(ids)) // of two runs with one id, the later would take the steps for its own sooner
			s := start(id)
			s.URL = fmt.Sprintf("http://App%d:3000/wf%d", r.IntN(3), r.IntN(3))
			s.Labels, s.Given = []string{fmt.Sprintf("label%d", r.IntN(40))}, s.Given|queue.GivenLabels
			s.CallerIP = fmt.Sprintf("10.0.0.%d", r.IntN(4))
			s.Body = []byte(strings.Repeat("payload ", r.IntN(2)*r.IntN(400)))
			w.submit(s)
			ids, alive, steps[id] = append(ids, id), append(alive, id), 0
		case n < 60 && len(alive) > 0:
			id := alive[r.IntN(len(alive))]
			if run := w.run(id); run == nil || !run.Active() {
				alive = slices.DeleteFunc(alive, func(other string) bool { return other == id })
				continue
			}
			if steps[id]++; steps[id] > 4 || r.IntN(8) == 0 {
				n := workflow.Ending{RunID: id, Result: []byte(strings.Repeat("done ", r.IntN(400))), HasResult: true}
				if r.IntN(6) == 0 {
					apply(w, func(e *env.Env, p pair) (workflow.Cancelled, error) {
						return p.s.Cancel(e, p.q, workflow.Cancellation{Filter: workflow.Filter{RunIDs: []string{id}}})
					})
				} else {
					apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) { return p.s.End(e, p.q, n) })
				}
				alive = slices.DeleteFunc(alive, func(other string) bool { return other == id })
				continue
			}
			n := step(id, steps[id], strings.Repeat("x", r.IntN(2)*r.IntN(3000)))
			if steps[id] == 2 {
				n.State, n.Updates = fmt.Appendf(nil, `{"of":%q}`, id), []byte(`{"add":"@.update > @.state.left"}`)
			}
			w.submit(n)
		case n < 75:
			w.advance()
		case n < 92 && len(w.running) > 0:
			w.finish(r.IntN(len(w.running)), fine, "")
		case n < 93 && len(w.running) > 0:
			w.finish(r.IntN(len(w.running)), queue.Response{Status: 500, Body: []byte("no")}, "")
		default:
			w.now += int64(r.IntN(120_000))
		}
	}
	w.now += 4 * 3_600_000
	for range 40 { // what can't be under way any more
		w.advance()
	}
	counts := w.pairs[0].s.Counts()
	if counts.Runs-counts.Active < 300 || w.pairs[0].s.Counts() != w.pairs[1].s.Counts() {
		t.Fatalf("%+v, %+v", counts, w.pairs[1].s.Counts())
	}
	if n, all := w.pairs[0].s.InTrees(), w.pairs[1].s.InTrees(); n > all/2 {
		t.Errorf("%d of %d runs are in the trees", n, all)
	}
	before := w.pairs[0].snapshot(t)
	w.restore(0)
	if after := w.pairs[0].snapshot(t); !slices.EqualFunc(before, after, slices.Equal) {
		t.Error("the snapshot differs after a restore")
	}
	maybe := func(list *[]string, text string) {
		if r.IntN(6) == 0 {
			*list = append(*list, text)
		}
	}
	for range 120 {
		f := &workflow.Filter{}
		maybe(&f.URLs, fmt.Sprintf("http://App%d:3000/wf%d", r.IntN(4), r.IntN(3)))
		maybe(&f.Hosts, fmt.Sprintf("aPP%d", r.IntN(4)))
		maybe(&f.Paths, fmt.Sprintf("/wf%d", r.IntN(4)))
		maybe(&f.Labels, fmt.Sprintf("label%d", r.IntN(41)))
		maybe(&f.CallerIPs, fmt.Sprintf("10.0.0.%d", r.IntN(5)))
		maybe(&f.RunIDs, ids[r.IntN(len(ids))])
		maybe(&f.RunIDs, fmt.Sprintf("wfr_%d", r.IntN(9)))
		f.IDPrefix, f.URLPrefix = r.IntN(3) == 0, r.IntN(3) == 0
		if r.IntN(5) == 0 {
			f.States = []workflow.RunState{workflow.RunState(r.IntN(4))}
		}
		if r.IntN(6) == 0 {
			f.From = w.now - r.Int64N(20*3_600_000)
		}
		if r.IntN(6) == 0 {
			f.To = w.now - r.Int64N(20*3_600_000)
		}
		limit := 1 + r.IntN(200)
		got, want := runsOf(t, w.pairs[0].s.Thawing(), f, limit), runsOf(t, w.pairs[1].s, f, limit)
		if !slices.Equal(got, want) {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Fatalf("%+v: %d runs, want %d; the %dth differs:\n%.300s\n%.300s", *f, len(got), len(want), i, append(got, "")[i], append(want, "")[i])
		}
	}
	for _, id := range ids {
		a, b := w.pairs[0].s.Thawing(), w.pairs[1].s
		was := b.Find(id, 0)
		if is := a.Find(id, 0); is == nil || told(a, is) != told(b, was) {
			t.Fatalf("run %s is not as it was", id)
		}
		if n := len(a.Named(id)); n != len(b.Named(id)) {
			t.Fatalf("%d runs are named %s", n, id)
		}
	}
	for range 400 { // lists may lack runs then, and nothing else happens
		d := w.pairs[0].s.Damaged(func(b []byte) []byte {
			if r.IntN(3) == 0 {
				b = b[:1+r.IntN(len(b)-1)]
			}
			for range 1 + r.IntN(3) {
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			}
			return b
		})
		for after, more := uint64(0), true; more; {
			var list []*workflow.Run
			list, after, more = d.Runs(&workflow.Filter{}, workflow.Page{After: after, Limit: 500})
			for _, run := range list {
				told(d, run)
				d.LatestUntil(run, w.now)
			}
		}
	}
}
