package httpclient

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/internal/testgate"
)

// brittleConn fails every write after it is broken, without writing anything, and counts the others.
type brittleConn struct {
	net.Conn
	broken atomic.Bool
	writes atomic.Int64
}

func (c *brittleConn) Write(b []byte) (int, error) {
	if c.broken.Load() {
		return 0, syscall.EPIPE
	}
	c.writes.Add(1)
	return c.Conn.Write(b)
}

// TestUnsentRequestGoesOverAnotherConnectionOverTLS: not a single byte was written below TLS to the kept one.
func TestUnsentRequestGoesOverAnotherConnectionOverTLS(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		for _, body := range []string{"", "payload"} {
			var requests atomic.Int64
			sink := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if got, _ := io.ReadAll(r.Body); string(got) != body {
					t.Errorf("%s came with the body %q, want %q", r.Method, got, body)
				}
				requests.Add(1)
			}))
			var all []*brittleConn
			c := newClient(t)
			c.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				nc, err := new(net.Dialer).DialContext(ctx, network, addr)
				if err != nil {
					return nil, err
				}
				all = append(all, &brittleConn{Conn: nc})
				return all[len(all)-1], nil
			}
			for range 3 {
				r, err := http.NewRequestWithContext(t.Context(), method, sink.URL, bytes.NewReader([]byte(body)))
				if err != nil {
					t.Fatal(err)
				}
				answer, err := c.RoundTrip(r)
				if err != nil {
					t.Fatalf("%s %q: %v", method, body, err)
				}
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				all[len(all)-1].broken.Store(true)
			}
			if requests.Load() != 3 || len(all) != 3 {
				t.Errorf("%s %q: %d requests over %d connections, want 3 over 3", method, body, requests.Load(), len(all))
			}
			c.CloseIdle()
			sink.Close()
		}
	}
}

// TestRequestIsOneWrite: head and body of a request leave together. A write for each would be a packet more for both
// sides, an eighth of what a delivery costs.
func TestRequestIsOneWrite(t *testing.T) {
	sink := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
	defer sink.Close()
	c := newClient(t)
	var conn *brittleConn
	c.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, addr)
		conn = &brittleConn{Conn: nc}
		return conn, err
	}
	want(t, c, sink.URL, "200 ")
	before := conn.writes.Load()
	const requests = 3
	for range requests {
		if got, err := post(t.Context(), c, sink.URL, strings.Repeat("x", 900)); got != "200 " || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if got := conn.writes.Load() - before; got != requests {
		t.Errorf("%d requests were %d writes", requests, got)
	}
}

// TestUnsolicitedBytesOverTLS: what a server sends with an answer and behind it is not taken for the next answer, also if
// TLS has read it already.
func TestUnsolicitedBytesOverTLS(t *testing.T) {
	long := strings.Repeat("x", 2*firstRead)
	var connections atomic.Int64
	server := raw(t, "https", func(c net.Conn, in *bufio.Reader, _ int) {
		for connections.Add(1); request(in); {
			// The reader's buffer takes a part of a record of TLS.
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s%s", len(long), long, okay)
		}
	})
	c := newClient(t)
	for range 2 {
		want(t, c, server, "200 "+long)
	}
	if n := connections.Load(); n != 2 {
		t.Errorf("two requests went over %d connections, want 2", n)
	}
}

// TestHTTP2ConnectionIsShared: requests at once and after each other go over one connection, until it was unused for too long.
func TestHTTP2ConnectionIsShared(t *testing.T) {
	var connections atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
	}))
	s.EnableHTTP2 = true
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.StartTLS()
	defer s.Close()
	c := newClient(t)
	for range 3 {
		want(t, c, s.URL, "200 HTTP/2.0")
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("three requests went over %d connections, want 1", n)
	}
	unused := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, list := range c.shared {
			for _, h := range list {
				if streams(h.conn.State()) > 0 {
					return false
				}
			}
		}
		return true
	}
	until(t, unused)
	c.mu.Lock()
	c.IdleTime = 0
	c.mu.Unlock()
	want(t, c, s.URL, "200 HTTP/2.0")
	until(t, unused)
	if n := connections.Load(); n != 2 {
		t.Errorf("%d connections were made, want 2 after the first was unused for too long", n)
	}
	c.sweep()
	until(t, func() bool { c.mu.Lock(); defer c.mu.Unlock(); return len(c.shared) == 0 })
}

// TestHandshakeIsBounded: a server that takes a connection and says nothing holds nobody up for longer than that.
func TestHandshakeIsBounded(t *testing.T) {
	release := testgate.New(t)
	server := raw(t, "http", func(net.Conn, *bufio.Reader, int) { release.Wait() })
	c := newClient(t)
	c.HandshakeTime = time.Millisecond
	if got, err := post(t.Context(), c, "https"+strings.TrimPrefix(server, "http"), "x"); !errors.Is(err, errHandshakeTime) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestServerIsVerified: a certificate of nobody who is believed, or of another name, ends the request before it is sent.
func TestServerIsVerified(t *testing.T) {
	var requests atomic.Int64
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer s.Close()
	unbelieved, named := newClient(t), newClient(t)
	unbelieved.TLS = nil
	named.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
	}
	for c, target := range map[*Client]string{unbelieved: s.URL, named: "https://other.test/"} { // unordered: each by itself
		var invalid *tls.CertificateVerificationError
		if got, err := post(t.Context(), c, target, "x"); !errors.As(err, &invalid) {
			t.Errorf("%s: %q, %v", target, got, err)
		}
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests came", n)
	}
}

// TestThroughProxy asks a proxy, over http and https, for servers of both schemes.
func TestThroughProxy(t *testing.T) {
	for name, s := range servers(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }) { // unordered: each by itself
		for _, secure := range []bool{false, true} {
			var asked []string
			p := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.Method+" "+r.RequestURI+" "+r.Header.Get(proxyAuthorizationHeader))
				carryTo(t, w, r)
			}))
			if secure {
				p.StartTLS()
			} else {
				p.Start()
			}
			by, err := url.Parse(p.URL)
			if err != nil {
				t.Fatal(err)
			}
			by.User = url.UserPassword("me", "secret")
			c := newClient(t)
			c.Proxy = by
			text := map[string]string{"http": "200 by the proxy", "https": "200 HTTP/1.1", "HTTP/2": "200 HTTP/2.0"}[name]
			for range 2 {
				want(t, c, s.URL, text)
			}
			const known = " Basic bWU6c2VjcmV0"
			wanted := []string{"CONNECT " + s.Listener.Addr().String() + known}
			if name == "http" {
				wanted = []string{"POST " + s.URL + "/" + known, "POST " + s.URL + "/" + known}
			}
			if strings.Join(asked, "\n") != strings.Join(wanted, "\n") {
				t.Errorf("%s, proxy over TLS: %v: it was asked %q, want %q", name, secure, asked, wanted)
			}
			c.CloseIdle()
			p.Close()
		}
	}
}

// carryTo is a proxy: it connects, and answers other requests itself.
func carryTo(t *testing.T, w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		_, _ = io.WriteString(w, "by the proxy")
		return
	}
	away, err := net.Dial("tcp", r.Host)
	if err != nil {
		t.Error(err)
		return
	}
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(away, near); away.Close() }()
	go func() { _, _ = io.Copy(near, away); near.Close() }()
}

// TestProxyThatRefuses: its status is the error.
func TestProxyThatRefuses(t *testing.T) {
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer p.Close()
	by, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t)
	c.Proxy = by
	if got, err := post(t.Context(), c, "https://inside.test/", "x"); err == nil || !strings.Contains(err.Error(), "403 Forbidden") {
		t.Errorf("%q, %v", got, err)
	}
}
