package workflows

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// forking is the body of a request for a fork of a run, which may be empty.
type forking struct {
	// Step is the step whose result is the last one that the fork takes over: 0 for the payload alone, all results without it.
	Step *uint32 `json:"step"`
	// RunID is the id of the fork, URL replaces that of the run.
	RunID string `json:"workflowRunId"`
	URL   string `json:"url"`
	// Database is one that is made for the fork, Keys are those of the run's keys that it gets: all of them without a name.
	Database string   `json:"database"`
	Keys     []string `json:"keys"`
}

// forkSource names the run that another one is a fork of.
type forkSource struct {
	WorkflowRunID        string `json:"workflowRunId"`
	WorkflowRunCreatedAt int64  `json:"workflowRunCreatedAt"`
	// StepID is the step with the last result that the fork has taken over, 0 if it has the payload alone.
	StepID uint32 `json:"stepId"`
}

func sourceOf(f *workflow.ForkSource) *forkSource {
	if f == nil {
		return nil
	}
	return &forkSource{f.RunID, f.Created, f.Step}
}

// forked is the answer to that request.
type forked struct {
	run
	ForkedFrom *forkSource `json:"forkedFrom"`
	*scratch
}

// fork answers POST /v2/workflows/runs/{id}/fork; workflowCreatedAt tells apart runs of one id.
func (re *request) fork() (*forked, error) {
	created, err := re.readCreated()
	if err != nil {
		return nil, err
	}
	in, n, err := re.readFork()
	if err != nil {
		return nil, err
	}
	if err := re.checkScratch(&in, &n); err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		now, err := re.takePart(&in, created, &n)
		if err != nil {
			return nil, err
		}
		if in.Database != "" {
			return re.forkInto(&in, &n, now)
		}
		out, err := propose(re, fsm.ForkRun, n)
		if errors.Is(err, queue.ErrNotFound) && try == 0 { // it has gone into a volume meanwhile, or is forgotten
			continue
		}
		if err != nil {
			return nil, err
		}
		return &forked{run: run{out.ID, out.Created}, ForkedFrom: sourceOf(&n.Of)}, nil
	}
}

// readFork reads what a request says of a fork.
func (re *request) readFork() (in forking, n workflow.Forking, err error) {
	body, err := re.json(jsonbody.Bounds{})
	if err != nil {
		return in, n, err
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &in); err != nil {
			return in, n, messages.Invalid("invalid body: %s", jsonbody.Fault(err))
		}
	}
	if err := re.NeedFiles(re.r.Context()); err != nil {
		return in, n, err
	}
	h := re.Parser.ReadHeaders(re.r.Header)
	if n.Options, err = h.OwnOptions(); err != nil {
		return in, n, err
	}
	if err := re.Commits(re.r, re.Query, h, &n.Options, &re.judged); err != nil {
		return in, n, err
	}
	n.Options.Given &^= queue.GivenHeader
	re.clean(&n.Options, ofCaller)
	if n.RunID = in.RunID; n.RunID == "" {
		n.RunID = h.Field("workflow-runid")
	}
	if in.URL != "" {
		n.URL, err = re.Parser.ReadPlainURL(in.URL)
	}
	return in, n, err
}

// takePart reads the part of the run's log that a fork takes over, as it is now, which is wall time in unix milliseconds. That part never
// changes, so the fork is the same whatever happens to the run until it is made.
func (re *request) takePart(in *forking, created int64, n *workflow.Forking) (now int64, err error) {
	id := re.Plain(2)
	read := re.view(func(v *fsm.View) {
		s := v.Workflows()
		r := s.Find(id, created)
		if r == nil {
			err = noRun(id)
			return
		}
		n.Of, n.No, n.Record, n.Log, err = workflow.ForkSource{RunID: r.ID, Created: r.Created}, r.No, nil, nil, nil
		var has bool
		if n.Entries, n.Of.Step, has = s.ForkPoint(r, in.Step); !has {
			err = noResult(s, r, *in.Step)
			return
		}
		list := s.ForkLog(r.No, n.Entries)
		n.Data = saidIn(list, r.Data)
		if now = v.Time().Wall; in.Database != "" || s.InVolume(r) {
			s.AppendRun(n, r)
		}
	})
	if read != nil {
		return 0, read
	}
	return now, err
}

// noResult refuses a fork at a step that has no result.
func noResult(s *workflow.Store, r *workflow.Run, step uint32) error {
	var list []uint32
	s.Log(r.No, func(_ uint32, e *workflow.Entry) bool {
		if e.IsResult() {
			list = append(list, e.Step.ID)
		}
		return true
	})
	text := "none of its steps has one, 0 is its payload"
	if len(list) > 0 {
		text = "its steps " + ranges(list) + " have one, 0 is its payload"
	}
	return &messages.Error{Status: http.StatusNotFound, Text: fmt.Sprintf("workflow run %s has no result of step %d: %s", r.ID, step, text)}
}

// ranges writes numbers as a list of ranges, such as 1 to 4, 6.
func ranges(list []uint32) string {
	slices.Sort(list)
	var b strings.Builder
	for i := 0; i < len(list); {
		from := i
		for i++; i < len(list) && list[i] <= list[i-1]+1; i++ {
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		if fmt.Fprint(&b, list[from]); list[i-1] > list[from] {
			fmt.Fprint(&b, " to ", list[i-1])
		}
	}
	return b.String()
}

// saidIn returns what the steps in a part of a log have said of their run, of which all is all they have said; nil if that is nothing.
func saidIn(list []*workflow.Entry, all *workflow.Data) *workflow.Data {
	d := workflow.Data{Values: keptIn(list, all)}
	for i, e := range list {
		if i == 0 || e.Kind != workflow.StepEntry {
			continue
		}
		b := readBrought(e.Body.Bytes())
		if len(b.State) > 0 {
			d.State, d.Version, d.At, d.Step, d.StepName = b.State, d.Version+1, e.Created, e.Number(), e.Name
			if string(b.State) == "null" {
				d.State = nil
			}
		}
		if rules, err := workflow.ReadUpdates(b.Updates); len(b.Updates) > 0 && err == nil {
			d.Declared, d.Updates = true, rules
		}
	}
	if d.Version == 0 && !d.Declared && len(d.Values) == 0 {
		return nil
	}
	return &d
}
