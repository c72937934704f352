package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// runView is a page of GET /v2/workflows/runs/{id}/steps.
type runView struct {
	ID        string      `json:"workflowRunId"`
	URL       string      `json:"workflowUrl"`
	State     string      `json:"workflowState"`
	Created   int64       `json:"workflowRunCreatedAt"`
	Completed int64       `json:"workflowRunCompletedAt"`
	Response  string      `json:"workflowRunResponse"`
	Labels    []string    `json:"labels"`
	FlowKey   string      `json:"flowControlKey"`
	DlqID     string      `json:"dlqId"`
	Invoker   *runRef     `json:"invoker"`
	Groups    []stepGroup `json:"steps"`
	Now       int64       `json:"now"`
	Cursor    string      `json:"cursor"`
}

type runRef struct {
	ID string `json:"workflowRunId"`
}

type stepGroup struct {
	Type  string      `json:"type"`
	Steps []timedStep `json:"steps"`
}

// timedStep is a step with its times, in unix milliseconds (0 = it did not happen).
type timedStep struct {
	ID       int           `json:"stepId"`
	Name     string        `json:"stepName"`
	Type     string        `json:"stepType"`
	State    string        `json:"state"`
	Recorded int64         `json:"createdAt"`
	Planned  int64         `json:"plannedAt"` // of a branch of a block
	Due      int64         `json:"dueAt"`
	Failures []stepFailure `json:"failures"`
	NextAt   int64         `json:"nextAt"`
	WakesAt  int64         `json:"wakesAt"`
	Began    int64         `json:"beganAt"`
	Ended    int64         `json:"endedAt"`
	Wait     *struct {
		Event    string `json:"eventId"`
		Since    int64  `json:"since"`
		TimedOut bool   `json:"timedOut"`
	} `json:"wait"`
	Call *struct {
		URL      string        `json:"url"`
		Method   string        `json:"method"`
		Called   int64         `json:"calledAt"`
		Status   int           `json:"status"`
		Answered int64         `json:"answeredAt"`
		Failures []stepFailure `json:"failures"`
	} `json:"call"`
	Invoked *struct {
		ID        string `json:"workflowRunId"`
		State     string `json:"workflowState"`
		Created   int64  `json:"createdAt"`
		Completed int64  `json:"completedAt"`
	} `json:"invoked"`
	parallel bool
}

type stepFailure struct {
	Time   int64 `json:"time"`
	Status int   `json:"status"`
}

// timedSteps reads all steps of a run.
func (s *session) timedSteps(id string) (all runView, err error) {
	for cursor := ""; ; cursor = all.Cursor {
		path := s.in("/v2/workflows/runs/" + escape(id) + "/steps")
		if cursor != "" {
			path += "?cursor=" + escape(cursor)
		}
		text, err := s.get(path)
		if err != nil {
			return all, err
		}
		groups := all.Groups
		all = runView{}
		if json.Unmarshal(text, &all) != nil {
			return all, s.noNode()
		}
		if all.Groups = append(groups, all.Groups...); all.Cursor == "" {
			return all, nil
		}
	}
}

// flat returns the steps of all groups in their order.
func (rv *runView) flat() (all []timedStep) {
	for _, g := range rv.Groups {
		for _, n := range g.Steps {
			n.parallel = g.Type == "parallel"
			all = append(all, n)
		}
	}
	return all
}

// end returns when a run was over, or what time it is.
func (rv *runView) end() int64 {
	if rv.Completed > 0 {
		return rv.Completed
	}
	return max(rv.Now, rv.Created)
}

// A span is a part of a step's time.
type span struct {
	from, to int64
	waits    bool // nothing is done in it
}

// spans returns what a step did when, up to a time.
func (ts *timedStep) spans(now int64) (all []span) {
	begin := ts.Due
	if begin == 0 {
		begin = ts.Recorded
	}
	over := ts.Recorded
	if ts.State == "STEP_PROGRESS" || ts.State == "STEP_RETRY" || over == 0 {
		over = now
	}
	if ts.State == "STEP_FAILED" && len(ts.Failures) > 0 {
		over = max(over, ts.Failures[len(ts.Failures)-1].Time)
	}
	if begin == 0 {
		return nil
	}
	add := func(from, to int64, waits bool) {
		if from > 0 && to >= from {
			all = append(all, span{from, to, waits})
		}
	}
	switch {
	case ts.Wait != nil && ts.Wait.Since > 0:
		add(begin, ts.Wait.Since, false)
		add(ts.Wait.Since, over, true)
	case ts.WakesAt > 0 && ts.Planned > 0: // a branch sleeps first; then the endpoint is called for it
		add(ts.Planned, min(ts.WakesAt, now), true)
		add(ts.WakesAt, over, false)
	case ts.WakesAt > 0:
		add(begin, ts.Recorded, false)
		add(ts.Recorded, min(ts.WakesAt, now), true)
	case ts.Call != nil && ts.Call.Called > 0:
		answered := ts.Call.Answered
		if answered == 0 {
			answered = now
		}
		add(begin, answered, false)
	case ts.Invoked != nil && ts.Invoked.Created > 0:
		ended := ts.Invoked.Completed
		if ended == 0 {
			ended = now
		}
		add(begin, ts.Invoked.Created, false)
		add(ts.Invoked.Created, ended, true)
	case ts.State == "STEP_RETRY" && len(ts.Failures) > 0:
		add(begin, ts.Failures[len(ts.Failures)-1].Time, false)
		add(ts.Failures[len(ts.Failures)-1].Time, over, true)
	default:
		add(begin, over, false)
	}
	return all
}

// time returns how long a step took up to now, in milliseconds, and -1 if it has not begun.
func (ts *timedStep) time(now int64) int64 {
	if ts.Began == 0 {
		return -1
	}
	return max(0, cmp.Or(ts.Ended, now)-ts.Began)
}

// note says what else there is about a step.
func (ts *timedStep) note() string {
	var all []string
	if k := len(ts.Failures); k > 0 {
		all = append(all, fmt.Sprintf("%d failed (%d)", k, ts.Failures[k-1].Status))
	}
	switch {
	case ts.Wait != nil:
		all = append(all, "event "+ts.Wait.Event)
		if ts.Wait.TimedOut {
			all = append(all, "timed out")
		}
	case ts.Call != nil:
		call := ts.Call.Method + " " + ts.Call.URL
		if ts.Call.Status > 0 {
			call = fmt.Sprintf("%d %s", ts.Call.Status, call)
		}
		if k := len(ts.Call.Failures); k > 0 {
			call += fmt.Sprintf(", %d failed", k)
		}
		all = append(all, call)
	case ts.Invoked != nil:
		all = append(all, "run "+ts.Invoked.ID+" "+ts.Invoked.State)
	case ts.WakesAt > 0:
		all = append(all, "until "+when.data(fmt.Sprint(ts.WakesAt)))
	}
	if ts.NextAt > 0 {
		all = append(all, "next at "+when.data(fmt.Sprint(ts.NextAt)))
	}
	return strings.Join(all, "; ")
}

// barWidth is the width of the bars of a waterfall where the terminal doesn't say.
const barWidth = 30

// marks are the characters of a bar: where something is done, where it waits, and a failure.
type marks struct{ works, waits, fails string }

// bar draws the spans of a step between two times.
func (ts *timedStep) bar(from, to int64, width int, m marks) string {
	cells := make([]string, width)
	for i := range cells {
		cells[i] = " "
	}
	at := func(t int64) int { return int(max(0, min(int64(width-1), (t-from)*int64(width)/max(1, to-from)))) }
	for _, sp := range ts.spans(to) {
		mark := m.works
		if sp.waits {
			mark = m.waits
		}
		total := max(1, to-from)
		last := int(((sp.to-from)*int64(width)+total-1)/total) - 1
		for i := at(sp.from); i <= max(at(sp.from), min(width-1, last)); i++ {
			cells[i] = mark
		}
	}
	for _, f := range ts.Failures {
		cells[at(f.Time)] = m.fails
	}
	return strings.TrimRight(strings.Join(cells, ""), " ")
}
