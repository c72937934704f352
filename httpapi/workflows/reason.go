package workflows

import (
	"fmt"

	"trireme/fsm/flow"
)

// reason says in a word and a sentence why the run is where it is.
func (e *explainer) reason(at *flow.Entry) {
	n := e.out
	switch {
	case e.run.State == flow.Succeeded:
		n.Reason, n.Text = "succeeded", "the run is over: its endpoint has ended it with a result"
	case e.run.State == flow.Canceled:
		n.Reason, n.Text = "canceled", "the run was cancelled; nothing more will happen"
	case e.run.State == flow.Failed:
		n.Reason, n.Text = "failed", e.failure(at)
	case at == nil:
		n.Reason, n.Text = "empty", "the run has no log"
	case at.State == flow.Retrying:
		n.Reason, n.Text = "retrying", e.retrying(at)
	case len(n.Awaits) > 0:
		n.Reason, n.Text = n.Awaits[0].Type, n.Awaits[0].Text
		if k := len(n.Awaits); k > 1 {
			n.Text += fmt.Sprintf("; and %d more", k-1)
		}
	case at.State == flow.Pending && at.FirstAt > e.now:
		n.Reason, n.Text = "delay", "the run was triggered to start at "+clock(at.FirstAt)
	case at.State == flow.Pending:
		n.Reason, n.Text = "delivery", "the next call of the endpoint is due or under way"
		if d := n.Delivery; d != nil {
			n.Reason, n.Text = d.Reason, d.Text
		}
	default:
		n.Reason = "abandoned"
		n.Text = "the endpoint has answered every call with 2xx, but has neither submitted a step nor ended the run; nothing will call it again"
	}
}

func (e *explainer) failure(at *flow.Entry) string {
	text := "the run has failed for good"
	if f := e.run.Fault; f != nil {
		text += fmt.Sprintf(" after %d retries of %d: its endpoint answered %s", f.Retried, f.Retries, outcome(&flow.Attempt{Response: f.Response, Error: f.Error}))
	}
	if at != nil && len(at.Errors) > 0 && at.Errors[len(at.Errors)-1].Status == 489 {
		text += " (not retryable)"
	}
	if dead := deadID(e.run); dead != "" {
		text += "; resume it with its dlqId " + dead
	}
	return text
}

func (e *explainer) retrying(at *flow.Entry) string {
	last := at.Errors[len(at.Errors)-1]
	return fmt.Sprintf("attempt %d of %d failed %s; the next try comes at %s", at.Retried, at.Retries+1, outcome(&last), clock(at.Next))
}
