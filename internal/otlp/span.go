package otlp

import (
	"encoding/binary"
	"math"
	"time"
)

// TraceID and SpanID are ids of W3C Trace Context; the zero ones are none.
type (
	TraceID [16]byte
	SpanID  [8]byte
)

// Kind is the kind of a span, with the numbers of OTLP.
type Kind int32

// The kinds.
const (
	Internal Kind = iota + 1
	Serving
	Client
	Producer
	Consumer
)

// Span is a finished span.
type Span struct {
	Trace  TraceID
	ID     SpanID
	Parent SpanID
	// State is the tracestate.
	State      string
	Name       string
	Kind       Kind
	Start, End time.Time
	Attributes []Attribute
	// Link is another span of the trace that this one is caused by, zero for none.
	Link SpanID
	// Failed: its status is an error, of which Error says more.
	Failed bool
	Error  string
}

// Attribute is one of a span: Text, or Number if Text is empty.
type Attribute struct {
	Key, Text string
	Number    int64
}

// Text and Number make attributes.
func Text(key, value string) Attribute { return Attribute{Key: key, Text: value} }

// Number is an attribute with a number.
func Number(key string, n int64) Attribute { return Attribute{Key: key, Number: n} }

// Sampler decides which traces are recorded, everywhere alike.
type Sampler struct {
	// Parent: what a traceparent says counts, and Ratio only without one.
	Parent bool
	// Ratio is the part of all traces that is recorded, 0 to 1.
	Ratio float64
}

// Sample reports whether a trace is recorded. remote says that the request has a traceparent, and sampled is its flag.
func (s Sampler) Sample(id TraceID, remote, sampled bool) bool {
	if s.Parent && remote {
		return sampled
	}
	return s.Ratio >= 1 || float64(binary.BigEndian.Uint64(id[8:])>>1) < s.Ratio*float64(math.MaxInt64)
}
