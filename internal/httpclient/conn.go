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
	"time"

	"github.com/trireme-dev/trireme/internal/httpsyntax"
)

// conn is one connection.
type conn struct {
	c                       *Client
	addr                    string
	nc                      net.Conn
	read, tryRead, tryWrite func([]byte) (int, error)
	in                      []byte        // what was read and not yet taken
	start                   int           // of what was not yet taken
	since                   time.Time     // the end of its last exchange
	roundTrip               time.Duration // as observed, see measured
	announced               []string      // the Keep-Alive headers of the last answer
	rest                    chan struct{} // closed when the request is written; nil if it was written at once
	buffered                *bufio.Reader // over the connection, for answers that http.ReadResponse reads
	room                    int           // bytes that it may still read, as long as it reads heads
	scratch                 [1]byte
}

// firstRead is the size of the first buffer: most answers fit.
const firstRead = 4 << 10

// quiet reports whether the other side has neither sent anything nor ended the connection while it was unused.
func (k *conn) quiet() bool {
	n, err := k.tryRead(k.scratch[:])
	return n == 0 && err == nil
}

// progress tells which bytes of a request may have reached the server.
type progress int

const (
	unsent  progress = iota // the connection took none of them, and never will
	begun                   // it took some, or they are still being written
	written                 // they are not needed any more
)

// exchange sends a request and reads the head of its answer. After an error the connection is closed. After an answer
// without a body it may be in use again.
func (k *conn) exchange(r *http.Request, out []byte) (answer *http.Response, sent progress, err error) {
	ctx, begin := r.Context(), time.Now()
	stop := context.AfterFunc(ctx, func() { k.nc.Close() })
	n, err := k.tryWrite(out)
	switch k.rest = nil; {
	case err == nil && n == len(out):
		sent = written
	case err == nil: // it takes no more now: the other side may answer before it has read all
		sent, k.rest = begun, make(chan struct{})
		go k.writeRest(out[n:], k.rest)
	case n > 0:
		sent = begun
	}
	if err == nil {
		if answer, err = k.answer(r, stop, begin); err == nil {
			return answer, sent, nil
		}
	}
	k.nc.Close()
	if !stop() && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return nil, sent, err
}

// writeRest writes what the socket did not take at once. Its error shows by what is read, if anything is.
func (k *conn) writeRest(out []byte, done chan struct{}) {
	_, _ = k.nc.Write(out)
	close(done)
}

// answer reads the head of the answer to a request that began to be written then.
func (k *conn) answer(r *http.Request, stop func() bool, begin time.Time) (*http.Response, error) {
	k.in, k.start, k.announced = k.in[:0], 0, nil
	end, err := k.readHead()
	if err != nil {
		return nil, err
	}
	k.measured(time.Since(begin))
	h := head{}
	if end < 0 || !h.read(k.in[:end]) {
		return k.odd(r, stop, false)
	}
	if h.chunked {
		return k.odd(r, stop, true)
	}
	k.start, k.announced = end, h.header[keepAlive]
	b := &body{k: k, ctx: r.Context(), stop: stop, left: h.length, keep: true}
	answer := &http.Response{
		Status: h.status, StatusCode: h.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h.header, ContentLength: h.length,
		Request: r, Body: b,
	}
	if h.length == 0 {
		b.finish(true)
		answer.Body = http.NoBody
	}
	return answer, nil
}

// readHead reads until the empty line and returns the place behind it, -1 if there is a line that doesn't end as it should.
func (k *conn) readHead() (end int, err error) {
	for scanned := 0; ; {
		if i := bytes.Index(k.in[scanned:], []byte("\r\n\r\n")); i >= 0 {
			if end = scanned + i + 4; end > k.c.MaxHead {
				return 0, k.tooLong()
			}
			return end, nil
		}
		scanned = max(len(k.in)-3, 0)
		if httpsyntax.HasBareLineFeed(k.in) {
			return -1, nil
		}
		if len(k.in) > k.c.MaxHead {
			return 0, k.tooLong()
		}
		if cap(k.in)-len(k.in) < 512 {
			in := make([]byte, len(k.in), max(firstRead, 2*cap(k.in)))
			copy(in, k.in)
			k.in = in
		}
		n, err := k.read(k.in[len(k.in):cap(k.in)])
		k.in = k.in[:len(k.in)+n]
		if n == 0 && err != nil {
			if errors.Is(err, io.EOF) && len(k.in) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return 0, fmt.Errorf("reading the answer: %w", err)
		}
	}
}

func (k *conn) tooLong() error {
	return fmt.Errorf("the answer's header is larger than %d bytes", k.c.MaxHead)
}

// odd has net/http read the answer of which the first bytes are in the buffer. keep allows to use the connection again.
func (k *conn) odd(r *http.Request, stop func() bool, keep bool) (*http.Response, error) {
	k.room = k.c.MaxHead
	if k.buffered == nil {
		k.buffered = bufio.NewReader((*source)(k))
	} else {
		k.buffered.Reset((*source)(k))
	}
	for { // each takes of the room for heads
		answer, err := http.ReadResponse(k.buffered, r)
		if err != nil {
			if k.room <= 0 {
				err = k.tooLong()
			}
			return nil, fmt.Errorf("reading the answer: %w", err)
		}
		if answer.StatusCode >= 200 || answer.StatusCode == http.StatusSwitchingProtocols {
			k.room, k.announced = -1, answer.Header[keepAlive]
			answer.Body = &body{k: k, ctx: r.Context(), stop: stop, from: answer.Body, keep: keep && !answer.Close}
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
