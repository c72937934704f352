package workflows

import (
	"encoding/base64"
	"net/http"
	"net/textproto"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// waiter is a waiter as clients read it; deadline is in seconds.
type waiter struct {
	URL            string              `json:"url"`
	Deadline       int64               `json:"deadline"`
	Headers        map[string][]string `json:"headers"`
	TimeoutURL     string              `json:"timeoutUrl"`
	TimeoutBody    string              `json:"timeoutBody,omitempty"`
	TimeoutHeaders map[string][]string `json:"timeoutHeaders"`
}

func (a *API) renderWaiter(n *workflow.Waiter) waiter {
	url := n.URL
	headers := fieldMap(n.Options.Header)
	headers[textproto.CanonicalMIMEHeaderKey(a.prefix()+"-Workflow-Runid")] = []string{n.RunID}
	headers[textproto.CanonicalMIMEHeaderKey(a.prefix()+"-Workflow-Url")] = []string{url}
	return waiter{
		URL: url, Deadline: n.Deadline / 1000, Headers: headers, TimeoutURL: n.TimeoutURL,
		TimeoutBody: base64.StdEncoding.EncodeToString(n.TimeoutBody), TimeoutHeaders: fieldMap(n.TimeoutOptions.Header),
	}
}

// fieldMap returns a header by names.
func fieldMap(header []queue.Field) map[string][]string {
	m := make(map[string][]string, len(header))
	for _, f := range header {
		name := textproto.CanonicalMIMEHeaderKey(f.Name)
		m[name] = append(m[name], f.Value)
	}
	return m
}

// woken is one element of the answer to a notify.
type woken struct {
	Waiter       waiter `json:"waiter"`
	MessageID    string `json:"messageId"`
	RunID        string `json:"workflowRunId"`
	Created      int64  `json:"workflowCreatedAt"`
	Deduplicated bool   `json:"deduplicated"`
}

// keptFor is a run that did not wait for the event and keeps it, or has no room for it. Its waiter names nothing but the run and its workflow.
type keptFor struct {
	woken
	Kept  bool   `json:"kept"`
	Error string `json:"error,omitempty"`
}

// notify answers /v2/notify/{eventId} and, for one run, /v2/notify/{runId}/{eventId}.
func (re *request) notify() error {
	n := workflow.Notification{EventID: re.Plain(1)}
	if len(re.Segments()) > 3 {
		return messages.Invalid("an event id must not contain a slash")
	}
	if len(re.Segments()) == 3 {
		n.RunID, n.EventID = re.Plain(1), re.Plain(2)
	}
	var err error
	if n.Body, err = re.body(); err != nil {
		return err
	}
	var all workflow.Notified
	for more := true; more; {
		out, err := propose(re, fsm.NotifyEvent, n)
		if err != nil {
			return err
		}
		all.Woken, all.Kept = append(all.Woken, out.Woken...), append(all.Kept, out.Kept...)
		more, n.Until, n.After = out.More, out.Until, out.After
	}
	if err := all.NobodyHasRoom(); err != nil {
		return err
	}
	re.answer(http.StatusOK, re.notified(&all))
	return nil
}

// notified returns the answer to a notify: the runs that it has woken, and behind them those that keep the event.
func (a *API) notified(n *workflow.Notified) []any {
	all := []any{}
	for _, one := range n.Woken {
		all = append(all, woken{Waiter: a.renderWaiter(one.Waiter), MessageID: one.Message.String(), RunID: one.RunID, Created: one.Created})
	}
	for _, k := range n.Kept {
		run := a.renderWaiter(&workflow.Waiter{URL: k.URL, RunID: k.RunID})
		one := keptFor{woken: woken{Waiter: run, RunID: k.RunID, Created: k.Created}, Kept: !k.Full}
		if k.Full {
			one.Error = "the run has as many stored notifications as it may have"
		}
		all = append(all, one)
	}
	return all
}
