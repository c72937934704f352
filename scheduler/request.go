package scheduler

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm/httpfield"
	"github.com/trireme-dev/trireme/fsm/httpurl"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/internal/idn"
)

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

// trace adds the trace context of an attempt, unless the message brings headers of its own for that.
func (s *Sender) trace(h http.Header, a *queue.Attempt) {
	if _, own := h[queue.TraceParentHeader]; own || !s.options.Propagate {
		return
	}
	t := a.Content.Trace
	if s.options.Trace != nil {
		t = s.options.Trace(a)
	}
	if t.IsZero() {
		return
	}
	h.Set(queue.TraceParentHeader, t.Parent)
	if _, own := h[queue.TraceStateHeader]; !own && t.State != "" {
		h.Set(queue.TraceStateHeader, t.State)
	}
}

// setAttemptHeaders sets the service's headers of an attempt.
func (s *Sender) setAttemptHeaders(h http.Header, a *queue.Attempt) {
	c := a.Content
	s.set(h, "Message-Id", a.ID.String())
	s.set(h, "Retried", strconv.Itoa(a.Retried))
	for _, f := range []queue.Field{
		{Name: "Caller-Ip", Value: c.CallerIP}, {Name: "Topic-Name", Value: c.Group}, {Name: "Schedule-Id", Value: c.Schedule}, {Name: "Region", Value: s.options.Region},
	} {
		s.set(h, f.Name, f.Value)
	}
}

// ownNames are service headers about the attempt and its origin: a sender who forwards one of these names would forge
// what a receiver takes for this server's word. What configures a message, such as Forward-X and Callback, is not among
// them: the destination may be a service like this one, to which a message publishes another.
var ownNames = map[string]bool{
	"Message-Id": true, "Retried": true, "Caller-Ip": true, "Topic-Name": true, "Schedule-Id": true, "Region": true, "Signature": true,
	"Source-Message-Id": true, "Endpoint-Name": true,
}

// ownHeader reports whether a header, by its canonical name, is never forwarded.
func (s *Sender) ownHeader(name string) bool {
	for _, prefix := range s.options.Prefixes {
		if len(name) > len(prefix) && name[len(prefix)] == '-' && strings.EqualFold(name[:len(prefix)], prefix) {
			return ownNames[name[len(prefix)+1:]]
		}
	}
	return false
}

// set sets a service header under each prefix, whatever the message says; one without a value is
// removed, so that no message brings its own.
func (s *Sender) set(h http.Header, name, value string) {
	keys, known := s.keys[name]
	if !known {
		keys = s.keysOf(name)
	}
	if value == "" {
		for _, key := range keys {
			delete(h, key)
		}
		return
	}
	values := []string{value} // one for all: nobody appends to it in place
	for _, key := range keys {
		h[key] = values
	}
}

// keysOf are the canonical names of a service header, one for each prefix.
func (s *Sender) keysOf(name string) []string {
	keys := make([]string, len(s.options.Prefixes))
	for i, prefix := range s.options.Prefixes {
		keys[i] = textproto.CanonicalMIMEHeaderKey(prefix + "-" + name)
	}
	return keys
}

// credentials are those of the URL or of the API destination, unless the message brings
// its own.
func (s *Sender) credentials(r *http.Request, a *queue.Attempt) {
	c := a.Content
	if r.Header.Get("Authorization") != "" {
		return
	}
	if user := r.URL.User; user != nil {
		password, _ := user.Password()
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	if token := s.options.APITokens[c.API]; c.API != "" && token != "" && a.DB == "" { // the operator's tokens are for default
		r.Header.Set("Authorization", "Bearer "+token)
	}
}
