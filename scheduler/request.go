package scheduler

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"time"

	"trireme/fsm/flow"
	"trireme/fsm/queue"
)

// userAgent is what receivers know deliveries by, unless the message brings its own.
const userAgent = "Upstash-QStash"

// dropped are headers of a message that belong to the connection, or that the transport
// writes itself.
var dropped = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Authorization": true, "Proxy-Connection": true,
	"Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "Expect": true, "Host": true, "Content-Length": true,
}

// request is the HTTP request of an attempt. The URL and the body are
// those of the message, byte by byte.
func (s *Sender) request(ctx context.Context, a *queue.Attempt, d *flow.Delivery, now time.Time) (*http.Request, error) {
	c := a.Content
	method := c.Method
	if method == "" {
		method = http.MethodPost
	}
	var body io.Reader = http.NoBody
	if len(c.Body) > 0 {
		body = bytes.NewReader(c.Body)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.URL, body)
	if err != nil {
		return nil, err
	}
	for _, f := range c.Header {
		if name := textproto.CanonicalMIMEHeaderKey(f.Name); !dropped[name] {
			r.Header[name] = append(r.Header[name], f.Value)
		}
	}
	s.credentials(r, c)
	if _, own := r.Header["User-Agent"]; !own {
		r.Header.Set("User-Agent", userAgent)
	}
	s.describe(r.Header, a)
	if d != nil {
		for _, f := range d.Service {
			s.set(r.Header, f.Name, f.Value)
		}
	}
	key := s.options.Keys()
	s.set(r.Header, "Signature", sign(key.Current, s.options.Issuer, c.URL, c.Body, now))
	allowRepeat(r)
	return r, nil
}

// allowRepeat has net/http send the request on another connection if the destination has
// closed the kept one under it, without an answer: the closing says nothing of the
// message, and receivers expect it more than once. The field is not sent: net/http
// documents an empty list under this name as the mark.
func allowRepeat(r *http.Request) {
	if _, own := r.Header["X-Idempotency-Key"]; !own {
		r.Header["X-Idempotency-Key"] = nil
	}
}

// describe adds what the service says of an attempt.
func (s *Sender) describe(h http.Header, a *queue.Attempt) {
	c := a.Content
	s.set(h, "Message-Id", a.ID.String())
	s.set(h, "Retried", strconv.Itoa(a.Retried))
	for _, f := range []queue.Field{
		{Name: "Caller-Ip", Value: c.CallerIP}, {Name: "Topic-Name", Value: c.Group}, {Name: "Schedule-Id", Value: c.Schedule}, {Name: "Region", Value: s.options.Region},
	} {
		if f.Value != "" {
			s.set(h, f.Name, f.Value)
		}
	}
}

// set sets a service header under each prefix, whatever the message says.
func (s *Sender) set(h http.Header, name, value string) {
	for _, prefix := range s.options.Prefixes {
		h.Set(prefix+"-"+name, value)
	}
}

// credentials are those of the URL or of the API destination, unless the message brings
// its own.
func (s *Sender) credentials(r *http.Request, c *queue.Content) {
	if r.Header.Get("Authorization") != "" {
		return
	}
	if user := r.URL.User; user != nil {
		password, _ := user.Password()
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	if token := s.options.APITokens[c.API]; c.API != "" && token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
}
