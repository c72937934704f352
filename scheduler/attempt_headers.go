package scheduler

import (
	"encoding/base64"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
)

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
