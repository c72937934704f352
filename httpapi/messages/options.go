package messages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"trireme/fsm/backoff"
	"trireme/fsm/queue"
)

// The bounds of what is forwarded to a destination.
const (
	maxForwarded      = 64
	maxForwardedBytes = 16 << 10
)

// readOptions reads what a message is configured by. Fields that it doesn't know are
// passed over: clients send many that concern others. forwarded is the rest of the
// message's header: Content-Type, and all of the request's if it asks for that.
func readOptions(f fields, forwarded []queue.Field) (o queue.Options, err error) {
	for _, read := range []func(fields, *queue.Options) error{readDelivery, readTimes, readFlow, readMarks} {
		if err := read(f, &o); err != nil {
			return o, err
		}
	}
	if o.Header, err = readForwarded(f, forwarded); err != nil {
		return o, err
	}
	if len(o.Header) > 0 {
		o.Given |= queue.GivenHeader
	}
	if o.Callback, err = readCallback(f, "callback"); err != nil {
		return o, err
	}
	if o.Failure, err = readCallback(f, "failure-callback"); err != nil {
		return o, err
	}
	if o.Callback != nil {
		o.Given |= queue.GivenCallback
	}
	if o.Failure != nil {
		o.Given |= queue.GivenFailure
	}
	return o, nil
}

var destinationMethods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// readDelivery reads how an attempt is made and repeated.
func readDelivery(f fields, o *queue.Options) error {
	if text := f.get("method"); text != "" {
		o.Method = strings.ToUpper(text)
		o.Given |= queue.GivenMethod
		if !slices.Contains(destinationMethods, o.Method) {
			return invalid("invalid method %q: GET, POST, PUT, PATCH and DELETE are accepted", text)
		}
	}
	if text := f.get("retries"); text != "" {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return invalid("invalid retries %q: a number of 0 or more is wanted", text)
		}
		o.Retries = int(n)
		o.Given |= queue.GivenRetries
	}
	if text := f.get("retry-delay"); text != "" {
		if _, err := backoff.Parse(text); err != nil {
			return invalid("invalid retryDelay: %s", err)
		}
		o.RetryDelay = text
		o.Given |= queue.GivenRetryDelay
	}
	return nil
}

// readTimes reads when a message is delivered, and how long an attempt may take.
func readTimes(f fields, o *queue.Options) error {
	if text := f.get("timeout"); text != "" {
		ms, ok := queue.ParseDuration(text)
		if !ok || ms == 0 {
			return invalid("invalid timeout %q: a duration such as 30s is wanted", text)
		}
		o.Timeout = ms
		o.Given |= queue.GivenTimeout
	}
	if text := f.get("delay"); text != "" {
		ms, ok := queue.ParseDuration(text)
		if !ok {
			return invalid("invalid delay %q: a duration such as 1d10h30m is wanted", text)
		}
		o.Delay = ms
		o.Given |= queue.GivenDelay
	}
	if text := f.get("not-before"); text != "" {
		n, err := strconv.ParseUint(text, 10, 40)
		if err != nil {
			return invalid("invalid notBefore %q: seconds since 1970 are wanted", text)
		}
		o.NotBefore = int64(n) * 1000
		o.Given |= queue.GivenNotBefore
	}
	return nil
}

// readMarks reads labels, redaction and the queue.
func readMarks(f fields, o *queue.Options) error {
	for _, value := range f["label"] {
		for one := range strings.SplitSeq(value, ",") {
			if one = strings.TrimSpace(one); one != "" {
				o.Labels = append(o.Labels, one)
			}
		}
	}
	if len(o.Labels) > 0 {
		o.Given |= queue.GivenLabels
	}
	if text := f.get("queue-name"); text != "" {
		o.Queue = text
		o.Given |= queue.GivenQueue
	}
	text := f.get("redact-fields")
	if text == "" {
		return nil
	}
	r, err := readRedaction(text)
	o.Redact = r
	o.Given |= queue.GivenRedact
	return err
}

// readRedaction reads body, header or headers, and header[Name] or headers[Name].
func readRedaction(text string) (*queue.Redaction, error) {
	r := &queue.Redaction{}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		lower := strings.ToLower(part)
		open := strings.IndexByte(part, '[')
		switch {
		case lower == "":
		case lower == "body":
			r.Body = true
		case lower == "header" || lower == "headers":
			r.Header = true
		case open > 0 && strings.HasSuffix(part, "]") && (lower[:open] == "header" || lower[:open] == "headers") && open+2 < len(part):
			r.Names = append(r.Names, canonical(strings.TrimSpace(part[open+1:len(part)-1])))
		default:
			return nil, invalid("invalid redactFields %q: body, header and header[Name] are accepted", part)
		}
	}
	return r, nil
}

// readFlow reads a flow-control key and its limits.
func readFlow(f fields, o *queue.Options) error {
	key, value := f.get("flow-control-key"), f.get("flow-control-value")
	switch {
	case key == "" && value == "":
		return nil
	case key == "":
		return invalid("invalid flowControl: a value needs a key")
	case value == "":
		return invalid("invalid flowControl: a key needs a value with parallelism or rate")
	}
	c := &queue.FlowControl{Key: key}
	for part := range strings.SplitSeq(value, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(part), "=")
		if text = strings.TrimSpace(text); strings.TrimSpace(part) == "" {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 31)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "parallelism":
			c.Parallelism = int(n)
		case "rate":
			c.Rate = int(n)
		case "period":
			if ms, ok := queue.ParseDuration(text); ok {
				c.Period, n, err = ms, uint64(ms), nil
			}
			if c.Period > queue.MaxPeriod {
				return invalid("invalid flowControl: the period is at most 7 days")
			}
		default:
			return invalid("invalid flowControl: %q is not parallelism, rate or period", part)
		}
		if err != nil || n == 0 {
			return invalid("invalid flowControl: %q is not 1 or more", part)
		}
	}
	if c.Parallelism == 0 && c.Rate == 0 {
		return invalid("invalid flowControl: parallelism or rate is wanted")
	}
	if c.Period == 0 {
		c.Period = queue.DefaultPeriod
	}
	o.Flow = c
	o.Given |= queue.GivenFlow
	return nil
}

// readCallback reads a callback's URL and options, which stand behind its name. The
// options of a callback that has no URL are passed over.
func readCallback(f fields, name string) (*queue.Callback, error) {
	target := f.get(name)
	if target == "" {
		return nil, nil
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https") {
		return nil, invalid("invalid %s url %q: an absolute http:// or https:// URL is wanted", name, target)
	}
	own := f.under(name + "-")
	for _, foreign := range []string{"callback", "failure-callback", "queue-name"} {
		delete(own, foreign)
	}
	o, err := readOptions(own, nil)
	if err != nil {
		return nil, err
	}
	return &queue.Callback{URL: target, Options: o}, nil
}

// readForwarded is the header that a destination gets. A name given by Forward- replaces
// the same name of the request itself.
func readForwarded(f fields, base []queue.Field) (header []queue.Field, err error) {
	own := f.under("forward-")
	for _, b := range base {
		if _, replaced := own[strings.ToLower(b.Name)]; !replaced {
			header = append(header, b)
		}
	}
	for _, name := range own.names() {
		for _, value := range own[name] {
			header = append(header, queue.Field{Name: canonical(name), Value: value})
		}
	}
	slices.SortStableFunc(header, func(a, b queue.Field) int { return strings.Compare(a.Name, b.Name) })
	size := 0
	for _, h := range header {
		if !httpguts.ValidHeaderFieldName(h.Name) || !httpguts.ValidHeaderFieldValue(h.Value) {
			return nil, invalid("invalid header %q", h.Name)
		}
		size += len(h.Name) + len(h.Value)
	}
	if len(header) > maxForwarded || size > maxForwardedBytes {
		return nil, invalid("too many headers to forward: at most %d with %d bytes", maxForwarded, maxForwardedBytes)
	}
	return header, nil
}
