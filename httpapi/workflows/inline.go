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

// maxInline is the most steps that an endpoint may record by one request.
const maxInline = 100

// inlineSteps are steps that an endpoint records by the delivery that it is answering, and the end of the run.
type inlineSteps struct {
	// Attempt is the delivery, as its header Workflow-Attempt names it.
	Attempt string `json:"attempt"`
	Created int64  `json:"workflowCreatedAt"`
	// Steps are the results of steps, as SDKs submit them, in their order. Last is the step that the endpoint has seen or recorded last,
	// where there are none.
	Steps []json.RawMessage `json:"steps"`
	Last  uint32            `json:"lastStepId"`
	// End ends the run, after Steps.
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

// recordSteps answers POST /v2/workflows/runs/{id}/steps.
func (re *request) recordSteps() error {
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
	out, err := propose(re, fsm.Submit, n)
	if err != nil {
		return err
	}
	p := &out.Items[len(out.Items)-1]
	if p.Refused != nil {
		return p.Refused
	}
	re.answer(http.StatusOK, wentOn{p.Inline, p.ID.String(), p.Deduplicated, p.Ended})
	return nil
}

// readInline reads what is to be recorded of a run.
func readInline(run string, body []byte) (all workflow.Submissions, err error) {
	var in inlineSteps
	if err := json.Unmarshal(body, &in); err != nil {
		return all, messages.Invalid("invalid body: %s", jsonbody.Fault(err))
	}
	attempt, ok := queue.ParseAttempt(in.Attempt)
	switch {
	case !ok:
		return all, messages.Invalid("invalid attempt: send the header Workflow-Attempt of the delivery")
	case len(in.Steps) == 0 && in.End == nil:
		return all, messages.Invalid("neither a step nor the end of the run")
	case len(in.Steps) > maxInline:
		return all, messages.Invalid("%d steps are more than the %d of one request", len(in.Steps), maxInline)
	}
	of := workflow.Submission{Kind: workflow.StepSubmission, RunID: run, Created: in.Created, Attempt: attempt}
	for _, text := range in.Steps {
		s, err := readStep(text)
		if err != nil {
			return all, err
		}
		b := readBrought(text)
		n := of
		n.Step, n.Body, n.Features = s.Step, text, workflow.TriggerOnConfig
		n.Commit, n.State, n.Updates = b.Commit, b.State, b.Updates
		all.Items = append(all.Items, n)
	}
	if in.End == nil {
		return all, nil
	}
	if len(all.Items) == 0 {
		of.Kind, of.Step.ID = workflow.EndSubmission, in.Last
		all.Items = append(all.Items, of)
	}
	end := &workflow.Ending{}
	if in.End.Result != nil {
		end.Result, end.HasResult = []byte(*in.End.Result), true
	}
	all.Items[len(all.Items)-1].End = end
	return all, nil
}
