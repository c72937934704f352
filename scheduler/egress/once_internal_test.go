package egress

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"syscall"
	"testing"
)

// brittleConn fails every write after it is broken, without writing anything.
type brittleConn struct {
	net.Conn
	broken atomic.Bool
}

func (c *brittleConn) Write(b []byte) (int, error) {
	if c.broken.Load() {
		return 0, syscall.EPIPE
	}
	return c.Conn.Write(b)
}

// TestUnsentRequestIsTriedAgain: a kept connection that takes not a single byte of a request costs
// no attempt: the request goes over another one, once.
func TestUnsentRequestIsTriedAgain(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		for _, body := range []string{"", "payload"} {
			var requests atomic.Int64
			sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got, _ := io.ReadAll(r.Body); string(got) != body {
					t.Errorf("%s came with the body %q, want %q", r.Method, got, body)
				}
				requests.Add(1)
			}))
			tr := NewTransport(Options{Policy: &Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}})
			var all []*brittleConn
			tr.http.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, addr)
				if err != nil {
					return nil, err
				}
				all = append(all, &brittleConn{Conn: c})
				return &countingConn{Conn: all[len(all)-1]}, nil
			}
			for range 3 {
				r, err := http.NewRequestWithContext(t.Context(), method, sink.URL, bytes.NewReader([]byte(body)))
				if err != nil {
					t.Fatal(err)
				}
				answer, err := tr.sendOnce(r)
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
			tr.Close()
			sink.Close()
		}
	}
}

// TestRequestIsOneWrite: head and body of a request leave together. A write for each would be a packet more for both
// sides, an eighth of what a delivery costs.
func TestRequestIsOneWrite(t *testing.T) {
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
	defer sink.Close()
	tr := NewTransport(Options{Policy: &Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}})
	defer tr.Close()
	var conn *countingConn
	dial := tr.http.DialContext
	tr.http.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		conn, _ = c.(*countingConn)
		return c, err
	}
	const requests = 3
	for range requests {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, sink.URL, bytes.NewReader(make([]byte, 1000)))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := tr.sendOnce(r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	if got := conn.writes.Load(); got != requests {
		t.Errorf("%d requests were %d writes", requests, got)
	}
}
