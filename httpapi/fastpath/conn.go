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
func (co *conn) wake() {
	if co.waiting.Load() {
		co.c.SetReadDeadline(time.Unix(1, 0))
	}
}

// serve answers until the connection ends, leaves for net/http, or attaches to the event loop.
func (co *conn) serve() {
	for {
		err := co.resume()
		if err == nil {
			err = co.serveOne()
		}
		switch {
		case err == nil:
			if co.attach() {
				return
			}
			continue
		case errors.Is(err, errNotSimple):
			co.c.SetDeadline(time.Time{})
			rest := co.in[co.start:]
			co.s.fallback.handOver(&bufferedConn{Conn: co.c, rest: rest, first: rest, refuse: co.s.Refuse, late: co.late(),
				server: co.s, state: co.state, share: co.share})
		default:
			co.s.release(co.share)
			refusePlain(err)
			co.c.Close()
		}
		co.s.end(co)
		return
	}
}

// serveOne reads one request and answers it.
func (co *conn) serveOne() error {
	if co.start == len(co.in) {
		co.in, co.start = co.in[:0], 0
	}
	end, err := co.readHead()
	if errors.Is(err, errCrowded) {
		co.refuse()
		return err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err // net/http has no answer for a head that didn't come in time either, and takes memory to find that out
	}
	if err != nil {
		return co.unfinished(err)
	}
	if end-co.start > co.s.MaxHead {
		return errNotSimple
	}
	if !co.head.read(co.in[co.start:end], co.s.Plain) || co.head.length > co.maxBody() {
		return errNotSimple
	}
	if err := co.readTo(end + co.head.length); err != nil {
		return co.unfinished(err)
	}
	body := co.in[end : end+co.head.length]
	co.start = end + co.head.length
	return co.answer(body)
}

// firstBody is the largest body that is read here before the connection has shown a token that
// opens something, in bytes. A larger one is net/http's, whose handler reads it after the token.
const firstBody = 64 << 10

func (co *conn) maxBody() int {
	if co.state != nil && !co.state.HasLoggedIn() {
		return min(co.s.MaxBody, firstBody)
	}
	return co.s.MaxBody
}

// unfinished passes an incomplete request to net/http, which has an answer for it.
func (co *conn) unfinished(err error) error {
	if len(co.in) > co.start && !co.s.closing() {
		return errNotSimple
	}
	return err
}

// readHead reads until the empty line and returns the position after it.
func (co *conn) readHead() (int, error) {
	scanned := co.start
	co.waiting.Store(co.start == len(co.in))
	co.begun = time.Time{}
	if !co.waiting.Load() { // it came together with the one before
		co.begin()
	}
	for {
		if i := bytes.Index(co.in[scanned:], []byte("\r\n\r\n")); i >= 0 {
			co.waiting.Store(false)
			return scanned + i + 4, nil
		}
		scanned = max(len(co.in)-3, co.start)
		if len(co.in)-co.start > co.s.MaxHead || httpsyntax.HasBareLineFeed(co.in[co.start:]) {
			return 0, errNotSimple
		}
		if co.waiting.Load() && co.s.closing() {
			return 0, io.EOF
		}
		if err := co.fill(co.s.HeadTime); err != nil {
			return 0, err
		}
		if co.waiting.Load() {
			co.waiting.Store(false)
			co.begin()
		}
	}
}

// refuse answers a stranger whose head is long while there is no room for it.
func (co *conn) refuse() {
	co.c.SetWriteDeadline(time.Now().Add(refuseTime))
	_, _ = co.c.Write(co.s.Crowded) // best effort: it may not read
}

// refuseTime bounds the time to send a refusal.
const refuseTime = time.Second

// begin notes that a request has begun; its limits count from now.
func (co *conn) begin() {
	co.begun, co.accepted = co.accepted, time.Time{}
	if co.begun.IsZero() {
		co.begun = time.Now()
	}
}

// late returns the time since the request that is being read began, 0 if none has.
func (co *conn) late() time.Duration {
	if co.begun.IsZero() {
		return 0
	}
	return time.Since(co.begun)
}

// bodyStep is the memory in bytes that a body gets before it has arrived.
const bodyStep = 64 << 10

// readTo reads until in has end bytes. Its memory grows with what has arrived, not with what was announced.
func (co *conn) readTo(end int) error {
	for len(co.in) < end {
		co.room(min(end-len(co.in), max(bodyStep, len(co.in)-co.start)))
		if err := co.fill(co.s.BodyTime); errors.Is(err, errCrowded) {
			return errNotSimple // net/http's handler looks at the token first
		} else if err != nil {
			return err
		}
	}
	return nil
}

// room makes room for n more bytes.
func (co *conn) room(n int) {
	if cap(co.in)-len(co.in) < n {
		in := make([]byte, len(co.in), len(co.in)+max(n, len(co.in), firstRead))
		copy(in, co.in)
		co.in = in
	}
}

// fill reads what has arrived, within limit of the request's begin. Between requests deadlines are set when they are
// due to change, not with each read: they are long, and setting one costs as much as a small request.
func (co *conn) fill(limit time.Duration) error {
	co.room(512)
	if (cap(co.in) > firstRead || co.share.n.Load() > 0) && !co.hold() {
		return errCrowded
	}
	due := co.deadline
	switch {
	case !co.begun.IsZero():
		due = co.begun.Add(limit)
	case !co.accepted.IsZero():
		due = co.accepted.Add(limit)
	default:
		if now := time.Now(); co.deadline.Sub(now) < co.s.IdleTime/2 || co.deadline.Sub(now) > co.s.IdleTime {
			due = now.Add(co.s.IdleTime)
		}
	}
	if !due.Equal(co.deadline) {
		co.deadline = due
		co.c.SetReadDeadline(due)
		if co.waiting.Load() && co.s.closing() { // wake came before the deadline was set
			return io.EOF
		}
	}
	n, err := co.read(co.in[len(co.in):cap(co.in)])
	co.in = co.in[:len(co.in)+n]
	if n > 0 {
		return nil
	}
	return err
}

// prepare makes the request whose body is b, and an empty reply to it.
func (co *conn) prepare(b []byte) {
	co.body.left = b
	co.url.Path = "/"
	r := &co.request
	*r = co.base
	r.Method, r.URL, r.RequestURI = co.head.method, &co.url, co.head.target
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	r.Header, r.Host, r.RemoteAddr = co.head.header, co.head.host, co.from
	r.Body, r.ContentLength = &co.body, int64(len(b))
	co.reply.begin()
	co.reply.headOnly, co.reply.last = co.head.method == http.MethodHead, co.s.closing()
}

// answer lets the handler answer, and writes the reply.
func (co *conn) answer(b []byte) error {
	co.prepare(b)
	if co.state != nil {
		co.state.Busy()
		defer co.state.Idle()
	}
	if !co.run(co.handle) {
		return io.ErrUnexpectedEOF
	}
	out, err := co.finish()
	if len(out) > 0 {
		if err := co.send(out); err != nil {
			return err
		}
	}
	co.trim()
	return err
}

// finish returns the rest of the reply to send. The error says why the connection ends with it: io.EOF if the client
// was told.
func (co *conn) finish() ([]byte, error) {
	if err := co.reply.broken(); err != nil {
		return nil, err
	}
	last := co.s.closing()
	if co.reply.sending {
		last = co.reply.last
	}
	co.reply.last = last
	out := co.reply.finish()
	if last || co.reply.close {
		return out, io.EOF
	}
	return out, nil
}

// send writes a part of a reply, within WriteTime of the begin of the reply, or up to half of it
// less: setting a deadline costs as much as a small request.
func (co *conn) send(b []byte) error {
	if now := time.Now(); !co.reply.sending && co.sendBy.Sub(now) < co.s.WriteTime/2 {
		co.sendBy = now.Add(co.s.WriteTime)
		co.c.SetWriteDeadline(co.sendBy)
	}
	_, err := co.write(b)
	return err
}

func (co *conn) handle() { co.s.Handler.ServeHTTP(&co.reply, &co.request) }

// run makes a reply. It returns false if the reply was broken off.
func (co *conn) run(answer func()) (whole bool) {
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler && co.s.HTTP.ErrorLog != nil {
			co.s.HTTP.ErrorLog.Printf("fastpath: panic serving %s: %v\n%s", co.from, p, debug.Stack())
		}
	}()
	answer()
	return true
}

// keptBuffer bounds the buffers that an idle connection keeps, in bytes.
const keptBuffer = 64 << 10

func (co *conn) trim() {
	if cap(co.in) > keptBuffer && len(co.in) == co.start {
		co.in, co.start = make([]byte, 0, firstRead), 0
	}
	if cap(co.reply.out) > keptBuffer {
		co.reply.out = nil
	}
	if cap(co.reply.body) > keptBuffer {
		co.reply.body = nil
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
