package tracing

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/internal/otlp"
)

// Commands makes spans of the requests of clients: one of an HTTP request, and below it one of the commands that it has run; one
// of the commands that a RESP connection sent at once. The attributes are those of the semantic conventions for HTTP servers and
// for databases. A nil *Commands samples nothing. Its methods are safe for use by many goroutines.
type Commands struct {
	// Export takes finished spans and never waits.
	Export func(otlp.Span)
	// Ratio is the part of all requests that is recorded, 0 to 1.
	Ratio float64
	// Table names the commands.
	Table *command.Table
}

// Place is the position of a request's spans: their trace and parent. The zero value belongs to a request that is not recorded.
type Place struct {
	trace        otlp.TraceID
	span, parent otlp.SpanID
	state        string
}

// Recorded reports whether there are spans of the request.
func (p *Place) Recorded() bool { return p.trace != otlp.TraceID{} }

// TraceID and SpanID are for logs, in hexadecimal digits.
func (p *Place) TraceID() string { return hex.EncodeToString(p.trace[:]) }

// SpanID is the id of the request's span.
func (p *Place) SpanID() string { return hex.EncodeToString(p.span[:]) }

// Sample decides whether a request is recorded. parents and states are its headers traceparent and tracestate, nil if it has none:
// a caller that does not record its trace has no spans here either, and of the others all requests of a trace are recorded or
// none.
func (c *Commands) Sample(parents, states []string) (p Place) {
	if c == nil || c.Ratio <= 0 {
		return p
	}
	var id otlp.TraceID
	if remoteContext := queue.ParseTraceContext(parents, states); !remoteContext.IsZero() {
		id, p.parent = remote(remoteContext)
		if !(otlp.Sampler{Parent: false, Ratio: c.Ratio}).Sample(id, true, true) || !remoteContext.Sampled() {
			return Place{}
		}
		p.state = remoteContext.State
	} else {
		if c.Ratio < 1 && rand.Float64() >= c.Ratio {
			return p
		}
		binary.BigEndian.PutUint64(id[:], rand.Uint64())
		binary.BigEndian.PutUint64(id[8:], rand.Uint64()|1) // the zero id is none
	}
	p.trace, p.span = id, newSpan()
	return p
}

func newSpan() (s otlp.SpanID) {
	binary.BigEndian.PutUint64(s[:], rand.Uint64()|1)
	return s
}

// Request is an HTTP request that was answered. Route stands for its path, in which are arguments; it is
// empty for one that was refused before it was known.
type Request struct {
	Method, Route, Scheme, Client, Agent string
	Status                               int
	Began                                time.Time
	Took                                 time.Duration
}

// HTTP exports the span of an HTTP request.
func (c *Commands) HTTP(p *Place, r Request) {
	list := []otlp.Attribute{
		otlp.Text("http.request.method", r.Method), otlp.Text("url.scheme", r.Scheme), otlp.Number("http.response.status_code", int64(r.Status)),
	}
	if r.Route != "" {
		list = append(list, otlp.Text("http.route", r.Route))
	}
	if r.Agent != "" {
		list = append(list, otlp.Text("user_agent.original", r.Agent))
	}
	s := otlp.Span{
		Trace: p.trace, ID: p.span, Parent: p.parent, State: p.state, Kind: otlp.Serving, Name: strings.TrimSpace(r.Method + " " + r.Route),
		Start: r.Began, End: r.Began.Add(r.Took), Attributes: append(list, client(r.Client)...),
	}
	if r.Status >= 500 { // by the conventions what the client did wrong is no failure of a server
		s.Failed = true
		s.Attributes = append(s.Attributes, otlp.Text("error.type", strconv.Itoa(r.Status)))
	}
	c.Export(s)
}

// client are the attributes of the address that a request came from.
func client(addr string) []otlp.Attribute {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil
	}
	n, _ := strconv.ParseInt(port, 10, 32)
	return []otlp.Attribute{otlp.Text("client.address", host), otlp.Number("client.port", n)}
}

// Below has the commands of an HTTP request be below its span.
func (p *Place) Below() Place {
	return Place{trace: p.trace, span: newSpan(), parent: p.span, state: p.state}
}

// Calls are commands that were run together.
type Calls struct {
	DB     string // empty is the default database
	Rows   [][][]byte
	Values []reply.Value
	Began  time.Time
	Took   time.Duration
	// Client is the address of a RESP connection, empty below the span of an HTTP request.
	Client string
}

// Run exports the span of commands. It has their names and never their arguments.
func (c *Commands) Run(p *Place, n Calls) {
	if len(n.Rows) == 0 {
		return
	}
	name, db := c.operation(n.Rows), cmp.Or(n.DB, "default")
	s := otlp.Span{
		Trace: p.trace, ID: p.span, Parent: p.parent, State: p.state, Kind: otlp.Internal, Name: name, Start: n.Began, End: n.Began.Add(n.Took),
		Attributes: []otlp.Attribute{otlp.Text("db.system.name", "trireme"), otlp.Text("db.namespace", strings.Clone(db)), otlp.Text("db.operation.name", name)},
	}
	if len(n.Rows) > 1 {
		s.Attributes = append(s.Attributes, otlp.Number("db.operation.batch.size", int64(len(n.Rows))))
	}
	if n.Client != "" {
		s.Kind = otlp.Serving
		s.Attributes = append(s.Attributes, client(n.Client)...)
	}
	for i := range n.Values {
		if n.Values[i].IsError() {
			class, text, _ := strings.Cut(n.Values[i].Text(), " ")
			s.Failed, s.Error = true, strings.Clone(text)
			s.Attributes = append(s.Attributes, otlp.Text("db.response.status_code", strings.Clone(class)), otlp.Text("error.type", strings.Clone(class)))
			break
		}
	}
	c.Export(s)
}

// operation names commands: one by its name, many by that if they are all the same.
func (c *Commands) operation(rows [][][]byte) string {
	name := c.name(rows[0])
	switch {
	case len(rows) == 1:
		return name
	case slices.ContainsFunc(rows[1:], func(argv [][]byte) bool { return c.name(argv) != name }):
		return "BATCH"
	}
	return "BATCH " + name
}

// name returns the command's name in the table, so that a client's words never become span names.
func (c *Commands) name(argv [][]byte) string {
	if row := c.Table.Find(argv); row != nil {
		return strings.ToUpper(row.Name)
	}
	return "UNKNOWN"
}
