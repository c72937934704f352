package workflows

import (
	"net/http"
	"strconv"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// view reads the state as it is after everything that was acknowledged so far.
func (q *request) view(fn func(*fsm.View)) error {
	_, err := q.Engine.Read(q.r.Context(), fsm.Reading{Long: true}, fn)
	return err
}

// origin is the address by which this server was asked.
func (q *request) origin() string {
	scheme := "http"
	if q.r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + q.r.Host
}

// reads answers what only reads, below /v2/workflows; false for the rest.
func (q *request) reads() (served bool, err error) {
	switch what, n := q.segment(1), len(q.segments); {
	case n > 4:
		return false, nil
	case what == "dlq" && (q.segment(2) == "resume" || q.segment(2) == "restart") && q.r.Method != http.MethodPost:
		return true, errMethod
	case what == "logs" && n == 2, what == "events" && n == 2 && q.parameters().Get("groupBy") == "workflowRunId":
		return true, get(q, q.logs)
	case what == "events" && n == 2:
		return true, get(q, q.events)
	case what == "dlq" && n == 2 && q.r.Method == http.MethodGet:
		return true, get(q, q.listDead)
	case what == "dlq" && n == 3 && q.r.Method == http.MethodGet:
		return true, get(q, func() (*deadLetter, error) { return q.getDead(q.plain(2)) })
	case what == "runs" && n == 4 && q.segment(3) == "explain":
		return true, get(q, q.explainRun)
	}
	return false, nil
}

// get answers a GET, and refuses other methods.
func get[T any](q *request, f func() (T, error)) error {
	if q.r.Method != http.MethodGet {
		return errMethod
	}
	v, err := f()
	if err == nil {
		q.answer(http.StatusOK, v)
	}
	return err
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
	return q.explain(q.plain(2), created)
}

// readWaiters answers /v2/waiters/{eventId}.
func (q *request) readWaiters() error {
	return get(q, func() ([]waiter, error) { return q.waiters(q.plain(1)) })
}
