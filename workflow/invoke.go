package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The ends of an invoked run that have no result.
var (
	ErrFailed   = errors.New("workflow: the invoked run has failed")
	ErrCanceled = errors.New("workflow: the invoked run was cancelled")
)

// Invoke is a step that starts a run of another workflow and waits for its end. It returns the result of that run, ErrFailed or ErrCanceled.
// The workflow is served where this one is, unless the options have a URL. The options are those of the invoked run, which inherits none.
func Invoke[In, Out any](c *Context, name string, w *Workflow[In, Out], in In, o *RunOptions) (Out, error) {
	options := o.over(w.options)
	if options.URL == "" {
		options.URL = c.URL[:strings.LastIndexByte(c.URL, '/')+1] + w.name
	}
	s := c.do(&pending{step: step{Name: name, Type: "Invoke"}, submit: func(d *delivery, s step) error {
		payload, err := encode(in)
		if err != nil {
			return NonRetryable(err)
		}
		return d.submitInvoke(c, s, payload, &options)
	}})
	var none Out
	var out struct {
		Body                 *string
		IsFailed, IsCanceled bool
	}
	if s.Out != nil {
		if err := json.Unmarshal([]byte(*s.Out), &out); err != nil {
			c.fail(fmt.Errorf("workflow: the result of invoking %s: %w", w.name, err))
		}
	}
	switch {
	case out.IsFailed:
		return none, ErrFailed
	case out.IsCanceled:
		return none, ErrCanceled
	case out.Body == nil:
		return none, nil
	}
	v, err := decode[Out]([]byte(*out.Body))
	if err != nil {
		return v, fmt.Errorf("workflow: the result of workflow %s is no %T: %w", w.name, v, err)
	}
	return v, nil
}

func (d *delivery) submitInvoke(c *Context, s step, payload []byte, o *RunOptions) error {
	id := o.RunID
	if id == "" {
		id = newRunID()
	}
	h := triggerHeaders(o.URL, id)
	if err := o.set(h); err != nil {
		return NonRetryable(err)
	}
	h["upstash-workflow-invoke"] = "true"
	depth, _ := strconv.Atoi(c.Request.Header.Get(header + "Invoke-Count")) // 0 without
	h["upstash-forward-upstash-workflow-invoke-count"] = strconv.Itoa(depth + 1)
	created, err := strconv.ParseInt(d.created, 10, 64)
	if err != nil {
		return fmt.Errorf("workflow: the delivery says not when its run was created: %w", err)
	}
	return d.submit(d.ctx, "/v2/publish/"+o.URL, h, map[string]any{
		"body": string(payload), "headers": lists(d.headers()), "workflowRunId": d.runID, "workflowRunCreatedAt": created, "workflowUrl": d.url,
		"step": map[string]any{"stepId": s.ID, "stepName": s.Name, "stepType": s.Type, "concurrent": s.Concurrent},
	}, nil)
}
