package queue

import (
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/backoff"
)

// Directive is one thing that a request can say of a message: over HTTP by the header Svc-NAME or the parameter
// svc-NAME, in MSG commands by the option NAME. What it may be, and the text that refuses it, stand here alone.
type Directive struct {
	// Name is in lower case, without the prefix of headers.
	Name string
	// Value says for people what it may be.
	Value string
	Scope Scope
	// set is empty if the value was taken, or says what is wrong with it.
	set func(c *Config, value string) (wrong string)
}

// Scope is the kind of record that a Directive applies to.
type Scope uint8

// The scopes.
const (
	// OfDelivery: how the message is delivered. Callbacks take those too, behind Callback- and Failure-Callback-, but for
	// a queue.
	OfDelivery Scope = iota
	// OfMessage: what the message is to others, and at the end of its retries. Callbacks take none of those.
	OfMessage
	// OfPublication: how the request is read.
	OfPublication
	// OfSchedule: when a schedule publishes. MSG commands refuse Cron.
	OfSchedule
	// OfCommand: what over HTTP is a header of the request itself.
	OfCommand
	// OfRights: what takes a right of the publisher. Over HTTP it is judged before it counts.
	OfRights
	// OfRun: what only the start of a workflow run asks for. MSG commands refuse it, a publish ignores it.
	OfRun
)

// Directives are all but the families Forward-, Callback and Failure-Callback, in the order of the documentation. The
// list is not changed.
var Directives = []Directive{
	{"method", "GET, POST, PUT, PATCH or DELETE; POST if it is missing", OfDelivery, (*Config).method},
	{"timeout", "how long an attempt may take: a duration above 0", OfDelivery, (*Config).timeout},
	{"retries", "attempts after the first, 0 or more", OfDelivery, (*Config).retries},
	{"retry-delay", "an expression over retried, in milliseconds", OfDelivery, (*Config).retryDelay},
	{"delay", "a duration before the first attempt, such as 1d10h30m; a bare number is in seconds", OfDelivery, (*Config).delay},
	{"not-before", "the earliest first attempt, in seconds since 1970; wins over delay", OfDelivery, (*Config).notBefore},
	{"flow-control-key", "the key whose limits the message shares", OfDelivery, func(c *Config, v string) string { c.key = v; return "" }},
	{"flow-control-value", "rate=N, period=D, burst=N and parallelism=N, one of rate and parallelism at least; a period of at most 7d", OfDelivery, func(c *Config, v string) string { c.value = v; return "" }},
	{"label", "labels, separated by commas", OfDelivery, (*Config).label},
	{"redact-fields", "body, header and header[Name], separated by commas: what answers of the API hide", OfDelivery, (*Config).redact},
	{"priority", "0 to 9: of what waits for the same, what is more urgent comes first; 0 if it is missing", OfDelivery, (*Config).priority},
	{"tenant", "the tenant whose share of the queue or the flow-control key the message takes", OfDelivery, (*Config).tenant},
	{"weight", "1 to 1000: the weight of the tenant's share; 1 if it is missing", OfDelivery, (*Config).weight},
	{"cost", "1 to 1000000: what the message counts for in the limits of its flow-control key and in its tenant's share; 1 if it is missing", OfDelivery, (*Config).cost},
	{"queue-name", "the queue, of letters, digits, hyphens, underscores and dots", OfDelivery, (*Config).queueName},
	{"debounce", "key=K, delay=D and max-wait=D: the last publication within the delay counts: see [extensions](extensions.md#debounce)", OfMessage, (*Config).debounce},
	{"batch", "key=K, size=N, wait=D and bytes=N: one delivery of many publications: see [extensions](extensions.md#batches)", OfMessage, (*Config).batch},
	{"singleton", "key=K and mode=skip, attach, cancel or queue: one live message of the key: see [extensions](extensions.md#singletons)", OfMessage, (*Config).singleton},
	{"on-failure", "dead-letter or pause: what happens at the end of the retries: see [extensions](extensions.md#at-the-end-of-the-retries)", OfMessage, (*Config).onFailure},
	{"commit-as", "the user with whose rights the commands of an answer run: see [extensions](extensions.md#commands-of-an-answer)", OfRights, (*Config).commitAs},
	{"keep-events", "names of events that may come before a run waits for them: see [extensions](extensions.md#events-before-the-wait)", OfRun, (*Config).keepEvents},
	{"keep-values", "names of keys whose values a run keeps as the commands of its steps have left them: see [extensions](extensions.md#forks-of-runs)", OfRun, (*Config).keepValues},
	{"updates", "the updates that a run accepts, and their rules: see [extensions](extensions.md#state-and-updates)", OfRun, (*Config).updates},
	{"inline", "true or false: whether the endpoint may record several steps by one delivery: see [extensions](extensions.md#several-steps-in-one-delivery)", OfRun, func(c *Config, v string) string { return boolean(&c.forRun.Inline, v) }},
	{"deployment", "the deployment that a run stays on: see [extensions](extensions.md#deployments)", OfRun, (*Config).deployment},
	{"header-forward", "true or false: whether all headers of the request go to the destination", OfPublication, func(c *Config, v string) string { return boolean(&c.forward, v) }},
	{"deduplication-id", "one message of that id in the window; no colon", OfPublication, (*Config).dedupID},
	{"content-based-deduplication", "true or false: one message of that destination, body and header in the window", OfPublication, func(c *Config, v string) string { return boolean(&c.p.ContentDedup, v) }},
	{"cron", "when a schedule publishes, with CRON_TZ=Zone in front if it is not UTC", OfSchedule, func(c *Config, v string) string { c.cron = v; return "" }},
	{"schedule-id", "the schedule's id, which overwrites the one of that id", OfSchedule, (*Config).scheduleID},
	{"misfire", "once, all or none: what becomes of ticks that were missed", OfSchedule, (*Config).setMisfire},
	{"content-type", "the body's type; over HTTP that of the request", OfCommand, (*Config).contentType},
	{"traceparent", "the trace that the message belongs to, by the rules of W3C Trace Context; over HTTP that of the request", OfCommand, (*Config).traceParent},
	{"tracestate", "what tracing systems add to traceparent; over HTTP that of the request", OfCommand, (*Config).traceState},
}

// DirectiveNamed finds a directive by its name in lower case, nil if there is none.
func DirectiveNamed(name string) *Directive {
	for i := range Directives {
		if Directives[i].Name == name {
			return &Directives[i]
		}
	}
	return nil
}

func (c *Config) method(v string) string {
	c.p.Method, c.p.Given = strings.ToUpper(v), c.p.Given|GivenMethod
	switch c.p.Method {
	case "GET", "POST", "PUT", "PATCH", "DELETE":
		return ""
	}
	return "use GET, POST, PUT, PATCH or DELETE"
}

func (c *Config) timeout(v string) string {
	if wrong := c.duration(&c.p.Timeout, GivenTimeout, v); wrong != "" || c.p.Timeout > 0 {
		return wrong
	}
	return "use more than 0"
}

func (c *Config) delay(v string) string { return c.duration(&c.p.Delay, GivenDelay, v) }

func (c *Config) duration(to *int64, given Option, v string) string {
	n, ok := ParseDuration(v)
	if !ok {
		return "use a number followed by s, m, h or d"
	}
	*to, c.p.Given = n, c.p.Given|given
	return ""
}

func (c *Config) retries(v string) string {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > 1<<30 {
		return "use an integer of 0 or more"
	}
	c.p.Retries, c.p.Given = n, c.p.Given|GivenRetries
	return ""
}

func (c *Config) retryDelay(v string) string {
	if _, err := backoff.Parse(v); err != nil {
		return err.Error()
	}
	c.p.RetryDelay, c.p.Given = v, c.p.Given|GivenRetryDelay
	return ""
}

// maxUserName is the longest name of a user, in bytes, that a message may have its answer act for.
const maxUserName = 256

func (c *Config) commitAs(v string) string {
	if len(v) > maxUserName || !FitsHeader(v) {
		return "use the name of a user of the database"
	}
	c.p.CommitAs, c.p.Given = v, c.p.Given|GivenCommit
	return ""
}

// maxSeconds is the last second of the year 9999 as a Unix time.
const maxSeconds = 253_402_300_799

func (c *Config) notBefore(v string) string {
	n, err := strconv.ParseInt(v, 10, 64)
	switch {
	case err != nil || n < 0 || n > 1<<42:
		return "use a Unix time in seconds"
	case n > maxSeconds:
		return "use a Unix time in seconds: this one is later than the year 9999, it seems to be in milliseconds"
	}
	c.p.NotBefore, c.p.Given = n*1000, c.p.Given|GivenNotBefore
	return ""
}

func (c *Config) label(v string) string {
	c.p.Labels = split(v)
	switch {
	case !FitsHeader(v): // endpoints of workflows get them in a header
		return ControlRule
	case len(c.p.Labels) > 0:
		c.p.Given |= GivenLabels
	case v != "":
		return "use labels separated by commas: there is none"
	}
	return ""
}

// redact reads body, header or headers, and header[Name] or headers[Name].
func (c *Config) redact(v string) string {
	d, parts := &Redaction{}, split(v)
	if len(parts) == 0 {
		return "use body, header or header[Name]"
	}
	for _, part := range parts {
		lower := strings.ToLower(part)
		switch open := strings.IndexByte(part, '['); {
		case lower == "body":
			d.Body = true
		case lower == "header" || lower == "headers":
			d.Header = true
		case open > 0 && (lower[:open] == "header" || lower[:open] == "headers") && strings.HasSuffix(part, "]") && open+2 < len(part):
			name := CanonicalName(strings.TrimSpace(part[open+1 : len(part)-1]))
			if name == "" {
				return "use body, header or header[Name]"
			}
			d.Names = append(d.Names, name)
		default:
			return "use body, header or header[Name]"
		}
	}
	c.p.Redact, c.p.Given = d, c.p.Given|GivenRedact
	return ""
}

func (c *Config) queueName(v string) string {
	if !ValidName(v) {
		return nameRule
	}
	c.p.Queue, c.p.Given = v, c.p.Given|GivenQueue
	return ""
}

// DedupRule is the refusal of a deduplication id, by which clients know it.
const DedupRule = "DeduplicationId cannot contain ':'"

func (c *Config) dedupID(v string) string {
	if strings.Contains(v, ":") {
		return DedupRule
	}
	c.p.DedupID = v
	return ""
}

func (c *Config) scheduleID(v string) string {
	if !ValidName(v) {
		return nameRule
	}
	c.id = v
	return ""
}

func (c *Config) setMisfire(v string) string {
	m, ok := ParseMisfire(strings.ToLower(v))
	if !ok {
		return "use once, all or none"
	}
	c.misfire = m
	return ""
}

func (c *Config) contentType(v string) string {
	if err := c.forwarded("Content-Type", v); err != nil {
		return err.Error()
	}
	return ""
}

func (c *Config) traceParent(v string) string {
	if _, ok := traceParent(v); !ok {
		return "use 00-TRACEID-PARENTID-FLAGS: 32, 16 and 2 hexadecimal digits in lower case, neither id zero"
	}
	c.trace = append(c.trace, v)
	return ""
}

func (c *Config) traceState(v string) string {
	if v != "" && traceState(v) == "" {
		return "use KEY=VALUE, separated by commas, at most 32 of them"
	}
	c.states = append(c.states, v)
	return ""
}
