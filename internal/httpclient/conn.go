package httpclient

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/trireme-dev/trireme/internal/httpsyntax"
)

// conn is one connection.
type conn struct {
	c                       *Client
	to                      route
	nc                      net.Conn
	read, tryRead, tryWrite func([]byte) (int, error) // of a plain socket; over TLS there is read alone
	counted                 *countedConn              // below TLS, nil without it
	pending                 func() bool               // reports whether the socket below TLS has something to read
	in                      []byte                    // what was read and not yet taken
	start                   int                       // of what was not yet taken
	since                   time.Time                 // the end of its last exchange
	roundTrip               time.Duration             // as observed, see measured
	announced               []string                  // the Keep-Alive headers of the last answer
	rest                    chan struct{}             // closed when the request is written; nil if it was written at once
	buffered                *bufio.Reader             // over the connection, for answers that http.ReadResponse reads
	room                    int                       // bytes that it may still read, as long as it reads heads
	scratch                 [1]byte
}

// firstRead is the size of the first buffer: most answers fit.
const firstRead = 4 << 10

// quiet reports whether the other side has neither sent anything nor ended the connection while it was unused.
func (c *conn) quiet() bool {
	if c.counted == nil {
		n, err := c.tryRead(c.scratch[:])
		return n == 0 && err == nil
	}
	if c.pending() {
		return false
	}
	// TLS may hold back what came with the last answer. A read whose time is over gives it, and reads nothing more.
	if c.nc.SetReadDeadline(past) != nil {
		return false
	}
	n, err := c.nc.Read(c.scratch[:])
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.nc.SetReadDeadline(time.Time{}) == nil
}

// past is a time that is over.
var past = time.Unix(1, 0)

// progress tells which bytes of a request may have reached the server.
type progress int

const (
	unsent  progress = iota // the connection took none of them, and never will
	begun                   // it took some, or they are still being written
	written                 // they are not needed any more
)

// exchange sends a request and reads the head of its answer. After an error the connection is closed. After an answer
// without a body it may be in use again.
func (c *conn) exchange(r *http.Request, out []byte) (answer *http.Response, sent progress, err error) {
	ctx, begin := r.Context(), time.Now()
	stop := context.AfterFunc(ctx, func() { c.nc.Close() })
	sent, err = c.write(r, out)
	if err == nil {
		if answer, err = c.answer(r, stop, begin); err == nil {
			return answer, sent, nil
		}
	}
	c.nc.Close()
	if !stop() && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return nil, sent, err
}

// inline bytes of a request are written over TLS before the answer is read: the socket takes them at once.
const inline = 16 << 10

// write writes a request, or begins to: what the socket does not take at once, and a body that is streamed, is written
// beside reading, because the other side may answer before it has read all.
func (c *conn) write(r *http.Request, out []byte) (sent progress, err error) {
	c.rest = nil
	n := 0
	switch {
	case c.counted == nil:
		n, err = c.tryWrite(out)
	case len(out) <= inline:
		was := c.counted.written.Load()
		if n, err = c.nc.Write(out); n == 0 && c.counted.written.Load() > was {
			n = 1 // of the record that it is in
		}
	}
	streamed := isStreamed(r)
	switch {
	case err == nil && n == len(out) && !streamed:
		return written, nil
	case err == nil:
		c.rest = make(chan struct{})
		go c.writeRest(r, out[n:], streamed, c.rest)
		return begun, nil
	case n > 0:
		return begun, err
	}
	return unsent, err
}

// writeRest writes what was not written at once. An error of the connection shows by what is read, if anything is.
func (c *conn) writeRest(r *http.Request, out []byte, streamed bool, done chan struct{}) {
	defer close(done)
	_, err := c.nc.Write(out)
	switch {
	case !streamed:
	case err != nil:
		closeBody(r)
	case streamBody(c.nc, r) != nil:
		c.nc.Close() // the other side waits for what never comes
	}
}

// answer reads the head of the answer to a request that began to be written then.
func (c *conn) answer(r *http.Request, stop func() bool, begin time.Time) (*http.Response, error) {
	c.in, c.start, c.announced = c.in[:0], 0, nil
	end, err := c.readHead()
	if err != nil {
		return nil, err
	}
	c.measured(time.Since(begin))
	h := head{}
	if end < 0 || r.Method == http.MethodHead || !h.read(c.in[:end]) {
		return c.odd(r, stop, false)
	}
	if h.chunked {
		return c.odd(r, stop, true)
	}
	c.start, c.announced = end, h.header[keepAlive]
	b := &body{k: c, ctx: r.Context(), stop: stop, left: h.length, keep: !r.Close}
	answer := &http.Response{
		Status: h.status, StatusCode: h.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h.header, ContentLength: h.length,
		Request: r, Body: b,
	}
	if h.length == 0 {
		b.finish(b.keep)
		answer.Body = http.NoBody
	}
	return answer, nil
}

// readHead reads until the empty line and returns the place behind it, -1 if there is a line that doesn't end as it should.
func (c *conn) readHead() (end int, err error) {
	for scanned := 0; ; {
		if i := bytes.Index(c.in[scanned:], []byte("\r\n\r\n")); i >= 0 {
			if end = scanned + i + 4; end > c.c.MaxHead {
				return 0, c.tooLong()
			}
			return end, nil
		}
		scanned = max(len(c.in)-3, 0)
		if httpsyntax.HasBareLineFeed(c.in) {
			return -1, nil
		}
		if len(c.in) > c.c.MaxHead {
			return 0, c.tooLong()
		}
		if cap(c.in)-len(c.in) < 512 {
			in := make([]byte, len(c.in), max(firstRead, 2*cap(c.in)))
			copy(in, c.in)
			c.in = in
		}
		n, err := c.read(c.in[len(c.in):cap(c.in)])
		c.in = c.in[:len(c.in)+n]
		if n == 0 && err != nil {
			if errors.Is(err, io.EOF) && len(c.in) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return 0, fmt.Errorf("reading the answer: %w", err)
		}
	}
}

func (c *conn) tooLong() error {
	return fmt.Errorf("the answer's header is larger than %d bytes", c.c.MaxHead)
}

// odd has net/http read the answer of which the first bytes are in the buffer. keep allows to use the connection again.
func (c *conn) odd(r *http.Request, stop func() bool, keep bool) (*http.Response, error) {
	c.room = c.c.MaxHead
	if c.buffered == nil {
		c.buffered = bufio.NewReader((*source)(c))
	} else {
		c.buffered.Reset((*source)(c))
	}
	for { // each takes of the room for heads
		answer, err := http.ReadResponse(c.buffered, r)
		if err != nil {
			if c.room <= 0 {
				err = c.tooLong()
			}
			return nil, fmt.Errorf("reading the answer: %w", err)
		}
		if answer.StatusCode >= 200 || answer.StatusCode == http.StatusSwitchingProtocols {
			c.room, c.announced = -1, answer.Header[keepAlive]
			answer.Body = &body{k: c, ctx: r.Context(), stop: stop, from: answer.Body, keep: keep && !answer.Close && !r.Close}
			return answer, nil
		}
	}
}

// source reads the rest of a connection's buffer, and then the connection.
type source conn

// Read reads no more than there is room for while a head is read.
func (s *source) Read(b []byte) (n int, err error) {
	if s.room == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	if s.room > 0 && len(b) > s.room {
		b = b[:s.room]
	}
	if s.start < len(s.in) {
		n = copy(b, s.in[s.start:])
		s.start += n
	} else {
		n, err = s.read(b)
	}
	if s.room > 0 {
		s.room -= n
	}
	return n, err
}
