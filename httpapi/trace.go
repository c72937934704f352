package httpapi

import (
	"log/slog"
	"time"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/node/tracing"
)

// trace exports the spans of the request, if it is one of those that are recorded.
func (c *call) trace(begin time.Time, took time.Duration) {
	if c.s.traces == nil || c.kind == kindOps || c.kind == kindPreflight {
		return
	}
	h := c.r.Header
	c.place = c.s.traces.Sample(h[queue.TraceParentHeader], h[queue.TraceStateHeader])
	if !c.place.Recorded() {
		return
	}
	if c.took > 0 { // its rows were run
		below := c.place.Below()
		c.s.traces.Run(&below, tracing.Calls{DB: c.database(), Rows: c.rows, Values: c.values, Began: c.began, Took: c.took})
	}
	c.s.traces.HTTP(&c.place, tracing.Request{
		Method: c.r.Method, Route: requestKinds[c.kind].path, Scheme: c.scheme(), Client: c.r.RemoteAddr, Agent: c.r.UserAgent(), Status: c.status, Began: begin, Took: took,
	})
}

func (c *call) scheme() string {
	if c.r.TLS != nil {
		return "https"
	}
	return "http"
}

// traceIDs returns the log's attributes for the trace that the request belongs to: the trace of its span, or the one that
// its caller names.
func (c *call) traceIDs() []slog.Attr {
	if c.place.Recorded() {
		return []slog.Attr{slog.String("trace_id", c.place.TraceID()), slog.String("span_id", c.place.SpanID())}
	}
	if of := queue.ParseTraceContext(c.r.Header[queue.TraceParentHeader], nil); !of.IsZero() {
		return []slog.Attr{slog.String("trace_id", of.TraceID())}
	}
	return nil
}
