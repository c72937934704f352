package workflows

import (
	"fmt"
	"time"

	"github.com/trireme-dev/trireme/fsm/workflow"
)

// await is an event outside of the run that has to happen.
type await struct {
	// Type is event, webhook, call, invoke or sleep.
	Type     string `json:"type"`
	StepID   uint32 `json:"stepId,omitempty"`
	StepName string `json:"stepName,omitempty"`
	Text     string `json:"text"`
	Deadline int64  `json:"deadline,omitempty"`
	EventID  string `json:"eventId,omitempty"`
	URL      string `json:"url,omitempty"`
	// WorkflowRunID and WorkflowState are of the invoked run.
	WorkflowRunID string `json:"workflowRunId,omitempty"`
	WorkflowState string `json:"workflowState,omitempty"`
	// Curl makes it happen by hand, where that is possible.
	Curl string `json:"curl,omitempty"`
}

// awaits lists what the run waits for from outside.
func (e *explainer) awaits() {
	for _, w := range e.store.WaitersOf(e.run.No) {
		e.awaitEvent(w)
	}
	done, called := e.scan()
	for _, call := range called {
		if !done[call.Step.Number()] {
			e.awaitCall(call)
		}
	}
	for step := range e.steps() {
		if child := e.store.Child(e.run.No, step); child != nil && !done[step] {
			e.out.Awaits = append(e.out.Awaits, await{
				Type: "invoke", StepID: step, StepName: invokedName(child), URL: child.URL, WorkflowRunID: child.ID, WorkflowState: child.State.String(),
				Text: fmt.Sprintf("the run %s, which this step has invoked, is %s", child.ID, child.State),
				Curl: e.ask("GET", "/v2/workflows/runs/"+child.ID+"/explain", ""),
			})
		}
	}
	e.store.Log(e.run.No, func(_ uint32, n *workflow.Entry) bool {
		if asleep(n, e.now) {
			e.out.Awaits = append(e.out.Awaits, await{
				Type: "sleep", StepID: n.Step.Number(), StepName: n.Name, Deadline: n.FirstAt,
				Text: "it sleeps until " + clock(n.FirstAt),
			})
		}
		return true
	})
}

func invokedName(child *workflow.Run) string {
	if child.Invoker == nil {
		return ""
	}
	return child.Invoker.Step.Name
}

func clock(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

func (e *explainer) awaitEvent(w *workflow.Waiter) {
	n := await{
		Type: "event", StepID: w.Step.Number(), StepName: w.Step.Name, EventID: w.EventID, Deadline: w.Deadline,
		Text: fmt.Sprintf("nobody has notified the event %q; the wait times out at %s", w.EventID, clock(w.Deadline)),
		Curl: e.ask("POST", "/v2/notify/"+pathEscape(w.EventID), "{}"),
	}
	if w.Step.Type == workflow.WaitForWebhook {
		n.Type = "webhook"
		n.Text = fmt.Sprintf("nobody has called the webhook %s; the wait times out at %s", w.EventID, clock(w.Deadline))
		n.URL, n.Curl = hookURL(e.store, e.run, w.EventID), ""
		if n.URL != "" {
			n.Curl = curlLine("POST", n.URL, nil, "{}")
		}
	}
	e.out.Awaits = append(e.out.Awaits, n)
}

func (e *explainer) awaitCall(call *workflow.Entry) {
	n := await{Type: "call", StepID: call.Step.Number(), StepName: call.Name, URL: call.URL}
	answer, ok := e.store.AnswerTo(e.run.No, call.Step.Number())
	switch {
	case ok:
		n.Text = fmt.Sprintf("the third party has answered %d; the endpoint has not taken the answer yet", answer.Answer.Status)
	case call.State == workflow.Retrying:
		n.Text = e.retrying(call)
		if call.Next > e.now {
			n.Deadline = call.Next
		}
	default:
		n.Text = "the third party has not answered yet"
	}
	n.Curl = e.curlCall(call)
	e.out.Awaits = append(e.out.Awaits, n)
}

// scan finds the steps with a result, and the calls.
func (e *explainer) scan() (done map[uint32]bool, called []*workflow.Entry) {
	done = map[uint32]bool{}
	e.store.Log(e.run.No, func(_ uint32, n *workflow.Entry) bool {
		switch {
		case n.Kind == workflow.CallEntry:
			called = append(called, n)
		case n.Kind == workflow.StepEntry && n.Target == 0:
			done[n.Step.ID] = true
		}
		return true
	})
	return done, called
}

// steps iterates over the numbers of the steps that may be under way: the planned ones, and the one after the last.
func (e *explainer) steps() func(func(uint32) bool) {
	return func(yield func(uint32) bool) {
		highest, going := uint32(0), true
		e.store.Log(e.run.No, func(_ uint32, n *workflow.Entry) bool {
			highest = max(highest, n.Step.Number())
			if n.Target > 0 {
				going = yield(n.Target)
			}
			return going
		})
		if going {
			yield(highest + 1)
		}
	}
}
