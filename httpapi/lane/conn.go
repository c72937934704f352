package lane

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"sync/atomic"
	"time"

	"trireme/socket"
)

// conn is one connection in the lane.
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
	deadline time.Time // for reading
	sendBy   time.Time
	waiting  atomic.Bool // between requests
}

// firstRead is the size of the first buffer: most requests fit.
const firstRead = 4 << 10

func newConn(s *Server, c net.Conn) *conn {
	k := &conn{s: s, c: c, read: socket.Reader(c), write: socket.Writer(c), in: make([]byte, 0, firstRead), from: c.RemoteAddr().String()}
	k.reply.header = http.Header{}
	return k
}

// errNotPlain sends the connection to net/http.
var errNotPlain = errors.New("lane: request is not plain")

// wake ends the wait for a further request.
func (k *conn) wake() {
	if k.waiting.Load() {
		k.c.SetReadDeadline(time.Unix(1, 0))
	}
}

func (k *conn) serve() {
	defer k.s.end(k)
	for {
		err := k.one()
		switch {
		case err == nil:
			continue
		case errors.Is(err, errNotPlain):
			k.c.SetDeadline(time.Time{})
			k.s.slow.give(&replay{Conn: k.c, rest: k.in[k.start:], tooLarge: k.s.HeadTooLarge})
		default:
			k.c.Close()
		}
		return
	}
}

// one reads one request and answers it.
func (k *conn) one() error {
	if k.start == len(k.in) {
		k.in, k.start = k.in[:0], 0
	}
	end, err := k.readHead()
	if err != nil {
		return k.unfinished(err)
	}
	if end-k.start > k.s.MaxHead {
		return errNotPlain
	}
	if !k.head.read(k.in[k.start:end], k.s.Plain) || k.head.length > k.s.MaxBody {
		return errNotPlain
	}
	if err := k.readTo(end+k.head.length, k.s.BodyTime); err != nil {
		return k.unfinished(err)
	}
	body := k.in[end : end+k.head.length]
	k.start = end + k.head.length
	return k.answer(body)
}

// unfinished leaves a request that has begun and doesn't come to its end to net/http,
// which has an answer for it.
func (k *conn) unfinished(err error) error {
	if len(k.in) > k.start && !k.s.closing() {
		return errNotPlain
	}
	return err
}

// bareLine tells whether a line ends without a carriage return: no empty line of ours
// may ever follow, and net/http takes such heads.
func bareLine(b []byte) bool {
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return false
		}
		if i == 0 || b[i-1] != '\r' {
			return true
		}
		b = b[i+1:]
	}
}

// readHead reads until the empty line and gives the place behind it.
func (k *conn) readHead() (int, error) {
	scanned := k.start
	k.waiting.Store(k.start == len(k.in))
	limit := k.s.IdleTime
	for {
		if i := bytes.Index(k.in[scanned:], []byte("\r\n\r\n")); i >= 0 {
			k.waiting.Store(false)
			return scanned + i + 4, nil
		}
		scanned = max(len(k.in)-3, k.start)
		if len(k.in)-k.start > k.s.MaxHead || bareLine(k.in[k.start:]) {
			return 0, errNotPlain
		}
		if len(k.in) > k.start { // a head has begun
			limit = k.s.HeadTime
		}
		if k.waiting.Load() && k.s.closing() {
			return 0, io.EOF
		}
		if err := k.fill(limit); err != nil {
			return 0, err
		}
		k.waiting.Store(false)
	}
}

// readTo reads until in has end bytes.
func (k *conn) readTo(end int, limit time.Duration) error {
	for len(k.in) < end {
		k.room(end - len(k.in))
		if err := k.fill(limit); err != nil {
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

// fill reads what has come. Deadlines are set when they are due to change, not with
// each read: they are long, and setting one costs as much as a small request.
func (k *conn) fill(limit time.Duration) error {
	k.room(512)
	if now := time.Now(); k.deadline.Sub(now) < limit/2 || k.deadline.Sub(now) > limit {
		k.deadline = now.Add(limit)
		k.c.SetReadDeadline(k.deadline)
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

// answer has the handler answer and writes the reply.
func (k *conn) answer(b []byte) (err error) {
	k.body.left = b
	k.url.Path = "/"
	r := &k.request
	*r = k.s.base
	r.Method, r.URL, r.RequestURI = k.head.method, &k.url, k.head.target
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	r.Header, r.Host, r.RemoteAddr = k.head.header, k.head.host, k.from
	r.Body, r.ContentLength = &k.body, int64(len(b))
	k.reply.begin()
	if !k.run() {
		return io.ErrUnexpectedEOF
	}
	last := k.s.closing()
	out := k.reply.finish(k.head.method == http.MethodHead, last)
	if now := time.Now(); k.sendBy.Sub(now) < k.s.WriteTime/2 {
		k.sendBy = now.Add(k.s.WriteTime)
		k.c.SetWriteDeadline(k.sendBy)
	}
	if _, err := k.write(out); err != nil {
		return err
	}
	k.trim()
	if last || k.reply.close {
		return io.EOF
	}
	return nil
}

// run is false if the handler broke the reply off.
func (k *conn) run() (whole bool) {
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler && k.s.HTTP.ErrorLog != nil {
			k.s.HTTP.ErrorLog.Printf("lane: panic serving %s: %v\n%s", k.from, p, debug.Stack())
		}
	}()
	k.s.Handler.ServeHTTP(&k.reply, &k.request)
	return true
}

// keptBuffer bounds what an idle connection holds on to.
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
