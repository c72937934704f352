package workflows

import (
	"net/http"
	"net/url"

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
	messages.Target
	judged messages.Judged
}

// Routes returns the rows of workflows in the table of routes.
func (a *API) Routes() []messages.Route {
	row := func(method, path string, serve func(*request) error) messages.Route {
		return messages.NewRoute(method, path, func(m *messages.API, w http.ResponseWriter, r *http.Request, t *messages.Target) error {
			return serve(&request{API: &API{m}, w: w, r: r, Target: *t})
		})
	}
	described := func(n messages.Route, paths ...string) messages.Route {
		n.Described = append([]string{}, paths...)
		return n
	}
	const get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
	trigger := func(q *request) error { return q.trigger(q.Rest()) }
	wait := func(q *request) error { return q.wait(q.Plain(1)) }
	waiters := (*request).waiters
	revive := func(restart bool) func(*request) error {
		return func(q *request) error { return q.revive(restart, q.Plain(3)) }
	}
	refuse := func(*request) error { return messages.ErrMethod } // which would be taken for ids otherwise
	return []messages.Route{
		row(post, "/v2/trigger/*destination", trigger),
		described(row(post, "/v2/trigger", trigger), "/v2/trigger/{destination}"),
		row(post, "/v2/batch/trigger", (*request).triggerBatch),
		row(post, "/v2/wait/:eventId", wait),
		described(row(post, "/v2/wait", wait), "/v2/wait/{eventId}"),
		row(get, "/v2/waiters/:eventId", waiters),
		described(row(get, "/v2/waiters", waiters), "/v2/waiters/{eventId}"),
		described(row(post, "/v2/notify/*eventId", (*request).notify), "/v2/notify/{eventId}", "/v2/notify/{workflowRunId}/{eventId}"),
		described(row(post, "/v2/notify", (*request).notify), "/v2/notify/{eventId}"),
		described(row("", "/v2/workflows/hooks/*hook", (*request).hook), "/v2/workflows/hooks/{userId}/{workflowRunId}/{eventId}").Open(),
		row(get, "/v2/workflows/logs", show((*request).logs)),
		row(get, "/v2/workflows/events", (*request).readEvents),
		row(del, "/v2/workflows/runs", (*request).cancel),
		row(get, "/v2/workflows/runs/:workflowRunId", func(q *request) error { return q.fetch(q.Plain(2)) }),
		row(del, "/v2/workflows/runs/:workflowRunId", func(q *request) error { return q.end(q.Plain(2)) }),
		row(get, "/v2/workflows/runs/:workflowRunId/explain", show((*request).explainRun)),
		row(post, "/v2/workflows/runs/:workflowRunId/resume", show((*request).resumeRun)),
		row(post, "/v2/workflows/runs/:workflowRunId/fork", show((*request).fork)),
		row(get, "/v2/workflows/runs/:workflowRunId/values", show((*request).values)),
		row(get, "/v2/workflows/runs/:workflowRunId/state", show((*request).state)),
		row(post, "/v2/workflows/runs/:workflowRunId/updates/:name", (*request).update),
		row(get, "/v2/workflows/runs/:workflowRunId/steps", show((*request).listSteps)),
		row(post, "/v2/workflows/runs/:workflowRunId/steps", (*request).recordSteps),
		row(get, "/v2/workflows/runs/:workflowRunId/steps/:stepId", show((*request).getStep)),
		row(post, "/v2/workflows/runs/:workflowRunId/move", show((*request).moveRun)),
		row(get, "/v2/workflows/deployments", (*request).listDeployments),
		row(get, "/v2/workflows/deployments/:deployment", show((*request).getDeployment)),
		row(http.MethodPut, "/v2/workflows/deployments/:deployment", show((*request).putDeployment)),
		row(del, "/v2/workflows/deployments/:deployment", (*request).deleteDeployment),
		row(post, "/v2/workflows/deployments/:deployment/move", show((*request).moveRuns)),
		row(get, "/v2/workflows/deployments/:deployment/explain", show((*request).explainDeployment)),
		row(get, "/v2/workflows/bulkActions", (*request).bulkActions),
		row(get, "/v2/workflows/bulkActions/preview", (*request).bulkActions),
		row(get, "/v2/workflows/bulkActions/:actionId", (*request).bulkActions),
		row(del, "/v2/workflows/bulkActions/:actionId", (*request).bulkActions),
		row(get, "/v2/workflows/dlq", show((*request).listDead)),
		row(del, "/v2/workflows/dlq", func(q *request) error { return q.deleteDead("") }),
		row(get, "/v2/workflows/dlq/:dlqId", show(func(q *request) (*deadLetter, error) { return q.getDead(q.Plain(2)) })),
		row(del, "/v2/workflows/dlq/:dlqId", func(q *request) error { return q.deleteDead(q.Plain(2)) }),
		row(del, "/v2/workflows/dlq/delete/:dlqId", func(q *request) error { return q.deleteDead(q.Plain(3)) }),
		row(post, "/v2/workflows/dlq/resume", revive(false)),
		row(post, "/v2/workflows/dlq/resume/:dlqId", revive(false)),
		row(post, "/v2/workflows/dlq/restart", revive(true)),
		row(post, "/v2/workflows/dlq/restart/:dlqId", revive(true)),
		described(row(get, "/v2/workflows/dlq/resume", refuse)),
		described(row(del, "/v2/workflows/dlq/resume", refuse)),
		described(row(get, "/v2/workflows/dlq/restart", refuse)),
		described(row(del, "/v2/workflows/dlq/restart", refuse)),
		row(post, "/v2/workflows/dlq/callback/:dlqId", func(q *request) error { return q.callback(q.Plain(3)) }),
		row(del, "/v2/workflows/dlq/callback/:dlqId", func(q *request) error { return q.callback(q.Plain(3)) }),
	}
}

// ListDead answers a page of the dead letters of runs.
func (a *API) ListDead(w http.ResponseWriter, r *http.Request, t *messages.Target) error {
	return show((*request).listDead)(&request{API: a, w: w, r: r, Target: *t})
}

// show answers what f reads.
func show[T any](f func(*request) (T, error)) func(*request) error {
	return func(q *request) error {
		v, err := f(q)
		if err == nil {
			q.answer(http.StatusOK, v)
		}
		return err
	}
}

// parameters returns the parameters of the query string.
func (re *request) parameters() url.Values {
	v, _ := url.ParseQuery(re.Query) // parameters that can't be read are left out
	return v
}

func (re *request) body() ([]byte, error) { return re.ReadBody(re.w, re.r) }

// json returns the body that is to be read as JSON of at most so many values.
func (re *request) json(most jsonbody.Bounds) ([]byte, error) { return re.ReadJSON(re.w, re.r, most) }

func (re *request) answer(status int, v any) { re.Answer(re.w, re.r, status, v) }

// propose puts an operation into the log and returns its outcome.
func propose[A, R any](q *request, op *fsm.Operation[A, R], arg A) (R, error) {
	return fsm.Do(q.r.Context(), q.Engine, op, arg)
}

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
