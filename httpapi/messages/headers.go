package messages

import (
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// Headers is the header of a request or of an item of a batch, read once: every other reader, including those of
// workflows, uses it. Make one with Parser.ReadHeaders.
type Headers struct {
	parser *Parser
	header http.Header
	// fields are the service headers; they are not changed.
	fields fields
}

// ReadHeaders reads a header.
func (p *Parser) ReadHeaders(h http.Header) *Headers {
	return &Headers{p, h, readFields(h, p.Prefixes)}
}

// Field returns the first value of a service header of any prefix without blanks around it, empty if there is none. The
// name is in lower case and without prefix.
func (h *Headers) Field(name string) string { return h.fields.get(name) }

// Is reports whether a service header has the value true, in any case of letters.
func (h *Headers) Is(name string) bool { return strings.EqualFold(h.Field(name), "true") }

// Values returns all values of a service header.
func (h *Headers) Values(name string) []string { return h.fields[name] }

// Dedup returns the deduplication id of a message, and whether its content counts as one.
func (h *Headers) Dedup() (id string, content bool, err error) {
	var out queue.Publication
	err = readDedup(h.fields, &out)
	return out.DedupID, out.ContentDedup, err
}

// Options returns what service headers say of a message of a run: how it is delivered, and what is forwarded with it.
func (h *Headers) Options() (queue.Options, error) {
	forwarded, err := h.parser.forwarded(&call{header: h.header}, h.fields)
	if err != nil {
		return queue.Options{}, err
	}
	return h.options(forwarded)
}

// OwnOptions returns Options without the Content-Type of the request, which describes a body with another purpose.
func (h *Headers) OwnOptions() (queue.Options, error) {
	forwarded, err := h.parser.forwarded(&call{header: h.header}, h.fields)
	if err != nil {
		return queue.Options{}, err
	}
	own := forwarded[:0:0]
	for _, f := range forwarded {
		if f.Name != "Content-Type" {
			own = append(own, f)
		}
	}
	return h.options(own)
}

func (h *Headers) options(forwarded []queue.Field) (queue.Options, error) {
	f := maps.Clone(h.fields)
	delay, before := takeFraction(f, "delay", "s"), takeFraction(f, "not-before", "")
	o, err := h.parser.options(f, forwarded)
	if err != nil {
		return o, err
	}
	if delay > 0 {
		o.Delay, o.Given = delay, o.Given|queue.GivenDelay
	}
	if before > 0 {
		o.NotBefore, o.Given = before, o.Given|queue.GivenNotBefore
	}
	return o, h.parser.checkCallbacks(&queue.Publication{Options: o})
}

// takeFraction removes and returns a field that is a number of seconds with a fraction, in milliseconds; 0 if it has
// another form. Other requests may not use that form, but SDKs write what a workflow's code says.
func takeFraction(f fields, name, unit string) int64 {
	text := f.get(name)
	seconds, err := strconv.ParseFloat(strings.TrimSuffix(text, unit), 64)
	if err != nil || !strings.Contains(text, ".") || !(seconds >= 0 && seconds < 1<<40) {
		return 0
	}
	delete(f, name)
	return int64(math.Ceil(seconds * 1000))
}

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
