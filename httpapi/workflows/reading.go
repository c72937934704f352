package workflows

import (
	"strconv"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// view reads the state as it is after everything that was acknowledged so far.
func (re *request) view(fn func(*fsm.View)) error {
	_, err := re.Engine.Read(re.r.Context(), fsm.Reading{Long: true}, fn)
	return err
}

// origin returns the address by which this server was asked.
func (re *request) origin() string {
	scheme := "http"
	if re.r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + re.r.Host
}

// readEvents answers /v2/workflows/events. Grouped by runs, events are logs.
func (re *request) readEvents() error {
	if re.parameters().Get("groupBy") == "workflowRunId" {
		return show((*request).logs)(re)
	}
	return show((*request).events)(re)
}

// explainRun answers /v2/workflows/runs/{id}/explain; workflowCreatedAt tells apart runs of
// one id.
func (re *request) explainRun() (*explanation, error) {
	created := int64(0)
	if text := re.parameters().Get("workflowCreatedAt"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, messages.Invalid("invalid workflowCreatedAt %q: unix milliseconds are wanted", text)
		}
		created = n
	}
	return re.explain(re.Plain(2), created)
}
