package queue

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/httpfield"
	"github.com/trireme-dev/trireme/fsm/httpurl"
)

// Config gathers what the headers of a publish say. Its zero value is ready; Set takes one header after the other, and
// Done returns the publication they make.
type Config struct {
	// Strict refuses unknown names, instead of ignoring them.
	Strict bool

	p           Publication
	forwardSize int  // of the names and values of p.Header, in bytes
	forward     bool // Svc-Header-Forward
	key, value  string
	callback    *Config
	failure     *Config
	cron, id    string
	misfire     Misfire
	destination string
	forRun      RunOptions
	// trace and states are the values of traceparent and tracestate.
	trace, states []string
	// connection are the values of a forwarded Connection.
	connection []string
}

// Set takes the option of a header, named without the service's prefix: Retries, Delay, Forward-X,
// Callback-Forward-X and so on, in any case of letters. Unknown names are ignored. The error is a refusal that names
// the header, or, if Strict, that there is none of that name.
func (c *Config) Set(name, value string) error {
	lower := strings.ToLower(name)
	for _, family := range []struct {
		prefix string
		config **Config
	}{{"failure-callback", &c.failure}, {"callback", &c.callback}} {
		rest, found := strings.CutPrefix(lower, family.prefix)
		if !found || rest != "" && rest[0] != '-' {
			continue
		}
		if *family.config == nil {
			*family.config = &Config{Strict: c.Strict}
		}
		if rest == "" {
			return (*family.config).target(name, value)
		}
		if err := (*family.config).Set(name[len(family.prefix)+1:], value); err != nil {
			return invalid("%s: %s", name, err.Error())
		}
		return nil
	}
	if strings.HasPrefix(lower, "forward-") {
		return c.forwarded(name[len("forward-"):], value)
	}
	if err := c.option(lower, value); err != "" {
		return invalid("invalid %s: %s", name, err)
	}
	return nil
}

// target is the URL of a callback.
func (c *Config) target(name, value string) error {
	if !isURL(value) {
		return invalid("invalid %s: %s", name, "it must be an absolute URL that begins with http:// or https://")
	}
	u, err := httpurl.Read(value, nil)
	if err != nil {
		return invalid("invalid %s url %q: %s", name, value, err)
	}
	c.destination = u.String()
	return nil
}

// The limits of forwarded headers: the bytes of their names and values with 4 for what parts them in a request.
const maxForwardedBytes = 16 << 10

// forwardable reports whether a header is neither the connection's own affair nor could let one request pass for two.
func (c *Config) forwardable(lower string) bool {
	switch lower {
	case "host", "content-length", "expect", "proxy-authenticate", "proxy-authorization":
		return false
	}
	return !httpfield.IsHopByHop(lower, nil)
}

// forwarded adds a header that the destination gets. Those that belong to the connection are dropped.
func (c *Config) forwarded(name, value string) error {
	if !isToken(name) || strings.ContainsFunc(value, isControl) {
		return invalid("invalid forwarded header %q", name)
	}
	lower := strings.ToLower(name)
	if lower == "connection" {
		c.connection = append(c.connection, value)
	}
	if !c.forwardable(lower) {
		return nil
	}
	c.p.Header = append(c.p.Header, Field{CanonicalName(name), value})
	c.p.Given |= GivenHeader
	c.forwardSize += len(name) + len(value)
	if c.forwardSize+4*len(c.p.Header) > maxForwardedBytes {
		return invalid("too many forwarded headers: their names and values may have %d bytes, with 4 for each header", maxForwardedBytes)
	}
	return nil
}

// Forward adds a header of the request itself: its Content-Type, or, with Svc-Header-Forward, any.
func (c *Config) Forward(name, value string) error { return c.forwarded(name, value) }

// BlankRule refuses a value that consists of blanks. It is not taken for a value that is not given, which an empty one is.
const BlankRule = "it is blank"

// option sets what is not a family of headers; the result says what is wrong with the value.
func (c *Config) option(name, v string) (wrong string) {
	d, trimmed := DirectiveNamed(name), strings.TrimSpace(v)
	switch {
	case d == nil:
		return c.unknown()
	case trimmed == "" && v != "":
		return BlankRule
	}
	return d.set(c, trimmed)
}

// unknown refuses an option that there is not, if such are refused.
func (c *Config) unknown() (wrong string) {
	if c.Strict {
		return unknownOption
	}
	return ""
}

const unknownOption = "there is no such option"

// ForwardAll reports whether Svc-Header-Forward asks for all headers of the request.
func (c *Config) ForwardAll() bool { return c.forward }

// Cron is the Svc-Cron header, trimmed, empty if there is none; with it come the id and the misfire policy.
func (c *Config) Cron() (expression, id string, misfire Misfire) { return c.cron, c.id, c.misfire }

// Done returns what the headers say. The destination and the body are the caller's to fill in.
func (c *Config) Done() (Publication, error) {
	p := c.p
	if len(c.connection) > 0 {
		p.Header = slices.DeleteFunc(p.Header, func(f Field) bool { return httpfield.IsHopByHop(f.Name, c.connection) })
	}
	if c.key != "" || c.value != "" {
		f, err := parseFlow(c.key, c.value)
		if err != nil {
			return Publication{}, err
		}
		p.Flow, p.Given = f, p.Given|GivenFlow
	}
	var err error
	if p.Callback, err = c.callback.done(); err != nil {
		return Publication{}, err
	}
	if p.Failure, err = c.failure.done(); err != nil {
		return Publication{}, err
	}
	if p.Callback != nil {
		p.Given |= GivenCallback
	}
	if p.Failure != nil {
		p.Given |= GivenFailure
	}
	p.Options = p.InTrace(ParseTraceContext(c.trace, c.states))
	return p, nil
}

// done returns a callback; settings without a URL are none.
func (c *Config) done() (*Callback, error) {
	if c == nil || c.destination == "" {
		return nil, nil
	}
	p, err := c.Done()
	if err != nil {
		return nil, err
	}
	o := p.Options
	o.Callback, o.Failure, o.Queue, o.CommitAs, o.Gather, o.OnFailure = nil, nil, "", "", nil, DeadLetter
	o.Given &^= GivenCallback | GivenFailure | GivenQueue | GivenCommit | GivenGather | GivenOnFailure
	return &Callback{URL: c.destination, Options: o}, nil
}

// maxDuration is the longest duration, in milliseconds: a thousand years.
const maxDuration = 365_250 * day
