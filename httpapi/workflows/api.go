package workflows

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// API serves workflows. It answers as the API of messages that it is part of.
type API struct{ *messages.API }

// Mount makes an API and has m serve it.
func Mount(m *messages.API) *API {
	a := &API{m}
	m.Mount(a)
	return a
}

// In serves the workflows of the database that m serves.
func (a *API) In(m *messages.API) messages.Runs { return &API{m} }

// request is a request under way.
type request struct {
	*API
	w http.ResponseWriter
	r *http.Request
	// segments are those of the path behind /v2/, still escaped; query is raw.
	segments []string
	query    string
}

var errNoPath = &messages.Error{Status: http.StatusNotFound, Text: "this version has nothing at this path"}

var errMethod = &messages.Error{Status: http.StatusMethodNotAllowed, Text: "method not allowed"}

// Serve answers the paths of workflows.
func (a *API) Serve(w http.ResponseWriter, r *http.Request, first, path, query string) (served bool, err error) {
	q := &request{API: a, w: w, r: r, segments: strings.Split(strings.Trim(path, "/"), "/"), query: query}
	_, rest, _ := strings.Cut(path, "/")
	switch first {
	case "trigger":
		return true, q.on(http.MethodPost, func() error { return q.trigger(rest) })
	case "batch":
		if q.segment(1) == "trigger" && len(q.segments) == 2 {
			return true, q.on(http.MethodPost, q.triggerBatch)
		}
	case "wait", "waiters":
		if len(q.segments) > 2 {
			return true, errNoPath
		}
		if first == "waiters" {
			return true, q.readWaiters()
		}
		return true, q.on(http.MethodPost, func() error { return q.wait(q.plain(1)) })
	case "notify":
		return true, q.on(http.MethodPost, q.notify)
	case "dlq":
		return true, get(q, q.listDead)
	case "workflows":
		return q.workflows()
	}
	return false, nil
}

// workflows answers what is below /v2/workflows.
func (q *request) workflows() (served bool, err error) {
	if served, err := q.reads(); served {
		return true, err
	}
	switch q.segment(1) {
	case "runs":
		return true, q.runs()
	case "bulkActions", "bulkactions":
		return true, q.bulkActions()
	case "dlq":
		return q.deadWrites()
	}
	return false, nil
}

// runs answers /v2/workflows/runs and /v2/workflows/runs/{id}.
func (q *request) runs() error {
	id := q.plain(2)
	switch {
	case len(q.segments) > 3:
		return errNoPath
	case id != "" && q.r.Method == http.MethodGet:
		return q.fetch(id)
	case id != "" && q.r.Method == http.MethodDelete:
		return q.end(id)
	case id == "" && q.r.Method == http.MethodDelete:
		return q.cancel()
	}
	return errMethod
}

func (q *request) on(method string, f func() error) error {
	if q.r.Method != method {
		return errMethod
	}
	return f()
}

// segment is a segment of the path as it was sent, empty if there is none; plain is its plain form.
func (q *request) segment(i int) string {
	if i >= len(q.segments) {
		return ""
	}
	return q.segments[i]
}

func (q *request) plain(i int) string { return messages.UnescapePath(q.segment(i)) }

// parameters are those of the query string.
func (q *request) parameters() url.Values {
	v, _ := url.ParseQuery(q.query) // what can't be read is not there
	return v
}

func (q *request) body() ([]byte, error) { return q.ReadBody(q.w, q.r) }

// json is the body that is to be read as JSON of at most so many values.
func (q *request) json(most jsonbody.Bounds) ([]byte, error) { return q.ReadJSON(q.w, q.r, most) }

func (q *request) answer(status int, v any) { q.Answer(q.w, q.r, status, v) }

// propose puts an operation into the log and returns its outcome.
func propose[A, R any](q *request, op *fsm.Operation[A, R], arg A) (R, error) {
	return fsm.Do(q.r.Context(), q.Engine, op, arg)
}
