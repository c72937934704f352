package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/internal/httpclient"
)

// errSentBefore ends a request that net/http is about to send a second time.
var errSentBefore = errors.New("the connection broke after the request was sent")

// sendOnce sends a request so that at most one connection carries any of it.
//
// net/http by itself sends a request again if a kept connection ends before an answer and the
// request looks idempotent: by its method (GET), by an Idempotency-Key, or, over HTTP/2, if the
// other side says that it ignored the first one. Each of these may reach the destination twice,
// while the log knows of one attempt. So:
//
//   - a body can't be rewound (no GetBody), which makes any method "not replayable"; GET and HEAD have one without
//     bytes for that (oneTime);
//   - a request without a body is "not replayable" if its method is not GET and net/http doesn't
//     recognize its Idempotency-Key (hideIdempotencyKey);
//   - over HTTP/2 the second try is cancelled before it writes (sending.gotConn).
//
// Only if not a single byte was written to the connection that ended, the request is tried again
// here. That happens to kept connections only, so it ends with the pool's last one.
func (t *Transport) sendOnce(r *http.Request) (*http.Response, error) {
	for {
		s := &sending{}
		answer, err := t.http.RoundTrip(s.request(r))
		if err == nil {
			s.noteKeepAlive(answer)
			return answer, nil
		}
		if s.resent.Load() {
			return nil, errSentBefore
		}
		if !s.unsent() || s.shared || r.Context().Err() != nil {
			return nil, err
		}
		if r, err = rewound(r, err); err != nil {
			return nil, err
		}
	}
}

// rewound returns the request with its body from the start, or failed if the body can't be read again.
func rewound(r *http.Request, failed error) (*http.Request, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return r, nil
	}
	if r.GetBody == nil {
		return nil, failed
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, err
	}
	again := *r
	again.Body = body
	return &again, nil
}

// sending is one call of net/http.
type sending struct {
	cancel context.CancelCauseFunc // nil without TLS
	resent atomic.Bool

	conn   *countingConn // the first one that the request got
	reused bool
	shared bool  // HTTP/2: other requests may write to it at any time
	writes int64 // that its connection had seen before
	begin  time.Time
}

// request prepares a copy of r that net/http sends once.
func (s *sending) request(r *http.Request) *http.Request {
	ctx := r.Context()
	if r.URL.Scheme == "https" { // there is no HTTP/2 without TLS
		ctx, s.cancel = context.WithCancelCause(ctx)
	}
	r = r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: s.gotConn}))
	r.GetBody = nil
	switch {
	case r.Body != nil && r.Body != http.NoBody: // as it is: of a type that it knows, net/http sends it with the head
	case r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == "":
		r.Body = oneTime{http.NoBody} // read before anything is sent, and found empty
	default:
		r.Header = hideIdempotencyKey(r.Header)
	}
	return r
}

// gotConn notes the connection of the request, and cancels a request that gets a second one after
// the first has carried something. Before it writes anything, HTTP/2 looks at the context again.
func (s *sending) gotConn(info httptrace.GotConnInfo) {
	if s.conn != nil && !s.unsent() {
		s.resent.Store(true)
		if s.cancel != nil {
			s.cancel(errSentBefore)
		}
		return
	}
	if s.conn = counting(info.Conn); s.conn != nil {
		s.begin, s.reused, s.shared, s.writes = time.Now(), info.Reused, isHTTP2(info.Conn), s.conn.writes.Load()
		if info.WasIdle && !s.shared && info.IdleTime >= time.Duration(s.conn.keep.Load()) {
			s.conn.Close() // nothing can be written to it any more, so that another one is tried
		}
	}
}

// noteKeepAlive notes for how long the connection may be unused from now on.
func (s *sending) noteKeepAlive(answer *http.Response) {
	if s.conn == nil || s.shared {
		return
	}
	took, known := time.Since(s.begin), time.Duration(s.conn.roundTrip.Load())
	if took < known {
		known = took
		s.conn.roundTrip.Store(int64(known))
	}
	s.conn.keep.Store(int64(httpclient.KeepFor(answer.Header["Keep-Alive"], known, httpclient.KeepUnannounced)))
}

// unsent reports whether the request got a kept connection and nothing was written to it since.
func (s *sending) unsent() bool {
	return s.conn != nil && s.reused && s.conn.writes.Load() == s.writes
}

// oneTime is a body that can't be read again.
type oneTime struct{ io.ReadCloser }

// hideIdempotencyKey writes those header names in lower case by which net/http takes a request for
// idempotent. Header names are case-insensitive for the receiver.
func hideIdempotencyKey(h http.Header) http.Header {
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, has := h[name]; has {
			h = maps.Clone(h)
			delete(h, name)
			h[strings.ToLower(name)] = values
		}
	}
	return h
}

// countingConn counts its writes, and knows its round trip and for how long it may be unused, in nanoseconds.
type countingConn struct {
	net.Conn
	writes, roundTrip, keep atomic.Int64
}

// Write counts before it writes, and takes that back if nothing at all was written.
func (c *countingConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	n, err := c.Conn.Write(b)
	if n == 0 && err != nil {
		c.writes.Add(-1)
	}
	return n, err
}

// isHTTP2 reports whether a connection speaks HTTP/2.
func isHTTP2(c net.Conn) bool {
	over, ok := c.(*tls.Conn)
	return ok && over.ConnectionState().NegotiatedProtocol == "h2"
}

// counting returns the counting connection below a connection, nil if there is none.
func counting(c net.Conn) *countingConn {
	for {
		switch one := c.(type) {
		case *countingConn:
			return one
		case *tls.Conn:
			c = one.NetConn()
		default:
			return nil
		}
	}
}
