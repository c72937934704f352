package workflows

import (
	"strconv"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// view reads the state as it is after everything that was acknowledged so far.
func (q *request) view(fn func(*fsm.View)) error {
	_, err := q.Engine.Read(q.r.Context(), fsm.Reading{Long: true}, fn)
	return err
}

// origin returns the address by which this server was asked.
func (q *request) origin() string {
	scheme := "http"
	if q.r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + q.r.Host
}

// readEvents answers /v2/workflows/events. Grouped by runs, events are logs.
func (q *request) readEvents() error {
	if q.parameters().Get("groupBy") == "workflowRunId" {
		return show((*request).logs)(q)
	}
	return show((*request).events)(q)
}

// explainRun answers /v2/workflows/runs/{id}/explain; workflowCreatedAt tells apart runs of
// one id.
func (q *request) explainRun() (*explanation, error) {
	created := int64(0)
	if text := q.parameters().Get("workflowCreatedAt"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, messages.Invalid("invalid workflowCreatedAt %q: unix milliseconds are wanted", text)
		}
		created = n
	}
	return q.explain(q.Plain(2), created)
}
