package messages

import (
	"net/http"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// Trace returns the trace context of a request or an item of a batch.
func (h *Headers) Trace() queue.TraceContext { return h.parser.traceOf(h.header) }

// KeepsTraces reports whether messages keep the trace context of the request that publishes them.
func (p *Parser) KeepsTraces() bool { return p.Traces != nil && p.Traces() }

// traceOf returns the trace context that a header names, none unless messages keep it.
func (p *Parser) traceOf(h http.Header) queue.TraceContext {
	parents := h[queue.TraceParentHeader]
	if len(parents) == 0 || !p.KeepsTraces() {
		return queue.TraceContext{}
	}
	return queue.ParseTraceContext(parents, h[queue.TraceStateHeader])
}

func isTraceHeader(name string) bool {
	return name == queue.TraceParentHeader || name == queue.TraceStateHeader
}

// InheritTrace gives an item of a batch that names no trace the trace of its request. It changes the item's header.
func (p *Parser) InheritTrace(item, request http.Header) {
	if len(item[queue.TraceParentHeader]) > 0 || p.traceOf(request).IsZero() {
		return
	}
	item[queue.TraceParentHeader] = request[queue.TraceParentHeader]
	item[queue.TraceStateHeader] = request[queue.TraceStateHeader]
}

// WithoutTrace returns a header to be forwarded without the trace context of a delivery: SDKs send back what they were
// sent, as if it were the user's.
func WithoutTrace(header []queue.Field) []queue.Field {
	out := header[:0:0]
	for _, f := range header {
		if !isTraceHeader(canonical(f.Name)) {
			out = append(out, f)
		}
	}
	return out
}
