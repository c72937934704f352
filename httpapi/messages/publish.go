package messages

import (
	"maps"
	"net/http"
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/httpfield"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// Parser reads requests into publications. It is not changed while in use.
type Parser struct {
	// Prefixes begin the service's headers and parameters; the last wins over others.
	Prefixes []string
	// APIs are the URLs of API destinations by name.
	APIs map[string]string
	// Allowed judges the host of a destination that is an address, early; nil allows
	// all. Its text goes to the client.
	Allowed func(host string) error
	// HTTPSOnly refuses destinations that are http, early.
	HTTPSOnly bool
	// SpecLiteral writes events as the specification has them, not as existing clients
	// decode them: their times as texts, and the state CANCELLED in that spelling.
	SpecLiteral bool
	// Traces reports whether messages keep the trace context of the request that publishes them; nil if they never do.
	Traces func() bool
	// Level returns the feature level of this node's state; nil if it knows everything.
	Level func() env.Level
}

// needsCallback is the API destination whose answer would be lost without a callback.
const needsCallback = "llm"

// call is a request to publish, from a path or from a batch.
type call struct {
	// destination is raw, query what follows it in a path.
	destination, query string
	header             http.Header
	// headers is the result of reading header if the call may concern a run; see Parser.fieldsOf.
	headers  *Headers
	queue    string
	body     []byte
	callerIP string
	// defaults reads the defaults of a URL group that concern the call (see ofCall); nil if there are none.
	defaults func(group string) (fields, error)
	// byToken says that a parameter authorized the request, so that its Authorization header belongs to the publisher.
	byToken bool
	// fields are the fields of the call once they have been read, and rest is the remainder of its query.
	fields fields
	rest   string
}

// fieldsOf reads the fields of a call, from its header and its query.
func (p *Parser) fieldsOf(c *call) fields {
	if c.fields == nil {
		asked, rest := splitQuery(c.query, p.Prefixes)
		headers := p.ReadHeaders(c.header)
		c.fields, c.rest = headers.fields, rest
		if len(asked) > 0 || concernsRun(headers.fields) {
			c.headers, c.fields = headers, maps.Clone(headers.fields).over(asked)
		}
	}
	return c.fields
}

// publication reads a call, and returns its fields too.
func (p *Parser) publication(c *call) (out queue.Publication, f fields, err error) {
	f = p.fieldsOf(c)
	out, err = p.read(c, f, c.rest)
	return out, f, err
}

func (p *Parser) read(c *call, f fields, rest string) (out queue.Publication, err error) {
	to, err := p.readDestination(c.destination, rest)
	if err != nil {
		return out, err
	}
	return p.publicationTo(c, f, to)
}

// publicationTo reads what a call says in addition to its destination.
func (p *Parser) publicationTo(c *call, f fields, to target) (out queue.Publication, err error) {
	if to.group != "" && c.defaults != nil {
		base, err := c.defaults(to.group)
		if err != nil {
			return out, err
		}
		f.over(base)
	}
	if c.queue != "" {
		f["queue-name"] = []string{c.queue}
	}
	forwarded, err := p.forwarded(c, f)
	if err != nil {
		return out, err
	}
	out = queue.Publication{URL: to.url, Group: to.group, API: to.api, Body: c.body, CallerIP: c.callerIP}
	if out.Options, err = p.options(f, forwarded); err != nil {
		return out, err
	}
	out.Options = out.InTrace(p.traceOf(c.header))
	if err := p.checkCallbacks(&out); err != nil {
		return out, err
	}
	return out, readDedup(f, &out)
}

// options reads the options of a message, and refuses those that a node of the cluster may not be able to read.
func (p *Parser) options(f fields, forwarded []queue.Field) (queue.Options, error) {
	o, err := readOptions(f, forwarded)
	if err == nil && (o.Gather != nil || o.OnFailure != queue.DeadLetter) && p.Level != nil && p.Level() < env.Files {
		err = Invalid("debounce, batch, singleton and on-failure need feature level %d: upgrade all nodes", env.Files)
	}
	return o, err
}

// checkCallbacks judges the hosts of callbacks like those of destinations.
func (p *Parser) checkCallbacks(n *queue.Publication) error {
	if n.API == needsCallback && n.Callback == nil {
		return Invalid("api/%s needs a callback: its answer would be lost", n.API)
	}
	for _, c := range []*queue.Callback{n.Callback, n.Failure} {
		if c != nil {
			if _, err := p.ReadPlainURL(c.URL); err != nil {
				return err
			}
		}
	}
	return nil
}

func readDedup(f fields, out *queue.Publication) error {
	if out.DedupID = f.get("deduplication-id"); strings.Contains(out.DedupID, ":") {
		return errDedupID
	}
	yes, err := readBool(f, "content-based-deduplication")
	out.ContentDedup = yes
	return err
}

// readBool reads true or false; a missing field is false.
func readBool(f fields, name string) (yes bool, err error) {
	text := f.get(name)
	yes, ok := queue.ParseBool(text)
	if !ok {
		return false, Invalid("invalid %s %q: true or false is wanted", name, text)
	}
	return yes, nil
}

// forwarded returns the part of the request's own header that goes to the destination: Content-Type, or everything if
// the request asks for it by Header-Forward.
func (p *Parser) forwarded(c *call, f fields) (header []queue.Field, err error) {
	all, err := readBool(f, "header-forward")
	if err != nil {
		return nil, err
	}
	traced := all && !p.traceOf(c.header).IsZero()
	for name, values := range c.header {
		name = canonical(name)
		switch {
		case name == "Content-Type":
		case traced && isTraceHeader(name): // each attempt has its own
			continue
		case !all || httpfield.IsHopByHop(name, c.header["Connection"]) || p.isService(name) || name == "Authorization" && !c.byToken:
			continue
		}
		for _, v := range values {
			header = append(header, queue.Field{Name: name, Value: v})
		}
	}
	return header, nil
}

func (p *Parser) isService(name string) bool {
	for _, prefix := range p.Prefixes {
		if _, own := cutService(name, prefix); own {
			return true
		}
	}
	return false
}
