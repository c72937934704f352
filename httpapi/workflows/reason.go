package workflows

import (
	"fmt"
	"net/url"

	"github.com/trireme-dev/trireme/fsm/workflow"
)

// reason sets the word and the sentence that explain the run's state.
func (e *explainer) reason(at *workflow.Entry) {
	n := e.out
	switch {
	case e.run.State == workflow.Succeeded:
		n.Reason, n.Text = "succeeded", "the run is over: its endpoint has ended it with a result"
	case e.run.State == workflow.Canceled:
		n.Reason, n.Text = "canceled", "the run was cancelled; nothing more will happen"
	case e.run.State == workflow.Failed:
		n.Reason, n.Text = "failed", e.failure(at)
	case e.run.Hold == workflow.HeldPaused:
		n.Reason, n.Text = "paused", e.paused()
	case e.run.Hold == workflow.HeldBehind:
		n.Reason, n.Text = "behind-singleton", "another run of its singleton "+e.run.Gather.Key+" comes first"
	case at == nil:
		n.Reason, n.Text = "empty", "the run has no log"
	case at.State == workflow.Retrying:
		n.Reason, n.Text = "retrying", e.retrying(at)
	case len(n.Awaits) > 0:
		n.Reason, n.Text = n.Awaits[0].Type, n.Awaits[0].Text
		if k := len(n.Awaits); k > 1 {
			n.Text += fmt.Sprintf("; and %d more", k-1)
		}
	case at.State == workflow.Pending && at.FirstAt > e.now && e.run.Gather != nil && e.run.Entries == 1:
		n.Reason, n.Text = "debounced", "it starts at "+clock(at.FirstAt)+" with the last input, unless another comes before"
	case at.State == workflow.Pending && at.FirstAt > e.now:
		n.Reason, n.Text = "delay", "the run was triggered to start at "+clock(at.FirstAt)
	case at.State == workflow.Pending:
		n.Reason, n.Text = "delivery", "the next call of the endpoint is due or under way"
		if d := n.Delivery; d != nil {
			n.Reason, n.Text = d.Reason, d.Text
		}
	default:
		n.Reason = "abandoned"
		n.Text = "the endpoint has answered every call with 2xx, but has neither submitted a step nor ended the run; nothing will call it again"
	}
}

// paused says why a run is paused, and adds the request that has it go on.
func (e *explainer) paused() string {
	text := "the run is paused at the end of its retries"
	if f := e.run.Fault; f != nil {
		text += fmt.Sprintf(": the last call failed %s", outcome(&workflow.Attempt{Response: f.Response, Error: f.Error}))
	}
	if step := e.out.ErrorStepName; step != "" {
		text += fmt.Sprintf(", in the step %q", step)
	}
	e.out.Resume = e.ask("POST", "/v2/workflows/runs/"+url.PathEscape(e.run.ID)+"/resume", "")
	return text + "; resumed, it goes on from there with all its retries"
}

// failure says how a run has failed, and adds the command that makes it go on.
func (e *explainer) failure(at *workflow.Entry) string {
	text := "the run has failed for good"
	if f := e.run.Fault; f != nil {
		text += fmt.Sprintf(" after %d of %s: the last call of its endpoint failed %s", f.Retried, several(f.Retries, "retry", "retries"), outcome(&workflow.Attempt{Response: f.Response, Error: f.Error}))
	}
	if step := e.out.ErrorStepName; step != "" {
		text += fmt.Sprintf(", in the step %q", step)
	}
	if at != nil && len(at.Errors) > 0 && at.Errors[len(at.Errors)-1].Status == 489 {
		text += " (not retryable)"
	}
	if dead := deadID(e.run); dead != "" {
		text += "; resume it with its dlqId " + dead
		e.out.Resume = e.ask("POST", "/v2/workflows/dlq/resume/"+dead, "")
	}
	return text
}

// retrying says how often a call has failed, of the endpoint or of a third party, and what comes next.
func (e *explainer) retrying(at *workflow.Entry) string {
	text := fmt.Sprintf("attempt %d of %d failed", at.Retried, at.Retries+1)
	if at.Kind == workflow.CallEntry {
		text = "the third party: " + text
	}
	if k := len(at.Errors); k > 0 {
		text += " " + outcome(&at.Errors[k-1])
	}
	if at.Next > e.now {
		return text + "; the next try comes at " + clock(at.Next)
	}
	if d := e.deliveryOf(at); d != nil {
		return text + "; of the next: " + d.Text
	}
	return text
}

// outcome describes a failed attempt in few words.
func outcome(a *workflow.Attempt) string {
	switch {
	case a.Status == 0:
		return "without an answer: " + a.Error
	case a.Error != "":
		return fmt.Sprintf("with status %d (%s)", a.Status, a.Error)
	}
	return fmt.Sprintf("with status %d", a.Status)
}

// several returns a number with its noun, one for 1 and more for any other.
func several(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
