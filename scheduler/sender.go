package scheduler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm/httpurl"
	"github.com/trireme-dev/trireme/internal/idn"

	"github.com/trireme-dev/trireme/fsm/backoff"
	"github.com/trireme-dev/trireme/fsm/httpfield"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// The bounds of what is kept of an answer, in bytes.
const (
	// DefaultResponse limits the body of an answer that a callback or a workflow gets, in bytes, unless
	// SenderOptions.MaxResponse says otherwise.
	DefaultResponse = 10 << 20
	// recordedFailure limits the body of a failure that events and dead letters keep, in bytes.
	recordedFailure = 256 << 10
	// drainLimit limits the bytes beyond that which are read and discarded, so that the connection can be used
	// again. A longer answer closes the connection.
	drainLimit = 256 << 10
	// maxError is the longest text of an error.
	maxError = 400
)

// SenderOptions say how attempts are sent.
type SenderOptions struct {
	Transport http.RoundTripper
	// Prefixes are the prefixes of the service's headers; each header is sent under all.
	Prefixes []string
	// Issuer is the iss claim of signatures.
	Issuer string
	// Keys returns the signing keys of a database (empty = default) as this node knows them now.
	Keys func(db string) queue.Keys
	// Region, if set, is sent to receivers.
	Region string
	// APITokens are the credentials of API destinations by name.
	APITokens map[string]string
	// Deliveries returns what attempts of workflow runs send, see Deliveries; without it there are none.
	Deliveries func(*queue.Attempt) (*workflow.Delivery, bool)
	// DefaultDelay is the backoff of messages that name none.
	DefaultDelay *backoff.Expr
	// MaxResponse returns how much of an answer's body is kept for callbacks and workflows, in
	// bytes. It is asked for each attempt, because it may follow a replicated setting.
	MaxResponse func() int64
	// Propagate has attempts carry the trace context of their messages.
	Propagate bool
	// Trace returns the trace context that an attempt carries; nil for that of its message.
	Trace func(*queue.Attempt) queue.TraceContext
}

// Sender sends attempts over HTTP. It is safe for use by many goroutines.
type Sender struct {
	options SenderOptions
	// keys are the canonical names of service headers that most attempts have, under each prefix.
	keys map[string][]string
}

// NewSender makes a sender.
func NewSender(o SenderOptions) *Sender {
	if o.DefaultDelay == nil {
		o.DefaultDelay, _ = backoff.Parse(backoff.Default)
	}
	if o.MaxResponse == nil {
		o.MaxResponse = func() int64 { return DefaultResponse }
	}
	if o.Issuer == "" {
		o.Issuer = "Upstash"
	}
	s := &Sender{options: o, keys: map[string][]string{}}
	for _, name := range []string{
		"Message-Id", "Retried", "Caller-Ip", "Topic-Name", "Schedule-Id", "Region", "Signature",
		"Workflow-RunId", "Workflow-CreatedAt", "Workflow-Url", "Workflow-Init", "Workflow-CallType", // of every call of an endpoint
	} {
		s.keys[name] = s.keysOf(name)
	}
	return s
}

// Send makes one attempt and says how it went. It takes no longer than the attempt's
// timeout. If ctx ends first, the outcome is not known, and ok is false.
func (s *Sender) Send(ctx context.Context, a *queue.Attempt) (n queue.Answer, ok bool) {
	ref := a.Ref()
	begin := time.Now()
	a, d, ok := s.withRun(a)
	if !ok {
		return queue.Answer{Result: queue.Result{AttemptRef: ref, Error: workflow.RunOver}}, true
	}
	timed, cancel := context.WithTimeout(ctx, time.Duration(a.Timeout)*time.Millisecond)
	defer cancel()
	n.AttemptRef = ref
	p, err := s.exchange(timed, a, d, begin)
	if err != nil {
		if ctx.Err() != nil {
			return n, false
		}
		n.Error = failureText(err, p, a, timed)
		p = reply{}
	}
	n.Took = time.Since(begin).Milliseconds()
	if n.Response = s.record(p, a.Content); d != nil && d.ToEndpoint && p.ok() {
		n.Response = recordEndpoint(p, d)
	}
	if p.ok() && d == nil {
		n.Commit = s.commitOf(&p, a.Content)
	}
	if !p.ok() || len(n.Commit) > 0 { // which may be refused
		n.RetryDelay = s.retryDelay(p.asked, a.Content.RetryDelay, a.Retried, time.Now())
	}
	return n, true
}

// reply is an answer as far as it was read.
type reply struct {
	status int
	// asked is the whole header, which may ask this server for something, header what of it is recorded and passed on.
	asked, header http.Header
	body          []byte
	// cut: the body went on after what is kept of it.
	cut bool
}

func (r *reply) ok() bool { return r.status >= 200 && r.status <= 299 }

// exchange sends the request and reads the answer. With an error, reply holds what was
// read before it. While this node can open no connection nothing was sent, and that is not
// held against the message: it waits, as long as the attempt may take.
func (s *Sender) exchange(ctx context.Context, a *queue.Attempt, d *workflow.Delivery, now time.Time) (p reply, err error) {
	for {
		p, err = s.attempt(ctx, a, d, now)
		if !isExhausted(err) {
			return p, err
		}
		select {
		case <-time.After(exhaustedPause):
		case <-ctx.Done():
			return p, err
		}
	}
}

// exhaustedPause is the time that an attempt waits when this node has no free files.
const exhaustedPause = 50 * time.Millisecond

// attempt sends one request and reads its answer.
func (s *Sender) attempt(ctx context.Context, a *queue.Attempt, d *workflow.Delivery, now time.Time) (p reply, err error) {
	r, err := s.request(ctx, a, d, now)
	if err != nil {
		return p, err
	}
	answer, err := s.options.Transport.RoundTrip(r)
	if err != nil {
		return p, err
	}
	defer answer.Body.Close()
	p.status, p.asked, p.header = answer.StatusCode, answer.Header, httpfield.EndToEnd(answer.Header)
	if p.status == http.StatusSwitchingProtocols {
		return p, nil // its body is the connection
	}
	limit := s.kept(&p, a.Content)
	p.body, err = io.ReadAll(io.LimitReader(answer.Body, limit))
	if err != nil {
		return p, err
	}
	more, err := io.CopyN(io.Discard, answer.Body, drainLimit)
	p.cut = limit > 0 && more > 0
	if err == nil || errors.Is(err, io.EOF) {
		return p, nil
	}
	return p, err
}

// kept returns the number of bytes of an answer's body that are kept.
func (s *Sender) kept(p *reply, c *queue.Content) int64 {
	switch {
	case isTold(c), p.ok() && s.commitsBody(p, c):
		return s.options.MaxResponse()
	case p.ok():
		return 0
	}
	return min(recordedFailure, s.options.MaxResponse())
}

// isTold reports whether the answer to a message is passed on.
func isTold(c *queue.Content) bool {
	return c.Callback != nil || c.Failure != nil || len(c.Run) > 0 || !c.Source.ID.IsZero()
}

// record returns the part of an answer that goes into the log.
func (s *Sender) record(p reply, c *queue.Content) queue.Response {
	n := queue.Response{Status: p.status}
	if p.ok() && !isTold(c) {
		return n
	}
	n.Body = p.body
	for name, values := range p.header {
		if s.isCutMark(name) {
			continue // it is ours to say
		}
		for _, v := range values {
			n.Header = append(n.Header, queue.Field{Name: name, Value: v})
		}
	}
	if p.cut {
		for _, prefix := range s.options.Prefixes {
			n.Header = append(n.Header, queue.Field{Name: prefix + cutMark, Value: strconv.Itoa(len(p.body))})
		}
	}
	slices.SortStableFunc(n.Header, func(a, b queue.Field) int { return strings.Compare(a.Name, b.Name) })
	return n
}

// cutMark, after a prefix of service headers, is the header that is added to an answer whose body
// was cut: its value is the number of bytes kept. It is recorded with the answer's own headers, so
// that events, dead letters, callbacks and the results of a workflow's calls all show it.
const cutMark = "-Response-Truncated"

func (s *Sender) isCutMark(name string) bool {
	for _, prefix := range s.options.Prefixes {
		if strings.EqualFold(name, prefix+cutMark) {
			return true
		}
	}
	return false
}

// userAgent is the User-Agent of deliveries, unless the message brings its own.
const userAgent = "Upstash-QStash"

// writtenByTransport are headers of a message that the transport writes itself.
var writtenByTransport = map[string]bool{"Expect": true, "Host": true, "Content-Length": true}

// isLeftOut reports whether a header of a message is not in its request: it belongs to the connection, or it is the service's
// own.
func (s *Sender) isLeftOut(name string, connection []string) bool {
	return writtenByTransport[name] || httpfield.IsHopByHop(name, connection) || s.ownHeader(name)
}

// request is the HTTP request of an attempt. The URL and the body are
// those of the message, byte by byte, unless it was stored before URLs were escaped.
func (s *Sender) request(ctx context.Context, a *queue.Attempt, d *workflow.Delivery, now time.Time) (*http.Request, error) {
	c := a.Content
	method := c.Method
	if method == "" {
		method = http.MethodPost
	}
	var body io.Reader = http.NoBody
	if len(c.Body) > 0 {
		body = bytes.NewReader(c.Body)
	}
	to, err := httpurl.Read(c.URL, idn.ToASCII)
	if err != nil {
		return nil, fmt.Errorf("invalid destination url: %w", err) // without the URL: logs and spans show it too
	}
	r, err := newRequest(ctx, method, &to, body)
	if err != nil {
		return nil, err
	}
	connection := queue.Values(c.Header, "Connection")
	for _, f := range c.Header {
		if name := textproto.CanonicalMIMEHeaderKey(f.Name); !s.isLeftOut(name, connection) {
			r.Header[name] = append(r.Header[name], f.Value)
		}
	}
	s.trace(r.Header, a)
	s.credentials(r, a)
	if _, own := r.Header["User-Agent"]; !own {
		r.Header.Set("User-Agent", userAgent)
	}
	s.setAttemptHeaders(r.Header, a)
	if d != nil {
		for _, f := range d.Service {
			s.set(r.Header, f.Name, f.Value)
		}
	}
	key := s.options.Keys(a.DB)
	s.set(r.Header, "Signature", sign(key.Current, s.options.Issuer, to.String(), c.Body, now))
	return r, nil
}
