package workflows

import (
	"slices"
	"strconv"
	"strings"

	"trireme/fsm"
	"trireme/fsm/flow"
	"trireme/httpapi/messages"
)

// maxEvents is the most events of a page, and how many it has without a count.
const maxEvents = 1000

// runEvent is one thing that happened to a run.
type runEvent struct {
	Time                     int64               `json:"time"`
	State                    string              `json:"state"`
	WorkflowRunID            string              `json:"workflowRunId"`
	WorkflowURL              string              `json:"workflowUrl"`
	WorkflowCreatedAt        int64               `json:"workflowCreatedAt"`
	StepInfo                 *stepLog            `json:"stepInfo,omitempty"`
	NextDeliveryTime         int64               `json:"nextDeliveryTime,omitempty"`
	Error                    string              `json:"error,omitempty"`
	ResponseStatus           int                 `json:"responseStatus,omitempty"`
	ResponseBody             string              `json:"responseBody,omitempty"`
	ResponseHeaders          map[string][]string `json:"responseHeaders,omitempty"`
	Headers                  map[string][]string `json:"headers,omitempty"`
	InvokerWorkflowRunID     string              `json:"invokerWorkflowRunId,omitempty"`
	InvokerWorkflowURL       string              `json:"invokerWorkflowUrl,omitempty"`
	InvokerWorkflowCreatedAt int64               `json:"invokerWorkflowCreatedAt,omitempty"`
	WorkflowRunResponse      *string             `json:"workflowRunResponse,omitempty"`
	DlqID                    string              `json:"dlqId,omitempty"`
	Label                    string              `json:"label,omitempty"`
	Labels                   []string            `json:"labels,omitempty"`
	CallerIP                 string              `json:"callerIp,omitempty"`
}

// eventPage is a page of events.
type eventPage struct {
	Cursor string      `json:"cursor,omitempty"`
	Events []*runEvent `json:"events"`
}

// stepStates are the states of steps that events may be chosen by, beside those of runs.
var stepStates = []string{stepSuccess, stepRetry, stepFailed, stepProgress, stepCanceled}

// runEvents are the events of a run, the newest first.
func runEvents(store *flow.Store, run *flow.Run, now int64, trim int) []*runEvent {
	log := renderRun(store, run, now, trim)
	base := runEvent{
		WorkflowRunID: run.ID, WorkflowURL: run.URL, WorkflowCreatedAt: run.Created, Label: log.Label, Labels: log.Labels, CallerIP: run.CallerIP,
	}
	if v := log.Invoker; v != nil {
		base.InvokerWorkflowRunID, base.InvokerWorkflowURL, base.InvokerWorkflowCreatedAt = v.WorkflowRunID, v.WorkflowURL, v.WorkflowRunCreatedAt
	}
	var list []*runEvent
	add := func(at int64, state string) *runEvent {
		n := base
		n.Time, n.State = at, state
		list = append(list, &n)
		return &n
	}
	add(run.Created, flow.Started.String()).Headers = shown{run.Redact, trim}.header(run.Header)
	for _, g := range log.Steps {
		for _, step := range g.Steps {
			stepEvents(step, g.Type, add)
		}
	}
	if !run.Active() {
		n := add(run.Completed, run.State.String())
		n.WorkflowRunResponse, n.DlqID = log.WorkflowRunResponse, log.DlqID
	}
	slices.SortStableFunc(list, func(a, b *runEvent) int { return int(a.Time - b.Time) })
	slices.Reverse(list)
	return list
}

// stepEvents adds the events of a step: each failed attempt, and how far it is.
func stepEvents(step *stepLog, group string, add func(int64, string) *runEvent) {
	at := step.CreatedAt
	for i := range step.Errors {
		e, state := &step.Errors[i], stepRetry
		if i == len(step.Errors)-1 && step.State == stepFailed {
			state = stepFailed
		}
		n := add(e.Time, state)
		n.StepInfo, n.Error, n.ResponseStatus, n.ResponseBody, n.ResponseHeaders = step, e.Error, e.Status, e.Body, e.Headers
		if i == len(step.Errors)-1 {
			n.NextDeliveryTime = step.NextDeliveryTime
		}
		at = e.Time
	}
	if group != nextGroup && step.State != stepFailed && step.State != stepRetry {
		add(at, step.State).StepInfo = step
	}
}

// eventCursor is the run that a page ended in, and how many of its events, the oldest,
// are left for the next.
type eventCursor struct {
	run  uint64
	left int
}

func (c eventCursor) String() string {
	return strconv.FormatUint(c.run, 36) + "." + strconv.Itoa(c.left)
}

func parseEventCursor(text string) (c eventCursor, err error) {
	if text == "" {
		return c, nil
	}
	run, n, _ := strings.Cut(text, ".")
	var err2 error
	c.run, err = strconv.ParseUint(run, 36, 64)
	c.left, err2 = strconv.Atoi(n)
	if err != nil || err2 != nil || c.run == 0 || c.left < 1 {
		return c, messages.Invalid("invalid cursor %q", text)
	}
	return c, nil
}

// events answers single events: those of the newest run first, of each run the newest
// first. They are read off the logs of the runs.
func (q *request) events() (*eventPage, error) {
	s, states, err := q.chooseEvents()
	if err != nil {
		return nil, err
	}
	cursor, err := parseEventCursor(s.cursor)
	if err != nil || s.none {
		return &eventPage{Events: []*runEvent{}}, err
	}
	return q.eventPage(s, states, cursor)
}

// chooseEvents reads what a list of events is to show. Their states are those of runs and
// of steps.
func (q *request) chooseEvents() (c *choice, states []string, err error) {
	given := q.parameters()
	for _, text := range values(given).list("state") {
		text = strings.ToUpper(text)
		run, ok := flow.ParseRunState(text)
		if ok {
			text = run.String()
		} else if !slices.Contains(stepStates, text) {
			return nil, nil, messages.Invalid("invalid state %q", text)
		}
		states = append(states, text)
	}
	given.Del("state")
	own := *q
	own.query = given.Encode()
	c, _, err = own.choose(runNames, maxEvents)
	return c, states, err
}

// eventPage collects a page, run by run.
func (q *request) eventPage(s *choice, states []string, at eventCursor) (*eventPage, error) {
	page, size := &eventPage{Events: []*runEvent{}}, 0
	after, more := at.run, true
	if at.run > 0 {
		after++ // its run has more
	}
	for more && page.Cursor == "" {
		err := q.view(func(v *fsm.View) {
			var list []*flow.Run
			list, after, more = v.Flows().Runs(&s.filter.Filter, flow.Page{After: after, Limit: maxRuns})
			for _, r := range list {
				list := runEvents(v.Flows(), r, v.Now(), s.trim)
				if r.No == at.run {
					list = list[max(len(list)-at.left, 0):]
				}
				if !page.add(r.No, list, s, states, &size) {
					return
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return page, nil
}

// add adds events of a run as long as there is place.
func (p *eventPage) add(run uint64, list []*runEvent, s *choice, states []string, size *int) bool {
	for i, e := range list {
		if len(states) > 0 && !slices.Contains(states, e.State) {
			continue
		}
		if len(p.Events) == s.limit || *size >= maxPageBytes {
			p.Cursor = eventCursor{run, len(list) - i}.String()
			return false
		}
		*size += e.size()
		p.Events = append(p.Events, e)
	}
	return true
}

// size is about how much an event adds to a page, in bytes.
func (e *runEvent) size() int {
	n := 512 + len(e.ResponseBody)
	if e.StepInfo == nil {
		return n
	}
	for _, text := range []*string{e.StepInfo.Out, e.StepInfo.CallBody, e.StepInfo.CallResponseBody, e.StepInfo.InvokedWorkflowRunBody} {
		if text != nil {
			n += len(*text)
		}
	}
	return n
}
