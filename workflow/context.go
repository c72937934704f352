package workflow

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Context is one attempt of a run, for the workflow's function. It is a context.Context that ends with the request. It belongs to one branch,
// and must not be used by goroutines that the function starts by itself.
type Context struct {
	context.Context
	// RunID, URL and CreatedAt are the run's.
	RunID, URL string
	CreatedAt  time.Time
	// Payload of the trigger.
	Payload []byte
	// Header has the headers that the trigger forwards, without those of the service.
	Header http.Header
	Labels []string
	// Retried is how often this delivery was repeated.
	Retried int
	// Request is the delivery. Its body is read.
	Request *http.Request

	d *delivery
	b *branch
}

// SetAhead lets up to n steps of an inline run be done while results before them are on their way to the log: for steps that are cheap to
// repeat. With 0 a step begins when all before it are recorded. Otherwise a request that fails may leave up to n+1 steps to be done again, and
// the later of them have seen results that are lost.
func (c *Context) SetAhead(n int) { c.d.ahead = n }

// Cancel cancels the run. It does not return.
func (c *Context) Cancel() {
	c.enter()
	d := c.d
	if d.inline != nil {
		c.check(d.recordNow(nil))
	}
	err := d.ask(d.ctx, http.MethodDelete, "/v2/workflows/runs/"+d.runID+"?cancel=true", nil, nil, nil)
	if status(err) == http.StatusNotFound {
		err = nil
	}
	c.fail(err)
}

// traceKey is the key of a delivery's trace headers in its context.
type traceKey struct{}

// traceHeaders are the headers of W3C's trace context.
var traceHeaders = []string{"Traceparent", "Tracestate", "Baggage"}

// TraceHeader returns the trace headers of the delivery that a context belongs to, for requests of its steps.
func TraceHeader(ctx context.Context) http.Header {
	h, _ := ctx.Value(traceKey{}).(http.Header)
	return h.Clone()
}

func withTrace(r *http.Request) context.Context {
	h := http.Header{}
	for _, name := range traceHeaders {
		if v := r.Header[name]; v != nil {
			h[name] = v
		}
	}
	return context.WithValue(r.Context(), traceKey{}, h)
}

// own are headers of a delivery that are not the user's, besides those of workflows.
var own = map[string]bool{
	"Upstash-Signature": true, "Upstash-Message-Id": true, "Upstash-Retried": true, "Upstash-Region": true, "Upstash-Caller-Ip": true,
	"Upstash-Topic-Name": true, "Upstash-Schedule-Id": true, "Upstash-Label": true, "Content-Length": true,
}

// forwarded returns the headers of the user.
func forwarded(h http.Header) http.Header {
	all := http.Header{}
	for name, values := range h {
		if !own[name] && !strings.HasPrefix(name, header) {
			all[name] = values
		}
	}
	return all
}

func (d *delivery) newContext(r *http.Request, payload []byte) *Context {
	c := &Context{Context: d.ctx, RunID: d.runID, URL: d.url, Payload: payload, Header: forwarded(r.Header), Request: r, d: d}
	if ms, err := strconv.ParseInt(d.created, 10, 64); err == nil {
		c.CreatedAt = time.UnixMilli(ms)
	}
	if labels := r.Header.Get("Upstash-Label"); labels != "" {
		c.Labels = strings.Split(labels, ",")
	}
	c.Retried, _ = strconv.Atoi(r.Header.Get("Upstash-Retried"))
	return c
}
