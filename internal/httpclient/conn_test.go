package httpclient

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/internal/testgate"
)

// newClient is a client with room for connections.
func newClient(t *testing.T) *Client {
	t.Helper()
	_, roots := authority(t)
	c := &Client{Dial: new(net.Dialer).DialContext, TLS: &tls.Config{RootCAs: roots}, MaxIdle: 8, MaxIdlePerHost: 4, IdleTime: time.Hour, MaxHead: 64 << 10}
	t.Cleanup(c.CloseIdle)
	return c
}

// authority returns the certificate of servers at 127.0.0.1, and who signed it.
func authority(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s.TLS.Certificates[0], roots
}

// bothSchemes runs a test for http and for https.
func bothSchemes(t *testing.T, test func(t *testing.T, scheme string)) {
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) { test(t, scheme) })
	}
}

// raw is a server that hands each connection to serve, with the number of those before it.
func raw(t *testing.T, scheme string, serve func(c net.Conn, in *bufio.Reader, number int)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if scheme == "https" {
		certificate, _ := authority(t)
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{certificate}})
	}
	var all sync.WaitGroup
	all.Go(func() {
		for number := 0; ; number++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { defer c.Close(); serve(c, bufio.NewReader(c), number) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		ended := make(chan struct{})
		go func() { all.Wait(); close(ended) }()
		testgate.Receive(t, "the end of the server's connections", ended)
	})
	return scheme + "://" + l.Addr().String()
}

// request reads a request with its body; false at the end of the connection.
func request(in *bufio.Reader) bool {
	r, err := http.ReadRequest(in)
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body)
	}
	return err == nil
}

const okay = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func post(ctx context.Context, c *Client, url, body string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	a, err := c.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return fmt.Sprint(a.StatusCode, " ", string(text)), err
}

func want(t *testing.T, c *Client, url, text string) {
	t.Helper()
	if got, err := post(t.Context(), c, url, "x"); got != text || err != nil {
		t.Fatalf("%q and %v, want %q", got, err, text)
	}
}

// kept is the connection that waits; there must be one.
func kept(t *testing.T, c *Client) *conn {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, list := range c.idle {
		return list[len(list)-1]
	}
	t.Fatal("no connection is kept")
	return nil
}

// TestConnectionIsUsedAgain: as long as nothing is wrong with it.
func TestConnectionIsUsedAgain(t *testing.T) { bothSchemes(t, testConnectionIsUsedAgain) }

func testConnectionIsUsedAgain(t *testing.T, scheme string) {
	answers := []string{
		okay, "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", okay,
		"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
	}
	connections := 0
	url := raw(t, scheme, func(c net.Conn, in *bufio.Reader, number int) {
		for connections = number + 1; len(answers) > 0 && request(in); {
			next := answers[0]
			answers = answers[1:]
			_, _ = io.WriteString(c, next)
		}
	})
	c := newClient(t)
	for _, text := range []string{"200 ok", "204 ", "200 ok", "200 ok", "500 ", "200 ok"} {
		want(t, c, url, text)
	}
	if connections != 1 || c.count != 0 {
		t.Errorf("%d connections were opened and %d are kept, want 1 and none after Connection: close", connections, c.count)
	}
}

// TestEndedConnectionCostsNothing: a kept connection that the server has ended, or on which it sends what nobody asked for,
// is not used.
func TestEndedConnectionCostsNothing(t *testing.T) { bothSchemes(t, testEndedConnectionCostsNothing) }

func testEndedConnectionCostsNothing(t *testing.T, scheme string) {
	for name, last := range map[string]string{"ended": "", "unsolicited": "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"} {
		said := make(chan struct{})
		url := raw(t, scheme, func(c net.Conn, in *bufio.Reader, number int) {
			for request(in) {
				_, _ = io.WriteString(c, okay)
				if number == 0 {
					_, _ = io.WriteString(c, last)
					c.Close()
					close(said)
				}
			}
		})
		c := newClient(t)
		want(t, c, url, "200 ok")
		<-said
		for range 2 {
			want(t, c, url, "200 ok")
		}
		if c.count != 1 {
			t.Errorf("%s: %d connections are kept", name, c.count)
		}
	}
}

// TestUnsentRequestGoesOverAnotherConnection: not a single byte was written to the kept one.
func TestUnsentRequestGoesOverAnotherConnection(t *testing.T) {
	release := testgate.New(t)
	var requests atomic.Int64
	url := raw(t, "http", func(c net.Conn, in *bufio.Reader, number int) {
		for request(in) {
			requests.Add(1)
			_, _ = io.WriteString(c, okay)
		}
		release.Wait() // it does not end its side
	})
	c := newClient(t)
	want(t, c, url, "200 ok")
	if err := kept(t, c).nc.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	want(t, c, url, "200 ok")
	if requests.Load() != 2 {
		t.Errorf("%d requests came", requests.Load())
	}
}

// TestSentRequestIsNotSentAgain: whatever becomes of its connection.
func TestSentRequestIsNotSentAgain(t *testing.T) { bothSchemes(t, testSentRequestIsNotSentAgain) }

func testSentRequestIsNotSentAgain(t *testing.T, scheme string) {
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		var requests atomic.Int64
		url := raw(t, scheme, func(c net.Conn, in *bufio.Reader, _ int) {
			for request(in) {
				if requests.Add(1) > 1 {
					return
				}
				_, _ = io.WriteString(c, okay)
			}
		})
		c := newClient(t)
		want(t, c, url, "200 ok")
		r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Idempotency-Key", "k")
		if _, err = c.RoundTrip(r); !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", method, err)
		}
		if requests.Load() != 2 {
			t.Errorf("%s: %d requests came, want 2", method, requests.Load())
		}
	}
}

// TestRequestThatIsBeingWrittenIsNotSentAgain: a connection that takes nothing at once may take it later.
func TestRequestThatIsBeingWrittenIsNotSentAgain(t *testing.T) {
	var requests atomic.Int64
	url := raw(t, "http", func(c net.Conn, in *bufio.Reader, _ int) {
		for request(in) {
			if requests.Add(1) > 1 {
				return
			}
			_, _ = io.WriteString(c, okay)
		}
	})
	c := newClient(t)
	want(t, c, url, "200 ok")
	kept(t, c).tryWrite = func([]byte) (int, error) { return 0, nil }
	if got, err := post(t.Context(), c, url, "x"); !errors.Is(err, io.EOF) || requests.Load() != 2 {
		t.Errorf("%q and %v, after %d requests", got, err, requests.Load())
	}
}

// TestCancel ends a request that waits for its answer, or for the rest of it, at once, and its connection with it.
func TestCancel(t *testing.T) { bothSchemes(t, testCancel) }

func testCancel(t *testing.T, scheme string) {
	for _, part := range []string{"", "HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\nok", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"} {
		came, ended := make(chan struct{}), make(chan struct{})
		url := raw(t, scheme, func(c net.Conn, in *bufio.Reader, _ int) {
			request(in)
			_, _ = io.WriteString(c, part)
			close(came)
			_, _ = in.ReadByte()
			close(ended)
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-came; cancel() }()
		if got, err := post(ctx, newClient(t), url, "x"); !errors.Is(err, context.Canceled) {
			t.Errorf("after %q: %q, %v", part, got, err)
		}
		<-ended
		if _, err := post(ctx, newClient(t), url, "x"); !errors.Is(err, context.Canceled) {
			t.Errorf("after its end: %v", err)
		}
	}
}

// TestAnswerBeforeTheWholeRequest: a server may refuse a body that it has not read. Its connection is not kept.
func TestAnswerBeforeTheWholeRequest(t *testing.T) { bothSchemes(t, testAnswerBeforeTheWholeRequest) }

func testAnswerBeforeTheWholeRequest(t *testing.T, scheme string) {
	release := testgate.New(t)
	url := raw(t, scheme, func(c net.Conn, in *bufio.Reader, _ int) {
		if _, err := http.ReadRequest(in); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
		}
		release.Wait()
	})
	c := newClient(t)
	c.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			err = nc.(*net.TCPConn).SetWriteBuffer(4 << 10)
		}
		return nc, err
	}
	for range 2 {
		if got, err := post(t.Context(), c, url, strings.Repeat("x", maxBody)); got != "413 no" || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if c.count != 0 {
		t.Error("a connection is kept on which a request is half written")
	}
}

// TestLargeRequestArrivesWhole although the socket does not take it at once.
func TestLargeRequestArrivesWhole(t *testing.T) {
	for _, size := range []int{inline, maxBody, 3 * maxBody} {
		for name, s := range servers(t, echo) { // unordered: each by itself
			largeRequestArrivesWhole(t, name, s, size)
		}
	}
}

// echo answers with the body of the request, once it has read all of it.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body)
}

// servers are one for http, one for https, and one for HTTP/2, all with the same handler.
func servers(t *testing.T, h http.HandlerFunc) map[string]*httptest.Server {
	all := map[string]*httptest.Server{"http": httptest.NewServer(h), "https": httptest.NewTLSServer(h), "HTTP/2": httptest.NewUnstartedServer(h)}
	all["HTTP/2"].EnableHTTP2 = true
	all["HTTP/2"].StartTLS()
	for _, s := range all { // unordered: each ends by itself
		t.Cleanup(s.Close)
	}
	return all
}

func largeRequestArrivesWhole(t *testing.T, name string, s *httptest.Server, size int) {
	c, body := newClient(t), strings.Repeat("0123456789", size/10)
	for range 5 {
		if got, err := post(t.Context(), c, s.URL, body); got != "200 "+body || err != nil {
			t.Fatalf("%s: %d bytes of %d came back, %v", name, len(got), size, err)
		}
	}
}

// TestBoundsOfAnswers: neither a long head nor interim answers without end take memory or time without end.
func TestBoundsOfAnswers(t *testing.T) { bothSchemes(t, testBoundsOfAnswers) }

func testBoundsOfAnswers(t *testing.T, scheme string) {
	for name, endless := range map[string]string{
		"lines": "X: y\r\n", "bare lines": "X: y\n", "one line": "x", "interim": "\r\nHTTP/1.1 103 Early\r\nX: 1\r\n",
	} {
		url := raw(t, scheme, func(c net.Conn, in *bufio.Reader, _ int) {
			request(in)
			for _, err := io.WriteString(c, "HTTP/1.1 100 Go\r\n"); err == nil; {
				_, err = c.Write(bytes.Repeat([]byte(endless), 1000))
			}
		})
		if got, err := post(t.Context(), newClient(t), url, "x"); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestIdleConnectionsAreBounded by number for each host and for all, and by time.
func TestIdleConnectionsAreBounded(t *testing.T) {
	var open atomic.Int64
	hosts := make([]string, 4)
	for i := range hosts {
		hosts[i] = raw(t, "http", func(c net.Conn, in *bufio.Reader, _ int) {
			open.Add(1)
			defer open.Add(-1)
			for request(in) {
				_, _ = io.WriteString(c, okay)
			}
		})
	}
	c := newClient(t)
	for _, host := range hosts {
		var bodies []io.Closer
		for range 6 {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, host, strings.NewReader("x"))
			if err != nil {
				t.Fatal(err)
			}
			a, err := c.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, closer(func() error { _, err := io.Copy(io.Discard, a.Body); return err }))
		}
		for _, b := range bodies { // only now the connections are free
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
		}
		n := len(c.idle[route{addr: strings.TrimPrefix(host, "http://")}])
		if n > c.MaxIdlePerHost || n == 0 || host == hosts[0] && n != c.MaxIdlePerHost { // one of a later host may make room for another
			t.Errorf("%d connections to a host are kept", n)
		}
	}
	until(t, func() bool { return open.Load() == int64(c.MaxIdle) })
	c.mu.Lock()
	c.IdleTime = 0
	c.mu.Unlock()
	c.sweep()
	until(t, func() bool { return open.Load() == 0 })
	if c.count != 0 || len(c.idle) != 0 || c.sweeping {
		t.Errorf("%d are counted, %d hosts are left", c.count, len(c.idle))
	}
}

type closer func() error

func (c closer) Close() error { return c() }

func until(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come to that in time")
		}
	}
}

// TestManyAtOnce: answers of many requests under way never get mixed up.
func TestManyAtOnce(t *testing.T) {
	all := servers(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch len(body) % 3 {
		case 0:
			_ = http.NewResponseController(w).Flush() // in chunks
		case 1:
			if r.ProtoMajor == 1 { // over HTTP/2 that would end the connection for the others
				w.Header().Set("Connection", "close")
			}
		}
		_, _ = w.Write(body)
	})
	for _, s := range all { // unordered: each by itself
		manyAtOnce(t, s)
	}
}

func manyAtOnce(t *testing.T, s *httptest.Server) {
	c, each := newClient(t), 100
	if strings.HasPrefix(s.URL, "https") { // many a request needs a handshake
		each = 30
	}
	var all sync.WaitGroup
	for worker := range 16 {
		all.Go(func() {
			for i := range each {
				text := strings.Repeat(fmt.Sprint(worker, " ", i, ";"), 1+i*7)
				if got, err := post(t.Context(), c, s.URL, text); got != "200 "+text || err != nil {
					t.Errorf("%d bytes came back for %d, %v", len(got), len(text), err)
				}
			}
		})
	}
	all.Wait()
}
