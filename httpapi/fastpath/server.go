package fastpath

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server serves connections on the fast path, and passes those that leave it to net/http.
type Server struct {
	// Handler answers requests of both kinds.
	Handler http.Handler
	// Plain reports whether the handler answers a request target without needing more than
	// the method, the target, the headers, the host and the body.
	Plain func(target []byte) bool
	// HTTP is the server for requests that are not plain. Its Handler must be the same.
	HTTP *http.Server
	// MaxHead and MaxBody, in bytes, bound what the fast path reads; larger requests are left
	// to net/http.
	MaxHead, MaxBody int
	// HeadTime and BodyTime bound the time in which a request must arrive, counted from its first byte, or for the
	// first request from the accept of its connection. Bytes that arrive don't renew them. WriteTime bounds the time to
	// send a reply, IdleTime the time between requests of a connection.
	HeadTime, BodyTime, WriteTime, IdleTime time.Duration

	// Refuse makes the whole reply that is sent in place of net/http's own to a request that it refuses without a
	// handler (400, 417, 431, 501, 505). why says what was wrong with the request. Without Refuse net/http's replies
	// are sent.
	Refuse func(status int, why string) []byte
	// MaxStrangers bounds the memory of all connections that have shown no token, in bytes,
	// beyond the first buffer of each; 0 = unlimited. Crowded answers heads that exceed it.
	MaxStrangers int64
	Crowded      []byte
	// Batcher, if set, runs simple requests of several connections together.
	Batcher Batcher
	// ConnContext, if set, makes the context of a connection's requests.
	ConnContext func(context.Context, net.Conn) context.Context

	serving
}

// serving holds the state of a Server that serves.
type serving struct {
	mu       sync.Mutex
	lists    map[net.Listener]bool
	conns    map[*conn]bool
	stopping atomic.Bool
	// strangers is the part of MaxStrangers that is held, in bytes.
	strangers atomic.Int64
	busy      sync.WaitGroup
	fallback  *fallback
	numbers   atomic.Uint64
	loop      *loop        // nil without Batcher, and where the system has no poller
	base      http.Request // with the context that ends when replies are broken off
	abort     context.CancelFunc
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
		s.fallback = newFallback(l.Addr())
		ctx, cancel := context.WithCancel(context.Background())
		s.base, s.abort = *(&http.Request{}).WithContext(ctx), cancel
		watchHandler(s.HTTP)
		s.loop = newLoop(ctx, s)
		go s.HTTP.Serve(s.fallback)
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

// ServeConn serves a connection that was accepted elsewhere.
func (s *Server) ServeConn(c net.Conn) { s.begin(c) }

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
	for k := range s.conns { // unordered: all are woken
		k.wake()
	}
	s.mu.Unlock()
	s.loop.stop()
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

// Open returns the number of connections on the fast path now, without those that were handed to net/http.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

func (s *Server) closing() bool { return s.stopping.Load() }

// fallback is the listener through which net/http gets connections.
type fallback struct {
	addr net.Addr
	c    chan net.Conn
	end  chan struct{}
	once sync.Once
}

func newFallback(addr net.Addr) *fallback {
	return &fallback{addr: addr, c: make(chan net.Conn), end: make(chan struct{})}
}

func (f *fallback) handOver(c net.Conn) {
	select {
	case f.c <- c:
	case <-f.end:
		c.Close()
	}
}

// Accept returns the next connection for net/http.
func (f *fallback) Accept() (net.Conn, error) {
	select {
	case c := <-f.c:
		return c, nil
	case <-f.end:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (f *fallback) Close() error { f.once.Do(func() { close(f.end) }); return nil }

// Addr returns the address of the first listener.
func (f *fallback) Addr() net.Addr { return f.addr }

// bufferedConn is a connection from which some bytes were read already.
type bufferedConn struct {
	net.Conn
	rest []byte
	// late is the age of the request that rest belongs to: its time limits count from its beginning.
	late time.Duration
	// refuse is Server.Refuse. first holds what was read of the first request, for the second parameter of refuse;
	// handled is set while a handler answers.
	refuse  func(status int, why string) []byte
	first   []byte
	handled atomic.Bool
	// server counts what is read in share until state says that a token was shown.
	server *Server
	state  connState
	share  *share
}

// Close also releases the share.
func (bc *bufferedConn) Close() error {
	bc.server.release(bc.share)
	return bc.Conn.Close()
}

// Below returns the connection itself.
func (bc *bufferedConn) Below() net.Conn { return bc.Conn }

// SetReadDeadline sets a limit that net/http counts from when it was given the connection.
func (bc *bufferedConn) SetReadDeadline(t time.Time) error {
	if !t.IsZero() {
		t = t.Add(-bc.late)
	}
	return bc.Conn.SetReadDeadline(t)
}

func (bc *bufferedConn) Read(b []byte) (int, error) {
	if len(bc.rest) > 0 {
		n := copy(b, bc.rest)
		bc.rest = bc.rest[n:]
		return n, nil
	}
	n, err := bc.Conn.Read(b)
	if e := bc.count(n); e != nil {
		return 0, e
	}
	return n, err
}

// Write passes on what net/http writes, except its refusals.
func (bc *bufferedConn) Write(b []byte) (int, error) {
	bc.late = 0 // what comes now is another request
	bc.server.release(bc.share)
	if bc.refuse == nil || bc.handled.Load() {
		return bc.Conn.Write(b)
	}
	return bc.sendRefusal(b)
}

// CloseWrite ends the server's half, so that a client which still sends gets to read the
// reply.
func (bc *bufferedConn) CloseWrite() error {
	if half, ok := bc.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
