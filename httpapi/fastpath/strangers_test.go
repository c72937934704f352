package fastpath

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// knownConn is a connection that may have shown a token.
type knownConn struct {
	net.Conn
	known atomic.Bool
}

func (c *knownConn) Busy()             {}
func (c *knownConn) Idle()             {}
func (c *knownConn) HasLoggedIn() bool { return c.known.Load() }

type knownListener struct{ net.Listener }

func (l knownListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &knownConn{Conn: c}, nil
}

type strangersKey struct{}

// strangersServer accepts every token as valid. Strangers may hold most bytes together.
func strangersServer(t *testing.T, most int64) (addr string, s *Server) {
	t.Helper()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			c := r.Context().Value(strangersKey{}).(net.Conn)
			for below, ok := c.(interface{ Below() net.Conn }); ok; below, ok = c.(interface{ Below() net.Conn }) {
				c = below.Below()
			}
			c.(*knownConn).known.Store(true)
		}
		w.Header().Set("Kind", fmt.Sprintf("%T", w))
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n)
	})
	with := func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, strangersKey{}, c)
	}
	s = &Server{Handler: h, HTTP: &http.Server{Handler: h, ConnContext: with}, Plain: func([]byte) bool { return true }, ConnContext: with, MaxHead: 64 << 10, MaxBody: 1 << 20,
		HeadTime: time.Minute, BodyTime: time.Minute, WriteTime: time.Minute, IdleTime: time.Minute,
		MaxStrangers: most, Crowded: []byte("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")}
	return serve(t, s, func(l net.Listener) net.Listener { return knownListener{l} }), s
}

// TestStrangersShareMemory: connections without a token that send long heads hold a bounded amount of memory together,
// whether the fast path or net/http reads them. Short requests, and those with a token, are answered meanwhile, and the
// memory is released.
func TestStrangersShareMemory(t *testing.T) {
	for name, line := range map[string]string{"fast path": "GET / HTTP/1.1\r\nHost: h\r\nX: ", "net/http": "GET / HTTP/1.1\nHost: h\nX: "} {
		t.Run(name, func(t *testing.T) {
			addr, s := strangersServer(t, 40<<10)
			ends := make(chan string, 10)
			var all []net.Conn
			for range cap(ends) {
				c, err := net.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				all = append(all, c)
				go func() {
					_, _ = io.WriteString(c, line+strings.Repeat("x", 20_000)) // the server may end the connection before all has gone
					b, _ := io.ReadAll(c)
					ends <- string(b)
				}()
			}
			select {
			case got := <-ends:
				if name == "fast path" && got != "" && !strings.HasPrefix(got, "HTTP/1.1 503 ") { // empty: the end was noticed while it was written
					t.Errorf("answered %q", got)
				}
			case <-time.After(time.Minute):
				t.Fatal("ten strangers hold 20 kB each")
			}
			body := strings.Repeat("b", 50_000)
			for _, request := range []string{"GET / HTTP/1.1\r\nHost: h\r\n\r\n", fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nAuthorization: a\r\nContent-Length: %d\r\n\r\n%s", len(body), body)} {
				c, err := net.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if _, err := io.WriteString(c, request); err != nil {
					t.Fatal(err)
				}
				res, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil || res.StatusCode != 200 {
					t.Fatalf("%.40q: %v, %v", request, res, err)
				}
			}
			for _, c := range all {
				c.Close()
			}
			for end := time.Now().Add(time.Minute); s.strangers.Load() != 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d bytes are not given back", s.strangers.Load())
				}
			}
		})
	}
}

// TestLargeBodiesOfStrangers: only net/http takes a request with a large body before the token is known; its handler checks the
// token before it reads the body.
func TestLargeBodiesOfStrangers(t *testing.T) {
	addr, _ := strangersServer(t, 1<<20)
	post := func(token string, n int) string {
		return fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\n%sContent-Length: %d\r\n\r\n%s", token, n, strings.Repeat("b", n))
	}
	const token = "Authorization: a\r\n"
	for name, c := range map[string]struct {
		sent []string
		want string
	}{
		"small, unknown":              {[]string{post("", 1), post("", firstBody)}, "fast path"},
		"large, unknown":              {[]string{post("", 1), post("", firstBody+1)}, "net/http"},
		"large, with the first token": {[]string{post(token, firstBody+1)}, "net/http"},
		"large, known":                {[]string{post(token, 1), post("", firstBody+1)}, "fast path"},
	} {
		got := talk(t, addr, len(c.sent), c.sent...)
		if last := got[len(got)-1]; !strings.HasPrefix(last, c.want+" 200 ") {
			t.Errorf("%s: %q, want it answered by %s", name, got, c.want)
		}
	}
}
