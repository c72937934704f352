package tracing

import (
	"cmp"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/internal/otlp"
)

// place is the position of an attempt in a trace.
type place struct {
	trace   otlp.TraceID
	parent  otlp.SpanID
	state   string
	sampled bool
	// published is the parent of the publication's span; isNew says that there is such a span, which messages of runs don't have.
	published otlp.SpanID
	isNew     bool
	run       string
}

// placeOf finds the place of an attempt. A message of a run belongs to the run's span, any other to that of its publication.
// Without a trace context of the publisher's a trace begins with the message, or with the one that a callback is about.
func (t *Tracer) placeOf(node Node, a *queue.Attempt) (p place) {
	c := a.Content
	remoteTrace, remoteSpan := remote(c.Trace)
	p = place{trace: remoteTrace, state: c.Trace.State, published: remoteSpan, parent: publishSpan(a.DB, a.ID), isNew: true}
	source := a.ID
	if !c.Source.ID.IsZero() {
		source = c.Source.ID
		p.published = publishSpan(a.DB, source)
	}
	if c.Trace.IsZero() {
		p.trace = traceID("message", a.DB, source.String(), 0)
	}
	if ref, ok := workflow.ParseRef(c.Run); ok {
		node.Machine().View(0, [16]byte{}, func(v *fsm.View) {
			if r, there := v.WorkflowsOf(a.DB).Run(ref.Run); there {
				p.trace, p.parent, p.run, p.isNew = runTrace(a.DB, r), runSpan(a.DB, r), strings.Clone(r.ID), false
			}
		})
	}
	p.sampled = t.Sampler.Sample(p.trace, !c.Trace.IsZero(), c.Trace.Sampled())
	return p
}

// header is the trace context of a span at that place.
func (p place) header(span otlp.SpanID) queue.TraceContext {
	flags := "-00"
	if p.sampled {
		flags = "-01"
	}
	return queue.TraceContext{Parent: "00-" + hex.EncodeToString(p.trace[:]) + "-" + hex.EncodeToString(span[:]) + flags, State: p.state}
}

// attemptKey names an attempt under way by its message, which has one at a time.
type attemptKey struct {
	db string
	id queue.ID
}

// openAttempt is an attempt that has not ended.
type openAttempt struct {
	number  uint64
	claimed int64
	span    otlp.Span
}

// claimed begins the span of an attempt, and makes that of the publication with the first one.
func (t *Tracer) claimed(node Node, a *queue.Attempt) {
	p, key := t.placeOf(node, a), attemptKey{a.DB, a.ID}
	if lost := t.open[key]; lost != nil {
		t.end(lost, a.Claimed-lost.claimed, a.Claimed, "the attempt's outcome is not known: its node has stopped or leads no more", "lost")
	}
	delete(t.open, key)
	if !p.sampled {
		return
	}
	if a.Number == 1 && p.isNew {
		t.emit(a.Claimed, publication(a, p))
	}
	if t.open == nil || len(t.open) >= maxOpen { // of attempts that have not ended
		t.open = map[attemptKey]*openAttempt{}
	}
	t.open[key] = &openAttempt{a.Number, a.Claimed, otlp.Span{
		Trace: p.trace, ID: attemptSpan(a.DB, a.ID, a.Number), Parent: p.parent, State: p.state, Link: p.parent, Kind: otlp.Client,
		Name: a.Content.DeliveryMethod(), Start: time.UnixMilli(a.Claimed), Attributes: attemptAttributes(a, p),
	}}
}

// publication is the producer span of a message.
func publication(a *queue.Attempt, p place) otlp.Span {
	at := time.UnixMilli(a.Content.Created)
	return otlp.Span{
		Trace: p.trace, ID: p.parent, Parent: p.published, State: p.state, Kind: otlp.Producer, Name: "send " + destination(a), Start: at, End: at,
		Attributes: append(messaging(a, "send", "publish"), otlp.Number("messaging.message.body.size", int64(len(a.Content.Body)))),
	}
}

// destination names where a message was published to, with few different names: a queue, a URL group, or a host.
func destination(a *queue.Attempt) string {
	return cmp.Or(a.Content.Queue, a.Content.Group, a.Content.Host())
}

// messaging are the attributes of the semantic conventions for messages.
func messaging(a *queue.Attempt, kind, name string) []otlp.Attribute {
	return []otlp.Attribute{
		otlp.Text("messaging.system", "trireme"), otlp.Text("messaging.operation.type", kind), otlp.Text("messaging.operation.name", name),
		otlp.Text("messaging.destination.name", destination(a)), otlp.Text("messaging.message.id", a.ID.String()),
	}
}

func attemptAttributes(a *queue.Attempt, p place) []otlp.Attribute {
	list := append(messaging(a, "process", "deliver"), otlp.Text("http.request.method", a.Content.DeliveryMethod()))
	if u, err := url.Parse(a.Content.URL); err == nil {
		port, _ := strconv.ParseInt(u.Port(), 10, 32)
		if port == 0 {
			port = map[string]int64{"http": 80, "https": 443}[u.Scheme]
		}
		origin := url.URL{Scheme: u.Scheme, Host: u.Host} // there may be secrets in the rest
		list = append(list, otlp.Text("url.full", origin.String()), otlp.Text("server.address", u.Hostname()), otlp.Number("server.port", port))
	}
	if a.Retried > 0 {
		list = append(list, otlp.Number("http.request.resend_count", int64(a.Retried)))
	}
	for _, one := range []otlp.Attribute{otlp.Text("trireme.schedule.id", a.Content.Schedule), otlp.Text("trireme.workflow.run.id", p.run)} {
		if one.Text != "" {
			list = append(list, one)
		}
	}
	return list
}

// finished ends the span of an attempt.
func (t *Tracer) finished(n *queue.Result, now int64) {
	key := attemptKey{n.DB, n.ID}
	a := t.open[key]
	if a == nil || a.number != n.Number {
		return
	}
	delete(t.open, key)
	status := n.Response.Status
	if status != 0 {
		a.span.Attributes = append(a.span.Attributes, otlp.Number("http.response.status_code", int64(status)))
	}
	switch {
	case n.Lost:
		t.end(a, now-a.claimed, now, "the attempt was ended before its outcome was known", "lost")
	case n.Error == workflow.RunOver:
		t.end(a, n.Took, now, workflow.RunOver, "cancelled")
	case status == 0:
		t.end(a, n.Took, now, strings.Clone(n.Error), "unreachable")
	case n.Error != "": // the commands of the answer were refused
		t.end(a, n.Took, now, strings.Clone(n.Error), "refused")
	case status < 200 || status > 299:
		t.end(a, n.Took, now, "", strconv.Itoa(status))
	default:
		t.end(a, n.Took, now, "", "")
	}
}

// end ends a span after some milliseconds; kind says what has failed, empty for nothing.
func (t *Tracer) end(a *openAttempt, took, now int64, text, kind string) {
	s := a.span
	s.End = time.UnixMilli(a.claimed + max(took, 0))
	if kind != "" {
		s.Failed, s.Error = true, text
		s.Attributes = append(s.Attributes, otlp.Text("error.type", kind))
	}
	t.emit(now, s)
}
