package workflows

import (
	"encoding/json"
	"net/http"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// inlineStep is a step that an endpoint records by the delivery that it is answering, and the end of the run.
type inlineStep struct {
	// Attempt is the delivery, as its header Workflow-Attempt names it.
	Attempt string `json:"attempt"`
	Created int64  `json:"workflowCreatedAt"`
	// Step is the result of a step, as SDKs submit it. Last is the step that the endpoint has seen or recorded last, where there is no Step.
	Step json.RawMessage `json:"step"`
	Last uint32          `json:"lastStepId"`
	// End ends the run, after Step.
	End *struct {
		Result *string `json:"result"`
	} `json:"end"`
}

// wentOn is the answer to it.
type wentOn struct {
	// Inline: the endpoint continues, or has ended the run. Otherwise another delivery continues the run.
	Inline       bool   `json:"inline"`
	MessageID    string `json:"messageId,omitempty"`
	Deduplicated bool   `json:"deduplicated,omitempty"`
	Ended        bool   `json:"ended,omitempty"`
}

// recordStep answers POST /v2/workflows/runs/{id}/steps.
func (re *request) recordStep() error {
	body, err := re.json(jsonbody.Bounds{})
	if err != nil {
		return err
	}
	n, err := readInline(re.Plain(2), body)
	if err != nil {
		return err
	}
	if err := re.NeedFiles(re.r.Context()); err != nil {
		return err
	}
	out, err := propose(re, fsm.Submit, workflow.Submissions{Items: []workflow.Submission{n}})
	if err != nil {
		return err
	}
	p := &out.Items[0]
	if p.Refused != nil {
		return p.Refused
	}
	re.answer(http.StatusOK, wentOn{p.Inline, p.ID.String(), p.Deduplicated, p.Ended})
	return nil
}

// readInline reads what is to be recorded of a run.
func readInline(run string, body []byte) (n workflow.Submission, err error) {
	var in inlineStep
	if err := json.Unmarshal(body, &in); err != nil {
		return n, messages.Invalid("invalid body: %s", jsonbody.Fault(err))
	}
	attempt, ok := queue.ParseAttempt(in.Attempt)
	switch {
	case !ok:
		return n, messages.Invalid("invalid attempt: send the header Workflow-Attempt of the delivery")
	case len(in.Step) == 0 && in.End == nil:
		return n, messages.Invalid("neither a step nor the end of the run")
	}
	n = workflow.Submission{Kind: workflow.EndSubmission, RunID: run, Created: in.Created, Attempt: attempt, Step: workflow.Step{ID: in.Last}}
	if len(in.Step) > 0 {
		s, err := readStep(in.Step)
		if err != nil {
			return n, err
		}
		b := readBrought(in.Step)
		n.Kind, n.Step, n.Body, n.Features = workflow.StepSubmission, s.Step, in.Step, workflow.TriggerOnConfig
		n.Commit, n.State, n.Updates = b.Commit, b.State, b.Updates
	}
	if in.End != nil {
		n.End = &workflow.Ending{}
		if in.End.Result != nil {
			n.End.Result, n.End.HasResult = []byte(*in.End.Result), true
		}
	}
	return n, nil
}
