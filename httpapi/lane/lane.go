// Package lane answers plain HTTP/1.1 requests with little work of its own, and hands
// every connection on which something else is said to net/http.
//
// net/http does more for a request than a command costs: a header map and its strings
// anew each time, a goroutine that watches the connection, deadlines, chunking. A client
// sends the same head over and over on one connection. The lane takes a request only if
// all of it is beyond doubt: GET, HEAD, POST, PUT, PATCH or DELETE, HTTP/1.1, well-formed
// lines, one Host, at most one Content-Length, no coding, no upgrade, no expectation, a
// path that is the handler's. Anything else, with all its bytes, goes to net/http, which
// keeps the connection from then on. So there is one judge of odd requests, and it is
// not this one. docs/design/edge.md has the figures.
package lane

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server serves connections in the lane, and in net/http what leaves it.
type Server struct {
	// Handler answers requests of both kinds.
	Handler http.Handler
	// Plain tells whether the handler answers a request target without needing more than
	// the method, the target, the headers, the host and the body.
	Plain func(target []byte) bool
	// HTTP is the server that takes what is not plain. Its Handler must be the same.
	HTTP *http.Server
	// MaxHead and MaxBody, in bytes, bound what the lane reads; larger requests are left
	// to net/http.
	MaxHead, MaxBody int
	// HeadTime and BodyTime bound how long a request may take to come, WriteTime how long
	// a reply may take to go, IdleTime how long a connection may wait between requests.
	HeadTime, BodyTime, WriteTime, IdleTime time.Duration

	// HeadTooLarge is sent in place of net/http's own reply to a head that is too large,
	// which says nothing of the limit.
	HeadTooLarge []byte

	mu       sync.Mutex
	lists    map[net.Listener]bool
	conns    map[*conn]bool
	stopping atomic.Bool
	busy     sync.WaitGroup
	slow     *handed
	base     http.Request // with the context that ends when replies are broken off
	abort    context.CancelFunc
}

// Serve takes connections from l until Shutdown, then returns http.ErrServerClosed.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.stopping.Load() {
		s.mu.Unlock()
		l.Close()
		return http.ErrServerClosed
	}
	if s.lists == nil {
		s.lists, s.conns = map[net.Listener]bool{}, map[*conn]bool{}
		s.slow = newHanded(l.Addr())
		ctx, cancel := context.WithCancel(context.Background())
		s.base, s.abort = *(&http.Request{}).WithContext(ctx), cancel
		go s.HTTP.Serve(s.slow)
	}
	s.lists[l] = true
	s.mu.Unlock()
	for {
		c, err := l.Accept()
		var temporary interface{ Temporary() bool }
		switch {
		case err == nil:
			s.begin(c)
		case s.stopping.Load():
			return http.ErrServerClosed
		case errors.As(err, &temporary) && temporary.Temporary():
			time.Sleep(5 * time.Millisecond) // out of descriptors: try again soon
		default:
			return err
		}
	}
}

func (s *Server) begin(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Load() {
		c.Close()
		return
	}
	k := newConn(s, c)
	s.conns[k] = true
	s.busy.Add(1)
	go k.serve()
}

// end forgets a connection.
func (s *Server) end(k *conn) {
	s.mu.Lock()
	delete(s.conns, k)
	s.mu.Unlock()
	s.busy.Done()
}

// Shutdown stops listening, closes the connections that wait for a request, and waits
// until the others have their reply or ctx ends: then it closes them too.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.stopping.Store(true)
	for l := range s.lists { // unordered: all are closed
		l.Close()
	}
	for k := range s.conns { // unordered: all are told
		k.wake()
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { s.busy.Wait(); close(done) }()
	err := s.HTTP.Shutdown(ctx)
	select {
	case <-done:
	case <-ctx.Done():
		s.mu.Lock()
		for k := range s.conns { // unordered: all are closed
			k.c.Close()
		}
		if s.abort != nil {
			s.abort()
		}
		s.mu.Unlock()
		err = errors.Join(err, ctx.Err())
	}
	return err
}

// Open is how many connections are in the lane now; those that were handed to net/http
// are not.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

func (s *Server) closing() bool { return s.stopping.Load() }

// handed is the listener through which net/http gets connections.
type handed struct {
	addr net.Addr
	c    chan net.Conn
	end  chan struct{}
	once sync.Once
}

func newHanded(addr net.Addr) *handed {
	return &handed{addr: addr, c: make(chan net.Conn), end: make(chan struct{})}
}

func (h *handed) give(c net.Conn) {
	select {
	case h.c <- c:
	case <-h.end:
		c.Close()
	}
}

// Accept gives net/http its next connection.
func (h *handed) Accept() (net.Conn, error) {
	select {
	case c := <-h.c:
		return c, nil
	case <-h.end:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (h *handed) Close() error { h.once.Do(func() { close(h.end) }); return nil }

// Addr is the address of the first listener.
func (h *handed) Addr() net.Addr { return h.addr }

// replay is a connection of which some bytes were read already.
type replay struct {
	net.Conn
	rest     []byte
	tooLarge []byte
}

func (r *replay) Read(b []byte) (int, error) {
	if len(r.rest) > 0 {
		n := copy(b, r.rest)
		r.rest = r.rest[n:]
		return n, nil
	}
	return r.Conn.Read(b)
}

// Write passes on what net/http writes, but for its reply to a head that is too large,
// which comes in one piece and from no handler.
func (r *replay) Write(b []byte) (int, error) {
	if len(r.tooLarge) == 0 || !bytes.HasPrefix(b, tooLargeLine) {
		return r.Conn.Write(b)
	}
	_, err := r.Conn.Write(r.tooLarge)
	return len(b), err
}

var tooLargeLine = []byte("HTTP/1.1 431 ")

// CloseWrite ends the server's half, so that a client which still sends gets to read the
// reply.
func (r *replay) CloseWrite() error {
	if half, ok := r.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
