package fastpath

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/textproto"
	"time"

	"github.com/trireme-dev/trireme/internal/httpsyntax"

	"github.com/trireme-dev/trireme/internal/eventloop"
)

// The bounds of a batch, which is one request to the log or one view.
const (
	maxBatch     = 200
	maxBatchSize = 256 << 10
	// maxTogether is the largest body of a request that is run together with others, in bytes.
	maxTogether = 8 << 10
)

// loop serves connections that send only simple requests, without a goroutine for each (package
// eventloop). It reads the requests that have arrived and puts those of all connections into
// batches. Whatever is not simple (a long or incomplete request, one that the batcher doesn't take,
// a client that reads slowly, end of file, an error) detaches the connection: it gets a goroutine,
// which finds the buffers as if it had always served it.
type loop struct {
	s     *Server
	ctx   context.Context
	loop  *eventloop.Loop[*conn]
	ended chan struct{}
}

// newLoop starts the loop; nil if there is nothing for it to do.
func newLoop(ctx context.Context, s *Server) *loop {
	if s.Batcher == nil {
		return nil
	}
	b := &loop{s: s, ctx: ctx, ended: make(chan struct{})}
	var err error
	if b.loop, err = eventloop.New(b.serve, (*conn).detached); err != nil {
		if !errors.Is(err, errors.ErrUnsupported) && s.HTTP.ErrorLog != nil {
			s.HTTP.ErrorLog.Printf("fastpath: no poller, each connection gets a goroutine: %v", err)
		}
		return nil
	}
	go b.run()         // ends with stop
	go b.detachQuiet() // the same
	return b
}

func (l *loop) run() {
	defer close(l.ended)
	if err := l.loop.Run(); !l.s.closing() && l.s.HTTP.ErrorLog != nil {
		l.s.HTTP.ErrorLog.Printf("fastpath: the poller failed, connections get goroutines: %v", err)
	}
}

// stop detaches all connections.
func (l *loop) stop() {
	if l != nil {
		l.loop.Stop()
	}
}

// detachQuiet detaches the connections that have been quiet: a poller keeps no time limit, and reports nothing of a
// socket that this process has closed.
func (l *loop) detachQuiet() {
	tick := time.NewTicker(quietTime)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			l.loop.DetachIdle(func(k *conn) bool { return now.Sub(k.active) >= quietTime })
		case <-l.ended:
			return
		}
	}
}

// serve reads the input of busy connections and starts batches for it.
func (l *loop) serve(list []*conn) {
	for len(list) > 0 {
		var open []*batch
		var silent []*conn
		for _, k := range list {
			switch k.gather() {
			case gatheredNothing:
				silent = append(silent, k)
			case gatheredOther:
				l.loop.Detach(k)
			case gatheredRequest:
				open = l.assign(open, k)
			}
		}
		for _, t := range open {
			go t.run() // ends when the batcher has answered
		}
		list = l.loop.Rearm(silent)
	}
}

// gathered says what has arrived on a connection.
type gathered uint8

const (
	gatheredNothing gathered = iota
	gatheredRequest          // a simple one, prepared
	gatheredOther            // something that needs a goroutine
)

// gather reads once, unless input is left, and prepares the first request. in stays as it is until
// the request is answered.
func (co *conn) gather() gathered {
	if co.start == len(co.in) {
		co.in, co.start = co.in[:0], 0
		n, err := co.tryRead(co.in[:cap(co.in)])
		co.in = co.in[:n]
		switch {
		case err != nil || n == cap(co.in): // there may be more, which is not reported again
			return gatheredOther
		case n == 0:
			return gatheredNothing
		}
	}
	length := bytes.Index(co.in[co.start:], []byte("\r\n\r\n")) + 4
	if length < 4 || length > co.s.MaxHead || co.s.closing() {
		return gatheredOther
	}
	end := co.start + length
	if !co.head.read(co.in[co.start:end], co.s.Plain) || co.head.length > maxTogether || co.head.length > len(co.in)-end {
		return gatheredOther
	}
	co.prepare(co.in[end : end+co.head.length])
	if co.prepared = co.s.Batcher.Prepare(&co.reply, &co.request); co.prepared == nil {
		return gatheredOther
	}
	co.end = end + co.head.length
	if co.state != nil {
		co.state.Busy()
	}
	return gatheredRequest
}

// batch is requests of attached connections that run together.
type batch struct {
	loop     *loop
	conns    []*conn
	requests []Request
	size     int
}

// assign adds a connection's request to an open batch or to a new one, and starts one that is full.
func (l *loop) assign(open []*batch, k *conn) []*batch {
	size := k.end - k.start
	for i, t := range open {
		if !k.prepared.Joins(t.requests[0]) {
			continue
		}
		if len(t.conns) >= maxBatch || t.size+size > maxBatchSize {
			go t.run() // ends when the batcher has answered
			t = &batch{loop: l}
			open[i] = t
		}
		t.add(k, size)
		return open
	}
	t := &batch{loop: l}
	t.add(k, size)
	return append(open, t)
}

func (ba *batch) add(k *conn, size int) {
	ba.conns, ba.requests, ba.size = append(ba.conns, k), append(ba.requests, k.prepared), ba.size+size
}

// run runs the batch, answers its connections, and serves those that have more input.
func (ba *batch) run() {
	b := ba.loop
	b.s.Batcher.Run(b.ctx, ba.requests)
	now := time.Now()
	ready := ba.conns[:0]
	for i, k := range ba.conns {
		switch ba.requests[i].Result() {
		case Alone: // its goroutine finds the request unread
			k.prepared = nil
			b.loop.Detach(k)
		case Large:
			b.loop.Release(k)
			go k.answerLarge() // ends with the connection, or when it attaches again
		default:
			k.answerSmall(now)
			ready = append(ready, k)
		}
	}
	b.serve(b.loop.Rearm(ready))
}

// answerSmall answers the prepared request without waiting for the client.
func (co *conn) answerSmall(now time.Time) {
	co.active = now
	co.together++
	out := co.replyPrepared()
	n, err := co.tryWrite(out)
	switch {
	case err != nil:
		co.failed = err
	case n < len(out):
		co.unsent = out[n:]
	default:
		co.trim()
	}
	if co.state != nil {
		co.state.Idle()
	}
}

// answerLarge answers the prepared request on a goroutine of the connection.
func (co *conn) answerLarge() {
	co.unsent = co.replyPrepared()
	if co.state != nil {
		co.state.Idle()
	}
	co.detached()
}

// replyPrepared returns the reply to the prepared request, as far as it is still to be sent.
func (co *conn) replyPrepared() (out []byte) {
	request := co.prepared
	co.prepared, co.start = nil, co.end
	if !co.run(request.Reply) {
		co.failed = net.ErrClosed
		return nil
	}
	out, co.failed = co.finish()
	return out
}

// head is the parsed head of a request. It is kept from one request of a connection to the next: lines that have not
// changed need no work.
type head struct {
	method string
	target string
	host   string
	length int
	header http.Header
	lines  []line
	seen   []byte // the header lines of the last request, as they came
	exact  bool   // header, host and length were read from seen
}

// line is a header line of the last request.
type line struct {
	raw    []byte // into seen
	length bool   // Content-Length: its value may change from request to request
}

var methodNames = map[string]string{
	"GET": http.MethodGet, "HEAD": http.MethodHead, "POST": http.MethodPost, "PUT": http.MethodPut,
	"PATCH": http.MethodPatch, "DELETE": http.MethodDelete,
}

// read parses a head that ends with an empty line. It returns false for everything that is not plain.
func (h *head) read(b []byte, plain func([]byte) bool) bool {
	end := bytes.IndexByte(b, '\n')
	if end < 1 || b[end-1] != '\r' {
		return false
	}
	return h.request(b[:end-1], plain) && h.fields(b[end+1:len(b)-2])
}

// request reads the request line.
func (h *head) request(b []byte, plain func([]byte) bool) bool {
	method, rest, ok := bytes.Cut(b, []byte{' '})
	if !ok {
		return false
	}
	target, version, ok := bytes.Cut(rest, []byte{' '})
	if !ok || string(version) != "HTTP/1.1" || !plainTarget(target) || !plain(target) {
		return false
	}
	if h.method = methodNames[string(method)]; h.method == "" {
		return false
	}
	if h.target != string(target) { // compared without making a string
		h.target = string(target)
	}
	return true
}

// fields reads the header lines, each with its line end. The results of the connection's last request are reused only
// if the lines are the same byte by byte; a head without any line never is, because a plain one has a Host.
func (h *head) fields(b []byte) bool {
	if h.exact && bytes.Equal(b, h.seen) {
		return true
	}
	if h.same(b) {
		return true
	}
	return h.renew(b)
}

// same accepts lines that differ from the last request's at most in the Content-Length.
func (h *head) same(b []byte) bool {
	if h.header == nil {
		return false
	}
	for _, l := range h.lines {
		if bytes.HasPrefix(b, l.raw) && !l.length {
			b = b[len(l.raw):]
			continue
		}
		if !l.length {
			return false
		}
		end := bytes.IndexByte(b, '\n')
		colon := bytes.IndexByte(l.raw, ':')
		if end < 1 || b[end-1] != '\r' || !bytes.HasPrefix(b, l.raw[:colon+1]) {
			return false
		}
		n, ok := number(trimBlanks(b[colon+1 : end-1]))
		if !ok {
			return false
		}
		h.length = n
		b = b[end+1:]
	}
	if len(b) > 0 {
		return false
	}
	h.exact = false // the length is not the one in seen: compare line by line from now on
	return true
}

// renew reads all lines anew.
func (h *head) renew(b []byte) bool {
	kept := bytes.Clone(b)
	h.header, h.lines, h.seen, h.exact, h.host, h.length = nil, h.lines[:0], nil, false, "", 0
	header := make(http.Header, 16)
	hosts, lengths := 0, 0
	for rest := kept; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 1 || rest[end-1] != '\r' {
			return false
		}
		raw := rest[:end+1]
		rest = rest[end+1:]
		colon := bytes.IndexByte(raw, ':')
		if colon < 1 || !isPlainName(raw[:colon]) {
			return false
		}
		value := trimBlanks(raw[colon+1 : end-1])
		if !httpsyntax.IsValue(value) {
			return false
		}
		name := textproto.CanonicalMIMEHeaderKey(string(raw[:colon]))
		l := line{raw: raw}
		switch name {
		case "Host":
			hosts++
			h.host = string(value)
		case "Content-Length":
			n, ok := number(value)
			if !ok {
				return false
			}
			lengths, h.length, l.length = lengths+1, n, true
		case "Connection":
			if !bytes.EqualFold(value, []byte("keep-alive")) {
				return false
			}
		case "Transfer-Encoding", "Expect", "Upgrade", "Trailer", "Te", "Content-Encoding", "Proxy-Connection", "Http2-Settings",
			"Pragma": // of which net/http makes a Cache-Control
			return false
		}
		if name != "Host" && !l.length { // those two stand in fields of their own
			header[name] = append(header[name], string(value))
		}
		h.lines = append(h.lines, l)
	}
	if hosts != 1 || lengths > 1 || !httpsyntax.IsPlainHost(h.host) {
		return false
	}
	h.header, h.seen, h.exact = header, kept, true
	return true
}
