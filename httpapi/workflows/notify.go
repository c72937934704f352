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
	all := []woken{}
	for more := true; more; {
		out, err := propose(re, fsm.NotifyEvent, n)
		if err != nil {
			return err
		}
		for _, one := range out.Woken {
			all = append(all, woken{Waiter: re.renderWaiter(one.Waiter), MessageID: one.Message.String(), RunID: one.RunID, Created: one.Created})
		}
		more, n.Until = out.More, out.Until
	}
	re.answer(http.StatusOK, all)
	return nil
}
