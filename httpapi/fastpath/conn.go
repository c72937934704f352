package fastpath

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/internal/eventloop"
	"github.com/trireme-dev/trireme/internal/httpsyntax"
	"github.com/trireme-dev/trireme/internal/socket"
)

// conn is one connection on the fast path.
type conn struct {
	s     *Server
	c     net.Conn
	read  func([]byte) (int, error)
	write func([]byte) (int, error)

	in       []byte // read and not yet answered
	start    int    // of the next request in in
	head     head
	request  http.Request
	url      url.URL
	body     body
	reply    reply
	from     string
	base     http.Request // with the connection's context
	state    connState    // nil: not observed
	accepted time.Time    // zero once the first request has begun
	begun    time.Time    // the first byte of the request came, or, of the first one, the connection; zero between requests
	deadline time.Time    // for reading
	sendBy   time.Time
	waiting  atomic.Bool // between requests
	share    *share

	looped
}

// looped holds the state of a connection in the event loop; see loop.go.
type looped struct {
	socket            net.Conn
	number            uint64
	loopState         eventloop.State
	tryRead, tryWrite func([]byte) (int, error)
	prepared          Request // prepared, of a batch
	end               int     // of it in in
	rounds, enough    int     // requests since it had a goroutine, and how many attach it
	together          int     // requests that were run in batches since it was attached
	active            time.Time
	unsent            []byte
	failed            error
}

// connState is a connection's state in the limiter of connections.
type connState interface {
	Busy()
	Idle()
	// HasLoggedIn reports whether the connection has shown a token that opens something.
	HasLoggedIn() bool
}

// firstRead is the size of the first buffer: most requests fit.
const firstRead = 4 << 10

func newConn(s *Server, c net.Conn) *conn {
	socketConn := c
	if n, ok := c.(interface{ Socket() net.Conn }); ok && n.Socket() != nil {
		socketConn = n.Socket()
	}
	k := &conn{s: s, c: c, read: socket.Read(socketConn), write: socket.Write(socketConn), in: make([]byte, 0, firstRead), from: c.RemoteAddr().String(),
		base: s.base, accepted: time.Now(), share: new(share),
		looped: looped{socket: socketConn, number: s.numbers.Add(1), enough: attachAfter}}
	k.state, _ = c.(connState)
	if s.ConnContext != nil {
		k.base = *s.base.WithContext(s.ConnContext(s.base.Context(), c))
	}
	k.reply.header, k.reply.send = http.Header{}, k.send
	return k
}

// errNotSimple sends the connection to net/http.
var errNotSimple = errors.New("fastpath: request is not simple")

// wake ends the wait for a further request.
func (k *conn) wake() {
	if k.waiting.Load() {
		k.c.SetReadDeadline(time.Unix(1, 0))
	}
}

// serve answers until the connection ends, leaves for net/http, or attaches to the event loop.
func (k *conn) serve() {
	for {
		err := k.resume()
		if err == nil {
			err = k.serveOne()
		}
		switch {
		case err == nil:
			if k.attach() {
				return
			}
			continue
		case errors.Is(err, errNotSimple):
			k.c.SetDeadline(time.Time{})
			rest := k.in[k.start:]
			k.s.fallback.handOver(&bufferedConn{Conn: k.c, rest: rest, first: rest, refuse: k.s.Refuse, late: k.late(),
				server: k.s, state: k.state, share: k.share})
		default:
			k.s.release(k.share)
			refusePlain(err)
			k.c.Close()
		}
		k.s.end(k)
		return
	}
}

// serveOne reads one request and answers it.
func (k *conn) serveOne() error {
	if k.start == len(k.in) {
		k.in, k.start = k.in[:0], 0
	}
	end, err := k.readHead()
	if errors.Is(err, errCrowded) {
		k.refuse()
		return err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err // net/http has no answer for a head that didn't come in time either, and takes memory to find that out
	}
	if err != nil {
		return k.unfinished(err)
	}
	if end-k.start > k.s.MaxHead {
		return errNotSimple
	}
	if !k.head.read(k.in[k.start:end], k.s.Plain) || k.head.length > k.maxBody() {
		return errNotSimple
	}
	if err := k.readTo(end + k.head.length); err != nil {
		return k.unfinished(err)
	}
	body := k.in[end : end+k.head.length]
	k.start = end + k.head.length
	return k.answer(body)
}

// firstBody is the largest body that is read here before the connection has shown a token that
// opens something, in bytes. A larger one is net/http's, whose handler reads it after the token.
const firstBody = 64 << 10

func (k *conn) maxBody() int {
	if k.state != nil && !k.state.HasLoggedIn() {
		return min(k.s.MaxBody, firstBody)
	}
	return k.s.MaxBody
}

// unfinished passes an incomplete request to net/http, which has an answer for it.
func (k *conn) unfinished(err error) error {
	if len(k.in) > k.start && !k.s.closing() {
		return errNotSimple
	}
	return err
}

// readHead reads until the empty line and returns the position after it.
func (k *conn) readHead() (int, error) {
	scanned := k.start
	k.waiting.Store(k.start == len(k.in))
	k.begun = time.Time{}
	if !k.waiting.Load() { // it came together with the one before
		k.begin()
	}
	for {
		if i := bytes.Index(k.in[scanned:], []byte("\r\n\r\n")); i >= 0 {
			k.waiting.Store(false)
			return scanned + i + 4, nil
		}
		scanned = max(len(k.in)-3, k.start)
		if len(k.in)-k.start > k.s.MaxHead || httpsyntax.HasBareLineFeed(k.in[k.start:]) {
			return 0, errNotSimple
		}
		if k.waiting.Load() && k.s.closing() {
			return 0, io.EOF
		}
		if err := k.fill(k.s.HeadTime); err != nil {
			return 0, err
		}
		if k.waiting.Load() {
			k.waiting.Store(false)
			k.begin()
		}
	}
}

// refuse answers a stranger whose head is long while there is no room for it.
func (k *conn) refuse() {
	k.c.SetWriteDeadline(time.Now().Add(refuseTime))
	_, _ = k.c.Write(k.s.Crowded) // best effort: it may not read
}

// refuseTime bounds the time to send a refusal.
const refuseTime = time.Second

// begin notes that a request has begun; its limits count from now.
func (k *conn) begin() {
	k.begun, k.accepted = k.accepted, time.Time{}
	if k.begun.IsZero() {
		k.begun = time.Now()
	}
}

// late returns the time since the request that is being read began, 0 if none has.
func (k *conn) late() time.Duration {
	if k.begun.IsZero() {
		return 0
	}
	return time.Since(k.begun)
}

// bodyStep is the memory in bytes that a body gets before it has arrived.
const bodyStep = 64 << 10

// readTo reads until in has end bytes. Its memory grows with what has arrived, not with what was announced.
func (k *conn) readTo(end int) error {
	for len(k.in) < end {
		k.room(min(end-len(k.in), max(bodyStep, len(k.in)-k.start)))
		if err := k.fill(k.s.BodyTime); errors.Is(err, errCrowded) {
			return errNotSimple // net/http's handler looks at the token first
		} else if err != nil {
			return err
		}
	}
	return nil
}

// room makes room for n more bytes.
func (k *conn) room(n int) {
	if cap(k.in)-len(k.in) < n {
		in := make([]byte, len(k.in), len(k.in)+max(n, len(k.in), firstRead))
		copy(in, k.in)
		k.in = in
	}
}

// fill reads what has arrived, within limit of the request's begin. Between requests deadlines are set when they are
// due to change, not with each read: they are long, and setting one costs as much as a small request.
func (k *conn) fill(limit time.Duration) error {
	k.room(512)
	if (cap(k.in) > firstRead || k.share.n.Load() > 0) && !k.hold() {
		return errCrowded
	}
	due := k.deadline
	switch {
	case !k.begun.IsZero():
		due = k.begun.Add(limit)
	case !k.accepted.IsZero():
		due = k.accepted.Add(limit)
	default:
		if now := time.Now(); k.deadline.Sub(now) < k.s.IdleTime/2 || k.deadline.Sub(now) > k.s.IdleTime {
			due = now.Add(k.s.IdleTime)
		}
	}
	if !due.Equal(k.deadline) {
		k.deadline = due
		k.c.SetReadDeadline(due)
		if k.waiting.Load() && k.s.closing() { // wake came before the deadline was set
			return io.EOF
		}
	}
	n, err := k.read(k.in[len(k.in):cap(k.in)])
	k.in = k.in[:len(k.in)+n]
	if n > 0 {
		return nil
	}
	return err
}

// prepare makes the request whose body is b, and an empty reply to it.
func (k *conn) prepare(b []byte) {
	k.body.left = b
	k.url.Path = "/"
	r := &k.request
	*r = k.base
	r.Method, r.URL, r.RequestURI = k.head.method, &k.url, k.head.target
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	r.Header, r.Host, r.RemoteAddr = k.head.header, k.head.host, k.from
	r.Body, r.ContentLength = &k.body, int64(len(b))
	k.reply.begin()
	k.reply.headOnly, k.reply.last = k.head.method == http.MethodHead, k.s.closing()
}

// answer lets the handler answer, and writes the reply.
func (k *conn) answer(b []byte) error {
	k.prepare(b)
	if k.state != nil {
		k.state.Busy()
		defer k.state.Idle()
	}
	if !k.run(k.handle) {
		return io.ErrUnexpectedEOF
	}
	out, err := k.finish()
	if len(out) > 0 {
		if err := k.send(out); err != nil {
			return err
		}
	}
	k.trim()
	return err
}

// finish returns the rest of the reply to send. The error says why the connection ends with it: io.EOF if the client
// was told.
func (k *conn) finish() ([]byte, error) {
	if err := k.reply.broken(); err != nil {
		return nil, err
	}
	last := k.s.closing()
	if k.reply.sending {
		last = k.reply.last
	}
	k.reply.last = last
	out := k.reply.finish()
	if last || k.reply.close {
		return out, io.EOF
	}
	return out, nil
}

// send writes a part of a reply, within WriteTime of the begin of the reply, or up to half of it
// less: setting a deadline costs as much as a small request.
func (k *conn) send(b []byte) error {
	if now := time.Now(); !k.reply.sending && k.sendBy.Sub(now) < k.s.WriteTime/2 {
		k.sendBy = now.Add(k.s.WriteTime)
		k.c.SetWriteDeadline(k.sendBy)
	}
	_, err := k.write(b)
	return err
}

func (k *conn) handle() { k.s.Handler.ServeHTTP(&k.reply, &k.request) }

// run makes a reply. It returns false if the reply was broken off.
func (k *conn) run(answer func()) (whole bool) {
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler && k.s.HTTP.ErrorLog != nil {
			k.s.HTTP.ErrorLog.Printf("fastpath: panic serving %s: %v\n%s", k.from, p, debug.Stack())
		}
	}()
	answer()
	return true
}

// keptBuffer bounds the buffers that an idle connection keeps, in bytes.
const keptBuffer = 64 << 10

func (k *conn) trim() {
	if cap(k.in) > keptBuffer && len(k.in) == k.start {
		k.in, k.start = make([]byte, 0, firstRead), 0
	}
	if cap(k.reply.out) > keptBuffer {
		k.reply.out = nil
	}
	if cap(k.reply.body) > keptBuffer {
		k.reply.body = nil
	}
}

// body is a request's body, read already.
type body struct{ left []byte }

func (b *body) Read(p []byte) (int, error) {
	if len(b.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	if len(b.left) == 0 {
		return n, io.EOF
	}
	return n, nil
}

func (b *body) Close() error { return nil }
