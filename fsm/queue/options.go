package queue

import (
	"slices"

	"trireme/fsm/wire"
)

// Option is a set of options: those that a request has named itself, which a group's defaults must not replace, and
// which replace those of a dead letter that is retried.
type Option uint32

// The options.
const (
	GivenMethod Option = 1 << iota
	GivenHeader
	GivenTimeout
	GivenRetries
	GivenRetryDelay
	GivenDelay
	GivenNotBefore
	GivenCallback
	GivenFailure
	GivenFlow
	GivenLabels
	GivenRedact
	GivenQueue
)

// Options configure a message (messages.md section 4). A field counts only if Given names it; the zero value is what
// a publish without headers asks for.
type Options struct {
	Given Option
	// Method of the delivery; empty is POST.
	Method string
	// Header is what the destination gets: forwarded headers and Content-Type.
	Header []Field
	// Timeout of an attempt in milliseconds; it may only shorten Settings.MaxTimeout.
	Timeout int64
	// Retries after the first attempt.
	Retries int
	// RetryDelay is the expression of the time between attempts, as given. The leader evaluates it.
	RetryDelay string
	// Delay of the first attempt in milliseconds.
	Delay int64
	// NotBefore is the earliest first attempt in unix milliseconds; it wins over Delay.
	NotBefore int64
	// Callback is called after each attempt, Failure once when the message has failed.
	Callback, Failure *Callback
	Flow              *FlowControl
	Labels            []string
	Redact            *Redaction
	// Queue delivers the message in order of this queue, which is made if it doesn't exist.
	Queue string
}

// Callback is where the outcome of a message is sent, as a message of its own.
type Callback struct {
	URL string
	// Options of the callback message; its own callbacks and queue are ignored.
	Options Options
}

// FlowControl names a flow-control key and the limits that the key has from this message on.
type FlowControl struct {
	Key string
	// Parallelism is the most attempts under way, Rate the most attempts in Period; 0 is no limit.
	Parallelism, Rate int
	// Period is in milliseconds.
	Period int64
}

// Redaction says what answers of the API hide. Deliveries are not affected.
type Redaction struct {
	Body, Header bool
	// Names are single headers, in any case of letters.
	Names []string
}

// Over gives base with all that o names itself in place of base's. Of headers, those of base stay that o
// doesn't name.
func (o Options) Over(base Options) Options {
	out := base
	out.Given |= o.Given
	has := func(g Option) bool { return o.Given&g != 0 }
	if has(GivenMethod) {
		out.Method = o.Method
	}
	if has(GivenHeader) {
		out.Header = headerOver(o.Header, base.Header)
	}
	if has(GivenTimeout) {
		out.Timeout = o.Timeout
	}
	if has(GivenRetries) {
		out.Retries = o.Retries
	}
	if has(GivenRetryDelay) {
		out.RetryDelay = o.RetryDelay
	}
	if has(GivenDelay | GivenNotBefore) {
		out.Delay, out.NotBefore = o.Delay, o.NotBefore
		out.Given = out.Given&^(GivenDelay|GivenNotBefore) | o.Given&(GivenDelay|GivenNotBefore)
	}
	if has(GivenCallback) {
		out.Callback = o.Callback
	}
	if has(GivenFailure) {
		out.Failure = o.Failure
	}
	if has(GivenFlow) {
		out.Flow = o.Flow
	}
	if has(GivenLabels) {
		out.Labels = o.Labels
	}
	if has(GivenRedact) {
		out.Redact = o.Redact
	}
	if has(GivenQueue) {
		out.Queue = o.Queue
	}
	return out
}

// headerOver is a header with the fields of base that own doesn't name.
func headerOver(own, base []Field) []Field {
	out := make([]Field, 0, len(own)+len(base))
	for _, b := range base {
		named := func(f Field) bool { return CanonicalName(f.Name) == CanonicalName(b.Name) }
		if !slices.ContainsFunc(own, named) {
			out = append(out, b)
		}
	}
	return append(out, own...)
}

// Encode writes the fields.
func (o *Options) Encode(w *wire.Writer) {
	w.Uvarint(uint64(o.Given))
	w.String(o.Method)
	encodeHeader(w, o.Header)
	w.Varint(o.Timeout)
	w.Varint(int64(o.Retries))
	w.String(o.RetryDelay)
	w.Varint(o.Delay)
	w.Varint(o.NotBefore)
	o.Callback.encode(w)
	o.Failure.encode(w)
	o.Flow.encode(w)
	w.Texts(o.Labels)
	o.Redact.encode(w)
	w.String(o.Queue)
}

// Decode reads the fields; texts alias the input.
func (o *Options) Decode(r *wire.Reader) { o.decode(r, 0) }

// decode knows how deep callbacks stand in callbacks: one level has a meaning.
func (o *Options) decode(r *wire.Reader, depth int) {
	o.Given, o.Method, o.Header = Option(r.Uvarint()), r.Alias(), decodeHeader(r)
	o.Timeout, o.Retries, o.RetryDelay = r.Varint(), int(r.Varint()), r.Alias()
	o.Delay, o.NotBefore = r.Varint(), r.Varint()
	o.Callback, o.Failure = decodeCallback(r, depth), decodeCallback(r, depth)
	o.Flow, o.Labels, o.Redact = decodeFlow(r), r.Texts(), decodeRedaction(r)
	o.Queue = r.Alias()
}

// encode writes the callback behind its length, which is 0 if there is none.
func (c *Callback) encode(w *wire.Writer) {
	w.Record(func(w *wire.Writer) {
		if c != nil {
			o := c.Options
			o.Callback, o.Failure, o.Queue = nil, nil, ""
			w.String(c.URL)
			w.Record(o.Encode)
		}
	})
}

func decodeCallback(r *wire.Reader, depth int) *Callback {
	in := r.Record()
	if in.Len() == 0 || depth > 0 {
		return nil
	}
	c := &Callback{URL: in.Alias()}
	c.Options.decode(in.Record(), depth+1)
	return c
}

func (f *FlowControl) encode(w *wire.Writer) {
	w.Record(func(w *wire.Writer) {
		if f != nil {
			w.String(f.Key)
			w.Varint(int64(f.Parallelism))
			w.Varint(int64(f.Rate))
			w.Varint(f.Period)
		}
	})
}

func decodeFlow(r *wire.Reader) *FlowControl {
	in := r.Record()
	if in.Len() == 0 {
		return nil
	}
	return &FlowControl{Key: in.Alias(), Parallelism: int(in.Varint()), Rate: int(in.Varint()), Period: in.Varint()}
}

func (d *Redaction) encode(w *wire.Writer) {
	w.Record(func(w *wire.Writer) {
		if d != nil {
			w.Bool(d.Body)
			w.Bool(d.Header)
			w.Texts(d.Names)
		}
	})
}

func decodeRedaction(r *wire.Reader) *Redaction {
	in := r.Record()
	if in.Len() == 0 {
		return nil
	}
	return &Redaction{Body: in.Bool(), Header: in.Bool(), Names: in.Texts()}
}
