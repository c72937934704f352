package workflows

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// TestTimeline reads the events of drawn runs in pages, with room for a few events only, and compares that with all of
// them in order.
func TestTimeline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		past := drawPast(t)
		f := workflow.Filter{From: past.date("from"), To: past.date("to")}
		want := past.sorted(&f)
		limit := rapid.IntRange(1, 6).Draw(t, "limit")
		begin, got := moment{}, []string{}
		for more := true; more && len(got) <= len(want); {
			line := &timeline{store: past.flows, now: past.now, trim: -1, begin: begin, room: 2000}
			line.gather(f)
			page := &eventPage{}
			if err := page.fill(t.Context(), line, limit, nil); err != nil {
				t.Fatal(err)
			}
			for _, e := range page.Events {
				got = append(got, word(e))
			}
			if more = page.Cursor != ""; more && len(page.Events) != limit {
				t.Fatalf("a page of %d events has a cursor", len(page.Events))
			}
			var err error
			if begin, err = parseMoment(page.Cursor); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("pages of %d tell\n%q\nand not\n%q", limit, got, want)
		}
	})
}

// word describes an event in few words.
func word(e *runEvent) string {
	text := fmt.Sprintf("%d %s %s", e.Time, e.WorkflowRunID, e.State)
	if e.StepInfo != nil {
		text += " " + e.StepInfo.StepName
	}
	return text
}

// past is a random history of some runs.
type past struct {
	t     *rapid.T
	flows *workflow.Store
	mail  *queue.Store
	now   int64
	index uint64
}

const firstDay = 1_790_000_000_000

func drawPast(t *rapid.T) *past {
	p := &past{t: t, flows: workflow.New(), mail: queue.New(), now: firstDay}
	runs := rapid.IntRange(1, 6).Draw(t, "runs")
	steps := make([]uint32, runs)
	for range rapid.IntRange(0, 40).Draw(t, "happenings") {
		p.now += int64(rapid.SampledFrom([]int{0, 0, 1, 7, 1000}).Draw(t, "time"))
		i := rapid.IntRange(0, runs-1).Draw(t, "run")
		p.happen(fmt.Sprintf("wfr_%d", i), &steps[i])
	}
	return p
}

// happen lets something happen to a run of which so many steps are done.
func (p *past) happen(id string, steps *uint32) {
	p.index++
	e := env.New(p.index, p.now, env.Latest, [16]byte{byte(p.index), byte(p.index >> 8)}, 0)
	what := rapid.IntRange(0, 9).Draw(p.t, "what")
	switch {
	case p.flows.Find(id, 0) == nil:
		n := workflow.Submission{Kind: workflow.InitSubmission, URL: "http://app:3000/wf", RunID: id}
		workflow.CompleteStart(&n)
		p.submit(e, n)
	case what == 0:
		_, err := p.flows.End(e, p.mail, workflow.Ending{RunID: id, Result: []byte("1"), HasResult: true})
		p.good(err)
	case what == 1:
		n := workflow.Await{RunID: id, EventID: "go", Timeout: 60_000, TimeoutText: "60s", URL: "http://app:3000/wf"}
		n.Step = workflow.Step{ID: *steps + 1, Concurrent: 1, Type: workflow.Wait, Name: "wait"}
		n.Open = fmt.Appendf(nil, `{"stepId":%d,"stepType":"Wait"`, *steps+1)
		_, _ = p.flows.Await(e, p.mail, n) // a run that is over waits for nothing
	default:
		*steps++
		s := workflow.Step{ID: *steps, Concurrent: 1, Type: workflow.RunStep, Name: fmt.Sprint("step ", *steps)}
		p.submit(e, workflow.Submission{Kind: workflow.StepSubmission, URL: "http://app:3000/wf", RunID: id, Body: []byte(`{"out":"1"}`), Step: s, Features: workflow.TriggerOnConfig})
	}
}

func (p *past) submit(e *env.Env, n workflow.Submission) {
	_, err := p.flows.Submit(e, p.mail, workflow.Submissions{Items: []workflow.Submission{n}})
	p.good(err)
}

func (p *past) good(err error) {
	if err != nil {
		p.t.Fatal(err)
	}
}

// date draws a bound of events, or none.
func (p *past) date(name string) int64 {
	if rapid.Bool().Draw(p.t, name+" given") {
		return 0
	}
	return rapid.Int64Range(firstDay-1, p.now+1).Draw(p.t, name)
}

// sorted returns all events between the filter's dates, the newest first.
func (p *past) sorted(f *workflow.Filter) []string {
	var all []*runEvent
	runs, _, _ := p.flows.Runs(&workflow.Filter{}, workflow.Page{Limit: 1000})
	for _, r := range runs { // the newest first
		all = append(all, runEvents(p.flows, r, p.now, -1)...)
	}
	slices.SortStableFunc(all, func(a, b *runEvent) int { return int(b.Time - a.Time) })
	words := []string{}
	for _, e := range all {
		if (f.From == 0 || e.Time >= f.From) && (f.To == 0 || e.Time <= f.To) {
			words = append(words, word(e))
		}
	}
	return words
}
