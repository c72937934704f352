package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Client starts runs and looks after them. It is safe for use by many goroutines.
type Client struct{ conn }

// NewClient returns a client. Options that are empty are read from the environment.
func NewClient(o Options) *Client { return &Client{conn{o.completed()}} }

// A request that may be sent twice without harm is repeated if it fails for a reason that passes.
const (
	requestTries = 4
	firstPause   = 50 * time.Millisecond
)

// repeat sends a request that may be sent twice, until it succeeds or fails for good.
func (c *conn) repeat(ctx context.Context, method, path string, headers map[string]string, in, out any) error {
	for try, pause := 1, firstPause; ; try, pause = try+1, 2*pause {
		err := c.ask(ctx, method, path, headers, in, out)
		if err == nil || try == requestTries || !passes(ctx, err) {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// passes reports whether the reason of an error may be gone soon: no leader, a lost connection, too many requests.
func passes(ctx context.Context, err error) bool {
	e, refused := errors.AsType[*APIError](err)
	if refused {
		return e.Status == http.StatusTooManyRequests || e.Status >= http.StatusBadGateway && e.Status <= http.StatusGatewayTimeout
	}
	return ctx.Err() == nil && !errors.Is(err, errNoServer)
}

// Do sends a request of the REST API, once, and decodes its answer into out, which may be nil. In is sent as JSON, or as it is if it is
// bytes; nil is no body. It is for what the client has no method for.
func (c *Client) Do(ctx context.Context, method, path string, headers map[string]string, in, out any) error {
	return c.ask(ctx, method, path, headers, in, out)
}

// Cancel cancels runs and returns how many of them were active.
func (c *Client) Cancel(ctx context.Context, ids ...string) (int, error) {
	if len(ids) == 0 {
		return 0, nil // without a filter it would be all runs
	}
	return c.CancelWhere(ctx, Filter{"workflowRunIds": ids})
}

// Filter selects runs and dead letters: docs/workflows.md has the names. Values of one name are alternatives; all names must match.
type Filter map[string][]string

// query returns the filter as the query of a URL.
func (f Filter) query(more ...string) string {
	q := url.Values{}
	for name, values := range f {
		q[name] = values
	}
	for i := 0; i+1 < len(more); i += 2 {
		if more[i+1] != "" {
			q.Set(more[i], more[i+1])
		}
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// CancelWhere cancels the active runs that a filter selects; an empty one selects all. It returns their number.
func (c *Client) CancelWhere(ctx context.Context, f Filter) (int, error) {
	var out struct{ Cancelled int }
	err := c.ask(ctx, http.MethodDelete, "/v2/workflows/runs"+f.query(), nil, nil, &out)
	return out.Cancelled, err
}

// Notify wakes the runs that wait for an event and returns them. Data is JSON, or bytes as they are; nil is none. Nobody else gets the event
// but runs that keep it.
func (c *Client) Notify(ctx context.Context, event string, data any) ([]Notified, error) {
	body, err := encode(data)
	if err != nil {
		return nil, err
	}
	return c.notify(ctx, event, body)
}

// NotifyRun notifies one run. If it does not wait for the event yet, the event is kept until it does.
func (c *Client) NotifyRun(ctx context.Context, run, event string, data any) ([]Notified, error) {
	body, err := encode(data)
	if err != nil {
		return nil, err
	}
	var all []Notified
	err = c.ask(ctx, http.MethodPost, "/v2/notify/"+url.PathEscape(run)+"/"+url.PathEscape(event), jsonType, body, &all)
	return all, err
}

// Waiters returns the runs that wait for an event.
func (c *Client) Waiters(ctx context.Context, event string) (all []Waiter, err error) {
	err = c.repeat(ctx, http.MethodGet, "/v2/waiters/"+url.PathEscape(event), nil, nil, &all)
	return all, err
}

// State is the state that steps of a run have set, and the updates that it accepts.
type State struct {
	RunID    string            `json:"workflowRunId"`
	State    json.RawMessage   `json:"state"`
	Version  uint64            `json:"version"` // how often it was set
	StepID   int               `json:"stepId"`
	StepName string            `json:"stepName"`
	Updates  map[string]string `json:"updates"`
}

// State returns the state of a run.
func (c *Client) State(ctx context.Context, run string) (s State, err error) {
	err = c.repeat(ctx, http.MethodGet, runPath(run)+"/state", nil, nil, &s)
	return s, err
}

func runPath(run string) string { return "/v2/workflows/runs/" + url.PathEscape(run) }

// Update is the answer to an update that a run has accepted.
type Update struct {
	UpdateID     string `json:"updateId"`
	Deduplicated bool   `json:"deduplicated"`
	StateVersion uint64 `json:"stateVersion"`
}

// Update sends an update to a run, whose rule has to accept it: otherwise the error is an APIError of status 409. Of updates with one id the
// first accepted one counts; an empty id is drawn. Data is JSON.
func (c *Client) Update(ctx context.Context, run, name, id string, data any) (u Update, err error) {
	headers := map[string]string{"content-type": "application/json", "upstash-update-id": id}
	if id == "" {
		headers["upstash-update-id"] = newRunID()
	}
	body, err := encode(data)
	if err != nil {
		return u, err
	}
	err = c.repeat(ctx, http.MethodPost, runPath(run)+"/updates/"+url.PathEscape(name), headers, body, &u)
	return u, err
}

// Explanation says what a run waits for, or why it has failed.
type Explanation struct {
	State  string `json:"workflowState"`
	Reason string `json:"reason"` // such as "event" or "retrying"
	Text   string `json:"text"`
	// Mismatches between the app and the server, as far as the last failed attempt shows them.
	Mismatches []struct {
		Code string `json:"code"` // such as "code-changed" or "signature"
		Text string `json:"text"`
	} `json:"mismatches"`
}

// Explain says what a run waits for, or why it has failed.
func (c *Client) Explain(ctx context.Context, run string) (e Explanation, err error) {
	err = c.repeat(ctx, http.MethodGet, runPath(run)+"/explain", nil, nil, &e)
	return e, err
}

// errUnknownRun says that there is no run with an id.
var errUnknownRun = errors.New("workflow: there is no such run")

// Run returns the newest run with an id.
func (c *Client) Run(ctx context.Context, id string) (*RunLog, error) {
	page, err := c.Runs(ctx, Filter{"workflowRunId": {id}}, "")
	if err != nil {
		return nil, err
	}
	if len(page.Runs) == 0 {
		return nil, fmt.Errorf("%w: %s", errUnknownRun, id)
	}
	return page.Runs[0], nil
}
