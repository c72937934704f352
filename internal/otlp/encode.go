package otlp

import (
	"bytes"
	"compress/gzip"
	"maps"
	"slices"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// scope names what makes the spans.
const scope = "github.com/trireme-dev/trireme"

// encode writes the body of a request. TracesData has the form of an ExportTraceServiceRequest, whose type would bring
// gRPC along.
func encode(of *resource.Resource, spans []Span, plain bool) ([]byte, error) {
	list := make([]*trace.Span, len(spans))
	for i := range spans {
		list[i] = spans[i].message()
	}
	body, err := proto.Marshal(&trace.TracesData{ResourceSpans: []*trace.ResourceSpans{{
		Resource: of, ScopeSpans: []*trace.ScopeSpans{{Scope: &common.InstrumentationScope{Name: scope}, Spans: list}},
	}}})
	if err != nil || plain {
		return body, err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err == nil {
		_, err = z.Write(body)
	}
	if err == nil {
		err = z.Close()
	}
	return b.Bytes(), err
}

// flags says that a span's ids are not known to be random, but that its trace is recorded.
const flags = 1

func (s *Span) message() *trace.Span {
	m := &trace.Span{
		TraceId: s.Trace[:], SpanId: s.ID[:], TraceState: s.State, Name: s.Name, Kind: trace.Span_SpanKind(s.Kind), Flags: flags,
		StartTimeUnixNano: nanos(s.Start), EndTimeUnixNano: nanos(s.End), Attributes: attributes(s.Attributes),
	}
	if s.Parent != (SpanID{}) {
		m.ParentSpanId = s.Parent[:]
	}
	if s.Link != (SpanID{}) {
		m.Links = []*trace.Span_Link{{TraceId: s.Trace[:], SpanId: s.Link[:], Flags: flags}}
	}
	if s.Failed {
		m.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR, Message: s.Error}
	}
	return m
}

func nanos(t time.Time) uint64 { return uint64(max(t.UnixNano(), 0)) }

func attributes(list []Attribute) []*common.KeyValue {
	out := make([]*common.KeyValue, len(list))
	for i, a := range list {
		v := &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: a.Text}}
		if a.Text == "" {
			v.Value = &common.AnyValue_IntValue{IntValue: a.Number}
		}
		out[i] = &common.KeyValue{Key: a.Key, Value: v}
	}
	return out
}

// resourceOf is the description of this process.
func resourceOf(all map[string]string) *resource.Resource {
	r := &resource.Resource{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		r.Attributes = append(r.Attributes, &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: all[key]}}})
	}
	return r
}
