package queue

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/wire"
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
	GivenTrace
	GivenCommit
	GivenPrecedence
	GivenGather
	GivenOnFailure
)

// Options configure a message (docs/messages.md). A field counts only if Given names it; the zero value is that of
// a publish without headers.
type Options struct {
	Given Option
	// Method of the delivery; empty is POST.
	Method string
	// Header holds the headers for the destination: forwarded headers and Content-Type.
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
	// Trace is the trace context that deliveries carry.
	Trace TraceContext
	// CommitAs is the user of the database with whose rights the commands of an answer run; without one they are ignored.
	CommitAs string
	// Hops is the number of triggers that led to the message; see MaxHops.
	Hops uint8
	// Precedence says how the message stands among others that wait for the same; nil is that of a publish without such headers.
	Precedence *Precedence
	// Gather says what becomes of the message where there is another of its key; nil if it is on its own.
	Gather *Gather
	// OnFailure says what happens when the retries are used up.
	OnFailure OnFailure
}

// Callback is the destination of the outcome of a message, which is a message of its own.
type Callback struct {
	URL string
	// Options of the callback message; its own callbacks, queue and user are ignored.
	Options Options
}

// FlowControl names a flow-control key and the limits that the key has from this message on.
type FlowControl struct {
	Key string
	// Parallelism is the most attempts under way, Rate the most attempts in Period (0 = unlimited).
	Parallelism, Rate int
	// Period is in milliseconds.
	Period int64
	// Burst makes the rate a token bucket with so many tokens at most (0 = windows of Period).
	Burst int
}

// Redaction says what answers of the API hide. Deliveries are not affected.
type Redaction struct {
	Body, Header bool
	// Names are single headers, in any case of letters.
	Names []string
	// Salt goes into what is shown instead; drawn when the message, schedule or run is stored.
	Salt []byte
}

// Over returns base with all that o names itself in place of base's. Of headers, those of base stay that o
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
	if has(GivenTrace) {
		out.Trace = o.Trace
	}
	if has(GivenCommit) {
		out.CommitAs = o.CommitAs
	}
	out.Hops = max(o.Hops, base.Hops)
	if has(GivenPrecedence) {
		out.Precedence = o.Precedence.over(base.Precedence)
	}
	if has(GivenGather) {
		out.Gather = o.Gather
	}
	if has(GivenOnFailure) {
		out.OnFailure = o.OnFailure
	}
	return out
}

// headerOver is a header with the fields of base that own doesn't name.
func headerOver(own, base []Field) []Field {
	out := make([]Field, 0, len(own)+len(base))
	named := namesOf(own)
	for _, b := range base {
		if !named.has(b.Name) {
			out = append(out, b)
		}
	}
	return append(out, own...)
}

// names are those of a header, in any case of letters.
type names struct {
	header []Field
	set    map[string]struct{} // by canonical name, if they are many
}

func namesOf(header []Field) names {
	n := names{header: header}
	if len(header) > maxScannedWords {
		n.set = make(map[string]struct{}, len(header))
		for _, f := range header {
			n.set[CanonicalName(f.Name)] = struct{}{}
		}
	}
	return n
}

func (n *names) has(name string) bool {
	if n.set == nil {
		return slices.ContainsFunc(n.header, func(f Field) bool { return sameName(f.Name, name) })
	}
	_, is := n.set[CanonicalName(name)]
	return is
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (o *Options) Fields(c *wire.Codec) { o.fields(c, true) }

// callbackFields codes the options of a callback, which has no callbacks of its own.
func (o *Options) callbackFields(c *wire.Codec) { o.fields(c, false) }

// extended reports whether the options say something that the level env.Files has brought.
func (o *Options) extended() bool {
	return o.CommitAs != "" || o.Hops != 0 || o.Precedence != nil || o.Gather != nil || o.OnFailure != DeadLetter
}

func (o *Options) fields(c *wire.Codec, callbacks bool) {
	wire.Uint(c, &o.Given)
	c.Text(&o.Method)
	wire.List(c, &o.Header, 2)
	c.Varint(&o.Timeout)
	c.Int(&o.Retries)
	c.Text(&o.RetryDelay)
	c.Varint(&o.Delay)
	c.Varint(&o.NotBefore)
	if callbacks {
		wire.Optional(c, &o.Callback)
		wire.Optional(c, &o.Failure)
	} else {
		c.Skip()
		c.Skip()
	}
	wire.Optional(c, &o.Flow)
	c.Texts(&o.Labels)
	wire.Optional(c, &o.Redact)
	c.Text(&o.Queue)
	if c.More(o.Trace.Parent != "" || o.extended()) {
		c.Text(&o.Trace.Parent)
		c.Text(&o.Trace.State)
	}
	if c.More(o.extended()) { // from the level env.Files on
		c.Text(&o.CommitAs)
		wire.Uint(c, &o.Hops)
		wire.Optional(c, &o.Precedence)
		wire.Optional(c, &o.Gather)
		wire.Uint(c, &o.OnFailure)
	}
}

// Fields codes the value in its wire format.
func (ca *Callback) Fields(c *wire.Codec) {
	c.Text(&ca.URL)
	inner := ca.Options
	inner.Callback, inner.Failure, inner.Queue, inner.CommitAs, inner.Hops = nil, nil, "", "", 0
	inner.Gather, inner.OnFailure = nil, DeadLetter
	c.Record(inner.callbackFields)
	if c.Reading() {
		ca.Options = inner
	}
}

// Fields codes the value in its wire format.
func (fc *FlowControl) Fields(c *wire.Codec) {
	c.Text(&fc.Key)
	c.Int(&fc.Parallelism)
	c.Int(&fc.Rate)
	c.Varint(&fc.Period)
	if c.More(fc.Burst != 0) { // from the level env.Files on
		c.Int(&fc.Burst)
	}
}

// Fields codes the value in its wire format.
func (r *Redaction) Fields(c *wire.Codec) {
	c.Bool(&r.Body)
	c.Bool(&r.Header)
	c.Texts(&r.Names)
	if c.More(len(r.Salt) > 0) {
		c.Bytes(&r.Salt)
	}
}
