package workflows

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// runState is the state of a run, as its steps have set it.
type runState struct {
	WorkflowRunID        string `json:"workflowRunId"`
	WorkflowRunCreatedAt int64  `json:"workflowRunCreatedAt"`
	WorkflowState        string `json:"workflowState"`
	// State is JSON, or the text that stands for it if the run redacts bodies.
	State json.RawMessage `json:"state"`
	// Version counts the changes of the state. Step is the step that set it, UpdatedAt the time of that in unix milliseconds.
	Version   uint64 `json:"version"`
	StepID    uint32 `json:"stepId"`
	StepName  string `json:"stepName,omitempty"`
	UpdatedAt int64  `json:"updatedAt"`
	// Updates are those that the run accepts, and their rules.
	Updates map[string]string `json:"updates,omitempty"`
}

// state answers GET /v2/workflows/runs/{id}/state.
func (re *request) state() (n *runState, err error) {
	id, found := re.Plain(2), false
	created, err := re.readCreated()
	if err != nil {
		return nil, err
	}
	err = re.view(func(v *fsm.View) {
		r := v.Workflows().Find(id, created)
		if n, found = nil, r != nil; found {
			n = stateOf(r)
		}
	})
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, noRun(id)
	case n == nil:
		return nil, &messages.Error{Status: http.StatusNotFound, Text: fmt.Sprintf("workflow run %s has no state: none of its steps has set one", id)}
	}
	return n, nil
}

// stateOf returns the state of a run, nil if it has none.
func stateOf(r *workflow.Run) *runState {
	d := r.Data
	if d == nil || d.State == nil {
		return nil
	}
	n := &runState{
		WorkflowRunID: r.ID, WorkflowRunCreatedAt: r.Created, WorkflowState: r.State.String(), State: d.State, Version: d.Version,
		StepID: d.Step, StepName: d.StepName, UpdatedAt: d.At,
	}
	if r.Redact != nil && r.Redact.Body {
		n.State, _ = json.Marshal(view.Redactor{Hide: r.Redact, Trim: view.All}.Text(d.State)) // a text always has a form
	}
	for _, rule := range r.Rules() {
		if n.Updates == nil {
			n.Updates = map[string]string{}
		}
		n.Updates[rule.Name] = rule.Condition
	}
	return n
}

// updated is the answer to an update.
type updated struct {
	Accepted     bool   `json:"accepted"`
	UpdateID     string `json:"updateId,omitempty"`
	Deduplicated bool   `json:"deduplicated,omitempty"`
	// MessageID is the result of the wait that took the update; without one it is kept until the run waits.
	MessageID string `json:"messageId,omitempty"`
	// StateVersion is that of the state that the update was held against.
	StateVersion uint64 `json:"stateVersion"`
	Error        string `json:"error,omitempty"`
	Rule         string `json:"rule,omitempty"`
}

// update answers POST /v2/workflows/runs/{id}/updates/{name}.
func (re *request) update() error {
	body, err := re.body()
	if err != nil {
		return err
	}
	if err := re.NeedFiles(re.r.Context()); err != nil {
		return err
	}
	n := workflow.Notification{
		RunID: re.Plain(2), EventID: re.Plain(4), Body: body, Update: true, UpdateID: re.Parser.ReadHeaders(re.r.Header).Field("update-id"),
	}
	out, err := propose(re, fsm.NotifyEvent, n)
	if err != nil {
		return err
	}
	v := out.Update
	answer := updated{Accepted: v.Accepted, UpdateID: v.ID, Deduplicated: v.Deduplicated, StateVersion: v.Version}
	if !v.Accepted {
		answer.Rule = v.Rule
		answer.Error = fmt.Sprintf("workflow run %s refuses the update %s: %s: %s", n.RunID, n.EventID, v.Refused, v.Rule)
		re.answer(http.StatusConflict, answer)
		return nil
	}
	if len(out.Woken) > 0 {
		answer.MessageID = out.Woken[0].Message.String()
	}
	re.answer(http.StatusOK, answer)
	return nil
}
