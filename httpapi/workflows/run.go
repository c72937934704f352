package workflows

import (
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// runLog is a run as logs show it.
type runLog struct {
	WorkflowRunID          string      `json:"workflowRunId"`
	WorkflowURL            string      `json:"workflowUrl"`
	WorkflowState          string      `json:"workflowState"`
	WorkflowRunCreatedAt   int64       `json:"workflowRunCreatedAt"`
	WorkflowRunCompletedAt int64       `json:"workflowRunCompletedAt,omitempty"`
	WorkflowRunCallerIP    string      `json:"workflowRunCallerIp,omitempty"`
	WorkflowRunResponse    *string     `json:"workflowRunResponse,omitempty"`
	Invoker                *invokerLog `json:"invoker,omitempty"`
	FailureFunction        *failureLog `json:"failureFunction,omitempty"`
	DlqID                  string      `json:"dlqId,omitempty"`
	Label                  string      `json:"label,omitempty"`
	Labels                 []string    `json:"labels,omitempty"`
	FlowControlKey         string      `json:"flowControlKey,omitempty"`
	CommitAs               string      `json:"commitAs,omitempty"`
	StateVersion           uint64      `json:"stateVersion,omitempty"`
	Debounce               string      `json:"debounce,omitempty"`
	Singleton              string      `json:"singleton,omitempty"`
	OnFailure              string      `json:"onFailure,omitempty"`
	Deployment             string      `json:"deployment,omitempty"`
	// Paused: it waits at the end of its retries.
	Paused     bool         `json:"paused,omitempty"`
	ForkedFrom *forkSource  `json:"forkedFrom,omitempty"`
	Steps      []*stepGroup `json:"steps"`
}

// invokerLog is the run that waits for this one.
type invokerLog struct {
	WorkflowRunID        string `json:"workflowRunId"`
	WorkflowURL          string `json:"workflowUrl"`
	WorkflowRunCreatedAt int64  `json:"workflowRunCreatedAt"`
}

// failureLog is the call of the failure function or failure URL, and its subject.
type failureLog struct {
	MessageID        string              `json:"messageId"`
	URL              string              `json:"url"`
	State            string              `json:"state"`
	FailHeaders      map[string][]string `json:"failHeaders,omitempty"`
	FailStatus       int                 `json:"failStatus"`
	FailResponse     string              `json:"failResponse"`
	DlqID            string              `json:"dlqId,omitempty"`
	ResponseBody     *string             `json:"responseBody,omitempty"`
	ResponseHeaders  map[string][]string `json:"responseHeaders,omitempty"`
	ResponseStatus   int                 `json:"responseStatus,omitempty"`
	Errors           []stepError         `json:"errors,omitempty"`
	MaxRetries       int                 `json:"maxRetries"`
	NextDeliveryTime int64               `json:"nextDeliveryTime,omitempty"`
}

// renderRun returns a run with its log as it is at now.
func renderRun(store *workflow.Store, run *workflow.Run, now int64, trim int) *runLog {
	show := view.Redactor{Hide: run.Redact, Trim: trim}
	n := renderHead(store, run, show)
	n.Steps = buildGroups(store, run, now, show)
	return n
}

// renderHead returns a run without its log.
func renderHead(store *workflow.Store, run *workflow.Run, show view.Redactor) *runLog {
	n := &runLog{
		WorkflowRunID: run.ID, WorkflowURL: run.URL, WorkflowState: run.State.String(), WorkflowRunCreatedAt: run.Created,
		WorkflowRunCompletedAt: run.Completed, WorkflowRunCallerIP: run.CallerIP, DlqID: deadID(run),
		Label: view.First(run.Labels), Labels: run.Labels, CommitAs: run.CommitAs,
		FailureFunction: renderFailure(store, run, show), Paused: run.Hold == workflow.HeldPaused, Deployment: run.Deployment, ForkedFrom: sourceOf(run.ForkOf),
	}
	n.Debounce, _, n.Singleton = view.Gathers(&run.Options)
	n.OnFailure = view.AtEnd(&run.Options)
	if run.Data != nil {
		n.StateVersion = run.Data.Version
	}
	if run.HasResult {
		text := show.Text(run.Result.Bytes())
		n.WorkflowRunResponse = &text
	}
	if run.Flow != nil {
		n.FlowControlKey = run.Flow.Key
	}
	if v := run.Invoker; v != nil {
		n.Invoker = &invokerLog{v.RunID, v.URL, v.Created}
	}
	return n
}

// deadID returns the id of the run's dead letter, empty if it has none.
func deadID(run *workflow.Run) string {
	if run.Dead == (queue.Stamp{}) {
		return ""
	}
	return run.Dead.String()
}

// renderFailure renders the call of a run's failure callback; nil if nothing was called, or if there was nothing to
// call.
func renderFailure(store *workflow.Store, run *workflow.Run, show view.Redactor) *failureLog {
	c, to := run.Callback, store.FailureCallback(run)
	if c == nil || c.NotFound || to == nil {
		return nil
	}
	n := &failureLog{
		MessageID: c.Message.String(), URL: to.URL, State: c.State.String(), DlqID: deadID(run),
		Errors: attemptErrors(show, c.Errors), MaxRetries: c.Retries,
	}
	if c.State == workflow.CallbackInProgress {
		n.NextDeliveryTime = c.Next
	}
	if f := run.Fault; f != nil {
		n.FailStatus, n.FailHeaders, n.FailResponse = f.Response.Status, view.Header(f.Response.Header), show.Answer(f.Response.Body)
	}
	if p := c.Response; p != nil {
		body := show.Answer(p.Body)
		n.ResponseStatus, n.ResponseHeaders, n.ResponseBody = p.Status, view.Header(p.Header), &body
	}
	return n
}

// stepError is an attempt that failed.
type stepError struct {
	Status  int                 `json:"status"`
	Headers map[string][]string `json:"headers,omitempty"`
	Body    string              `json:"body"`
	Error   string              `json:"error,omitempty"`
	Time    int64               `json:"time"`
}

func attemptErrors(show view.Redactor, list []workflow.Attempt) []stepError {
	out := make([]stepError, 0, len(list))
	for i := range list {
		out = append(out, attemptError(show, &list[i]))
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func attemptError(show view.Redactor, a *workflow.Attempt) stepError {
	return stepError{Status: a.Status, Headers: view.Header(a.Header), Body: show.Answer(a.Body), Error: a.Error, Time: a.At}
}
