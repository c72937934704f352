package messages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
)

// Runs serves workflows: the messages that concern a run, and the paths of workflows.
type Runs interface {
	// Submit accepts messages with workflow headers, in one request to the log, and returns an answer for each.
	Submit(r *http.Request, items []RunItem) (answers []any, err error)
	// Routes are the rows of workflows in the table of routes.
	Routes() []Route
	// ListDead answers a page of the dead letters of runs.
	ListDead(w http.ResponseWriter, r *http.Request, t *Target) error
	// In serves the workflows of the database that a serves.
	In(a *API) Runs
}

// RunItem is a message with workflow headers.
type RunItem struct {
	// URL is the destination, checked like that of any message; Headers are the headers of the message.
	URL     string
	Headers *Headers
	queue.Options
	Body     []byte
	CallerIP string
}

// Mount lets n serve the workflows.
func (a *API) Mount(n Runs) { a.runs = n }

// concernsRun reports whether a message belongs to a workflow run: it names the run, or starts one.
func concernsRun(f fields) bool {
	return f.get("workflow-runid") != "" && (f.get("workflow-init") != "" || f.get("workflow-calltype") != "") ||
		strings.EqualFold(f.get("workflow-init"), "true")
}

// runItem returns a message with workflow headers; ok is false if it has none.
func (re *request) runItem(c *call) (n RunItem, ok bool, err error) {
	f := re.Parser.fieldsOf(c)
	re.warn(f)
	if re.runs == nil || !concernsRun(f) {
		return n, false, nil
	}
	n = RunItem{Headers: c.headers, Body: c.body, CallerIP: c.callerIP}
	to, err := re.Parser.readDestination(c.destination, c.rest)
	if err != nil {
		return n, true, err
	}
	if to.group != "" {
		return n, true, Invalid("a workflow needs a URL as its destination")
	}
	n.URL = to.url
	if n.Options, err = c.headers.Options(); err != nil && !strings.EqualFold(f.get("workflow-init"), "true") {
		// After a 400 an SDK would take the run for finished.
		err = &Error{http.StatusPreconditionFailed, err.Error()}
	}
	if err == nil && strings.EqualFold(f.get("workflow-init"), "true") {
		err = re.commits(n.Headers.fields, &n.Options)
	}
	return n, true, err
}

// submit hands one message to the workflows.
func (re *request) submit(n RunItem) error {
	answers, err := re.runs.Submit(re.r, []RunItem{n})
	if err != nil {
		return err
	}
	re.answer(http.StatusOK, answers[0])
	return nil
}

// ReadURL reads a destination that has to be a URL, raw as a path has it, with the query string that follows it.
func (p *Parser) ReadURL(raw, query string) (string, error) {
	_, rest := splitQuery(query, p.Prefixes)
	to, err := p.readDestination(raw, rest)
	if err != nil {
		return "", err
	}
	if to.group != "" {
		return "", errScheme
	}
	return to.url, nil
}

// ParseDelay reads 30s, 1d10h30m, or seconds, which may have a fraction; the value is in milliseconds.
func ParseDelay(text string) (ms int64, ok bool) {
	if ms, ok = queue.ParseDuration(text); ok {
		return ms, true
	}
	ms = takeFraction(fields{"delay": {text}}, "delay", "s")
	return ms, ms > 0
}

// Answer writes a JSON value.
func (a *API) Answer(w http.ResponseWriter, r *http.Request, status int, v any) {
	(&request{API: a, w: w, r: r, route: NoPath}).answer(status, v)
}

// ReadBody reads the body of a request, at most as much as a message may have.
func (a *API) ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return (&request{API: a, w: w, r: r}).body(a.MaxBody)
}

// ReadJSON reads the body of a request that is to be read as JSON of at most so many values.
func (a *API) ReadJSON(w http.ResponseWriter, r *http.Request, most jsonbody.Bounds) ([]byte, error) {
	return (&request{API: a, w: w, r: r}).json(a.MaxBody, most)
}

// ofRuns reports whether the dead letters of runs are to be listed.
func (re *request) ofRuns() bool {
	values, _ := url.ParseQuery(re.Query) // what can't be read is not there
	return re.runs != nil && values.Get("source") == "workflow"
}
