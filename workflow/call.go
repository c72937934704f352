package workflow

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Request is a request that a node makes for a step of Call.
type Request struct {
	URL    string
	Method string // empty is GET, or POST with a body
	Header http.Header
	Body   []byte
	// JSON becomes the body if it is not nil.
	JSON any
	// Retries are how often a failed request is repeated; 0 is never.
	Retries int
	// RetryDelay is an expression in milliseconds. Empty is the server's backoff.
	RetryDelay  string
	Timeout     time.Duration
	FlowControl *FlowControl
}

// Response is the answer to a Request.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// JSON reads the body into v.
func (r Response) JSON(v any) error { return json.Unmarshal(r.Body, v) }

// CallError is the error of a Call whose last answer is not 2xx. A destination that can't be reached answers 502 or the like.
type CallError struct {
	Step     string
	Response Response
}

func (e *CallError) Error() string {
	return fmt.Sprintf("workflow: call %q: status %d: %.200s", e.Step, e.Response.Status, e.Response.Body)
}

// Call is a step in which a node requests something of a third party: the app is not called meanwhile, however long that takes. It returns the
// last answer, and a *CallError too if that is not 2xx.
func Call(c *Context, name string, r Request) (Response, error) {
	s := c.do(&pending{step: step{Name: name, Type: "Call"}, submit: func(d *delivery, s step) error { return d.submitCall(s, &r) }})
	var out callResult
	if s.Out == nil {
		c.fail(fmt.Errorf("workflow: the call %q has no result", name))
	}
	if err := json.Unmarshal([]byte(*s.Out), &out); err != nil {
		c.fail(fmt.Errorf("workflow: the result of the call %q: %w", name, err))
	}
	response := Response{out.Status, out.Header, []byte(out.Body)}
	if out.Bytes != nil {
		response.Body = out.Bytes
	}
	if out.Status < 200 || out.Status > 299 {
		return response, &CallError{name, response}
	}
	return response, nil
}

// callResult is the JSON of a Response. Bytes stand for a body that is no text.
type callResult struct {
	Status int         `json:"status"`
	Body   string      `json:"body"`
	Bytes  []byte      `json:"bytes,omitempty"`
	Header http.Header `json:"header"`
}

func (d *delivery) submitCall(s step, r *Request) error {
	body, method := r.Body, r.Method
	if r.JSON != nil {
		var err error
		if body, err = marshal(r.JSON); err != nil {
			return NonRetryable(err)
		}
	}
	if method == "" {
		method = http.MethodGet
		if body != nil {
			method = http.MethodPost
		}
	}
	h := d.headers()
	delete(h, "upstash-forward-upstash-workflow-sdk-version")
	for name, value := range map[string]string{
		"method": method, "retries": strconv.Itoa(max(r.Retries, 0)), "feature-set": "WF_NoDelete,InitialBody",
		"workflow-calltype": "toCallback", "callback": d.url, "callback-workflow-runid": d.runID, "callback-workflow-url": d.url,
		"callback-workflow-calltype": "fromCallback", "callback-workflow-init": "false", "callback-feature-set": features,
		"callback-forward-upstash-workflow-callback": "true", "callback-forward-upstash-workflow-stepid": strconv.Itoa(s.ID),
		"callback-forward-upstash-workflow-stepname": s.Name, "callback-forward-upstash-workflow-steptype": "Call",
		"callback-forward-upstash-workflow-concurrent":  strconv.Itoa(s.Concurrent),
		"callback-forward-upstash-workflow-contenttype": "application/json",
	} {
		h["upstash-"+name] = value
	}
	deliverySettings(h, 0, r.RetryDelay, r.Timeout, r.FlowControl)
	for name, values := range r.Header {
		h["upstash-forward-"+strings.ToLower(name)] = strings.Join(values, ", ")
	}
	h["content-type"] = cmp.Or(r.Header.Get("Content-Type"), "application/json")
	delete(h, "upstash-forward-content-type")
	return d.batch(d.ctx, item{r.URL, h, string(body)})
}

// called submits the answer of a third party as the result of its step.
func (h *handler) called(r *http.Request, run string, body []byte) error {
	if len(body) == 0 {
		list, err := h.fetch(r, run)
		if err != nil {
			return err
		}
		body = list[len(list)-1].Body
	}
	var in struct {
		Status              int
		Header              http.Header
		Body                []byte
		Retried, MaxRetries int
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return fmt.Errorf("workflow: the answer of a third party: %w", err)
	}
	if (in.Status < 200 || in.Status > 299) && in.MaxRetries > 0 && in.Retried != in.MaxRetries {
		return nil // it will be tried again
	}
	out := callResult{Status: in.Status, Body: string(in.Body), Header: in.Header}
	if !utf8.Valid(in.Body) {
		out.Body, out.Bytes = "", in.Body
	}
	b, err := marshal(out)
	id, err2 := strconv.Atoi(r.Header.Get(header + "StepId"))
	concurrent, err3 := strconv.Atoi(r.Header.Get(header + "Concurrent"))
	if err := errors.Join(err, err2, err3); err != nil {
		return fmt.Errorf("workflow: Missing info in callback message source header: %w", err)
	}
	result := step{ID: id, Name: r.Header.Get(header + "StepName"), Type: r.Header.Get(header + "StepType"), Out: text(string(b)), Concurrent: concurrent}
	url := h.urlOf(r)
	return h.submit(r.Context(), "/v2/publish/"+url, messageHeaders(run, url, r.Header.Get(header+"CreatedAt")), result, nil)
}
