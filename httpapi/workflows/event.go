package workflows

import (
	"cmp"
	"slices"

	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/view"
)

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

// stepStates are the states of steps by which events may be selected, in addition to the states of runs.
var stepStates = []string{stepSuccess, stepRetry, stepFailed, stepProgress, stepCanceled}

// runEvents returns the events of a run, the newest first.
func runEvents(store *workflow.Store, run *workflow.Run, now int64, trim int) []*runEvent {
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
	add(run.Created, workflow.Started.String()).Headers = view.Redactor{Hide: run.Redact, Trim: trim}.Header(run.Header)
	for _, g := range log.Steps {
		for _, step := range g.Steps {
			stepEvents(step, g.Type, add)
		}
	}
	if !run.Active() {
		n := add(run.Completed, run.State.String())
		n.WorkflowRunResponse, n.DlqID = log.WorkflowRunResponse, log.DlqID
	}
	slices.SortStableFunc(list, func(a, b *runEvent) int { return cmp.Compare(a.Time, b.Time) })
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

// size estimates how much an event adds to a page, in bytes.
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
