package workflow

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"unicode/utf8"
)

// Triggered is a run that was started.
type Triggered struct {
	RunID     string `json:"workflowRunId"`
	CreatedAt int64  `json:"workflowCreatedAt"` // in unix milliseconds; 0 if the answer does not say it
	// Deduplicated says that nothing was started: a run of that id is active, or the deduplication id was used.
	Deduplicated bool `json:"deduplicated"`
}

// Trigger starts a run. The client needs an AppURL, unless the options have a URL. A request that fails is repeated; that starts one run.
func (w *Workflow[In, Out]) Trigger(ctx context.Context, c *Client, in In, o *RunOptions) (Triggered, error) {
	all, err := w.TriggerAll(ctx, c, []In{in}, o)
	if err != nil {
		return Triggered{}, err
	}
	return all[0], nil
}

// TriggerAll starts a run for each input, by one request: all of them or, if it fails, none. The id of options is for one input only.
func (w *Workflow[In, Out]) TriggerAll(ctx context.Context, c *Client, inputs []In, o *RunOptions) ([]Triggered, error) {
	options := o.over(w.options)
	if options.URL == "" {
		if c.AppURL == "" {
			return nil, fmt.Errorf("workflow: trigger %s: no URL: set RunOptions.URL, Options.AppURL or UPSTASH_WORKFLOW_URL", w.name)
		}
		options.URL = c.AppURL + "/" + w.name
	}
	payloads := make([][]byte, len(inputs))
	for i, in := range inputs {
		var err error
		if payloads[i], err = encode(in); err != nil {
			return nil, fmt.Errorf("workflow: trigger %s: %w", w.name, err)
		}
	}
	return c.trigger(ctx, payloads, &options)
}

// Trigger starts a run of the workflow at the URL of the options, which need not be served by this package, with a payload as it is.
func (c *Client) Trigger(ctx context.Context, payload []byte, o RunOptions) (Triggered, error) {
	all, err := c.trigger(ctx, [][]byte{payload}, &o)
	if err != nil {
		return Triggered{}, err
	}
	return all[0], nil
}

func (c *Client) trigger(ctx context.Context, payloads [][]byte, o *RunOptions) ([]Triggered, error) {
	switch {
	case o.URL == "":
		return nil, errors.New("workflow: trigger: no URL: set RunOptions.URL")
	case o.RunID != "" && len(payloads) > 1:
		return nil, fmt.Errorf("workflow: trigger %d runs: one id is for one run", len(payloads))
	}
	items, all := make([]item, len(payloads)), make([]Triggered, len(payloads))
	for i, payload := range payloads {
		if !utf8.Valid(payload) {
			return nil, errors.New("workflow: trigger: the payload is no text in UTF-8")
		}
		id := o.RunID
		if id == "" {
			id = newRunID()
		}
		h := triggerHeaders(o.URL, id)
		h["upstash-deduplication-id"] = newRunID() // of this request and its repetitions
		if err := o.set(h); err != nil {
			return nil, err
		}
		items[i], all[i].RunID = item{o.URL, h, string(payload)}, id
	}
	var answers []Triggered
	if err := c.repeat(ctx, http.MethodPost, "/v2/batch", jsonType, items, &answers); err != nil {
		return nil, err
	}
	for i := range min(len(answers), len(all)) {
		all[i].CreatedAt, all[i].Deduplicated = answers[i].CreatedAt, answers[i].Deduplicated
	}
	return all, nil
}

// RunError is the error of a run that has no result.
type RunError struct {
	RunID, State string
	Status       int    // of the last answer of the app, 0 if there was none
	Message      string // of it
}

func (e *RunError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("workflow: run %s: %s", e.RunID, e.State)
	}
	return fmt.Sprintf("workflow: run %s: %s: %s", e.RunID, e.State, e.Message)
}

// Is reports whether the error is ErrFailed or ErrCanceled.
func (e *RunError) Is(target error) bool {
	return target == ErrFailed && e.State == RunFailed || target == ErrCanceled && e.State == RunCanceled
}

// Result waits for the end of a run and returns its result. The error of a run that has failed or was cancelled is a *RunError, which is
// ErrFailed or ErrCanceled too.
func (w *Workflow[In, Out]) Result(ctx context.Context, c *Client, run string) (out Out, err error) {
	r, err := c.WaitEnd(ctx, run)
	if err != nil {
		return out, err
	}
	if r.State != RunSuccess {
		return out, newRunError(r)
	}
	if r.Result == nil {
		return out, nil
	}
	return decode[Out]([]byte(*r.Result))
}

// newRunError says why a run has no result, by the last failed attempt in its log.
func newRunError(r *RunLog) *RunError {
	e := &RunError{RunID: r.ID, State: r.State}
	for _, g := range r.Groups {
		for _, s := range g.Steps {
			if len(s.Errors) > 0 {
				last := s.Errors[len(s.Errors)-1]
				e.Status, e.Message = last.Status, messageOfAnswer(last)
			}
		}
	}
	return e
}
