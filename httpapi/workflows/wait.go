package workflows

import (
	"encoding/json"
	"net/http"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// wait answers /v2/wait/{eventId}: a step waits.
func (re *request) wait(event string) error {
	body, err := re.json(jsonbody.Bounds{})
	if err != nil {
		return err
	}
	var in struct {
		URL            string              `json:"url"`
		Timeout        string              `json:"timeout"`
		TimeoutURL     string              `json:"timeoutUrl"`
		TimeoutHeaders map[string][]string `json:"timeoutHeaders"`
		TimeoutBody    []byte              `json:"timeoutBody"`
		Step           json.RawMessage     `json:"step"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return refused("invalid wait: %s", jsonbody.Fault(err))
	}
	step, err := readStep(in.Step)
	if err != nil {
		return err
	}
	h := re.Parser.ReadHeaders(re.r.Header)
	n := workflow.Await{
		RunID: h.Field("workflow-runid"), EventID: event, Step: step.Step, TimeoutText: in.Timeout,
		URL: in.URL, TimeoutURL: in.TimeoutURL, TimeoutBody: in.TimeoutBody,
	}
	if n.TimeoutText == "" {
		n.TimeoutText = defaultWait
	}
	var ok bool
	if n.Timeout, ok = messages.ParseDelay(n.TimeoutText); !ok {
		return refused("invalid timeout %q: a duration such as 30s is wanted", in.Timeout)
	}
	for _, u := range []*string{&n.URL, &n.TimeoutURL} {
		if *u == "" {
			continue
		}
		if *u, err = re.Parser.ReadPlainURL(*u); err != nil {
			return refused("%s", err)
		}
	}
	if n.Open, err = openObject(in.Step); err != nil {
		return err
	}
	if n.Options, err = re.runOptions(h); err != nil {
		return err
	}
	if n.TimeoutOptions, err = re.optionsOf(in.TimeoutHeaders); err != nil {
		return err
	}
	out, err := propose(re, fsm.Await, n)
	if err != nil {
		return err
	}
	answer := map[string]any{"workflowRunId": out.RunID}
	if out.Deduplicated {
		answer["deduplicated"] = true
	}
	if !out.ID.IsZero() {
		answer["messageId"] = out.ID.String()
	}
	re.answer(http.StatusOK, answer)
	return nil
}

// defaultWait is the timeout of a wait that names none.
const defaultWait = "7d"

// waiters answers with the waiters for an event, in the order in which they began. It is exact up to a page: a waiter that is listed had not
// been woken when its page was read, and the next notify after that wakes it.
func (re *request) waiters() error {
	event := re.Plain(1)
	isNumber := func(text string) bool { _, ok := workflow.WaiterNumber(text); return ok }
	list := func(v *fsm.View, p queue.NamePage) queue.NameList[*workflow.Waiter] {
		return v.Workflows().Waiters(event, p)
	}
	return messages.AnswerAll(re.API.API, re.w, re.r, re.parameters(), isNumber, list, func(v *fsm.View, w **workflow.Waiter) waiter {
		n := re.renderWaiter(*w)
		if r, ok := v.Workflows().Run((*w).Run); ok && r.Redact != nil {
			n.Headers, n.TimeoutHeaders = view.Redactor{Hide: r.Redact}.Redact(n.Headers), view.Redactor{Hide: r.Redact}.Redact(n.TimeoutHeaders)
		}
		return n
	})
}
