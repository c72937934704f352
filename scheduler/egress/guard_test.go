package egress_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trireme-dev/trireme/scheduler/egress"
	"github.com/trireme-dev/trireme/scheduler/egress/egresstest"
)

// counted is a server of one protocol that counts the connections made to it, before anything is sent.
type counted struct {
	port  string
	roots *x509.CertPool
	conns atomic.Int64
}

type countingListener struct {
	net.Listener
	conns *atomic.Int64
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.conns.Add(1)
	}
	return c, err
}

func serveCounted(t *testing.T, tls, http2 bool) *counted {
	t.Helper()
	c := &counted{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Listener = countingListener{s.Listener, &c.conns}
	if s.EnableHTTP2 = http2; tls {
		s.StartTLS()
		c.roots = x509.NewCertPool()
		c.roots.AddCert(s.Certificate())
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	_, c.port, _ = net.SplitHostPort(s.Listener.Addr().String())
	return c
}

// shapes are requests that take every way through a transport: its own client and net/http, with and without a body.
var shapes = map[string]func(target string) *http.Request{
	"GET":  func(target string) *http.Request { return newRequest(http.MethodGet, target, nil) },
	"HEAD": func(target string) *http.Request { return newRequest(http.MethodHead, target, nil) },
	"POST": func(target string) *http.Request {
		return newRequest(http.MethodPost, target, strings.NewReader("body"))
	},
	"POST of unknown length": func(target string) *http.Request {
		return newRequest(http.MethodPost, target, io.MultiReader(strings.NewReader("body")))
	},
	"GET that closes": func(target string) *http.Request {
		r := newRequest(http.MethodGet, target, nil)
		r.Close = true
		return r
	},
	"OPTIONS": func(target string) *http.Request { return newRequest(http.MethodOptions, target, nil) },
}

func newRequest(method, target string, body io.Reader) *http.Request {
	r, err := http.NewRequestWithContext(context.Background(), method, target, body)
	if err != nil {
		panic(err)
	}
	return r
}

// TestGuardOfEveryWay: names and addresses that lead inside are refused when they are dialed, by every scheme and protocol and
// for every form of a request; the very same ways reach a network that is allowed.
func TestGuardOfEveryWay(t *testing.T) {
	for way, c := range map[string]struct{ tls, http2 bool }{"http": {}, "https": {tls: true}, "https, HTTP/2": {tls: true, http2: true}} {
		t.Run(way, func(t *testing.T) {
			s := serveCounted(t, c.tls, c.http2)
			scheme := "http"
			if c.tls {
				scheme = "https"
			}
			resolver := egresstest.NewResolver(t)
			resolver.Set("inside.test", "127.0.0.1")
			resolver.Set("mapped.test", "::ffff:127.0.0.1")
			resolver.Set("example.com", "127.0.0.1") // the certificate's name
			own := func(at netip.AddrPort) bool { return at.Addr().IsLoopback() }
			for name, policy := range map[string]*egress.Policy{"closed": {}, "the cluster's own": {Open: true, Own: own}} {
				tr := transport(t, egress.Options{Policy: policy, Resolver: resolver.Net(), Roots: s.roots, IdlePerHost: 2})
				for shape, request := range shapes {
					for _, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]", "localhost", "inside.test", "mapped.test", "example.com"} {
						resp, err := tr.RoundTrip(request(scheme + "://" + host + ":" + s.port + "/"))
						if !errors.Is(err, egress.ErrRefused) {
							t.Errorf("%s, %s to %s: %v", name, shape, host, err)
						}
						if err == nil {
							resp.Body.Close()
						}
					}
				}
			}
			if n := s.conns.Load(); n != 0 {
				t.Errorf("%d connections were made", n)
			}
			tr := transport(t, egress.Options{Policy: loopbackOnly(), Resolver: resolver.Net(), Roots: s.roots})
			for shape, request := range shapes {
				resp, err := tr.RoundTrip(request(scheme + "://example.com:" + s.port + "/"))
				if err != nil {
					t.Errorf("%s to an allowed network: %v", shape, err)
					continue
				}
				if io.Copy(io.Discard, resp.Body); resp.ProtoMajor != map[bool]int{false: 1, true: 2}[c.http2] {
					t.Errorf("%s went by %s", shape, resp.Proto)
				}
				resp.Body.Close()
			}
		})
	}
}

// TestRebindingOfEveryWay: a name that led outside when it was asked for first leads inside when it is dialed.
func TestRebindingOfEveryWay(t *testing.T) {
	for way, tls := range map[string]bool{"http": false, "https": true} {
		for shape, request := range shapes {
			s := serveCounted(t, tls, true)
			resolver := egresstest.NewResolver(t)
			resolver.Set("rebind.test", "8.8.8.8", "127.0.0.1")
			if ips, err := resolver.Net().LookupHost(t.Context(), "rebind.test"); err != nil || ips[0] != "8.8.8.8" {
				t.Fatal(ips, err)
			}
			tr := transport(t, egress.Options{Resolver: resolver.Net(), Roots: s.roots})
			if _, err := tr.RoundTrip(request(way + "://rebind.test:" + s.port + "/")); !errors.Is(err, egress.ErrRefused) {
				t.Errorf("%s, %s: %v", way, shape, err)
			}
			if n := s.conns.Load(); n != 0 {
				t.Errorf("%s, %s: %d connections were made", way, shape, n)
			}
		}
	}
}

// TestGuardBehindAProxy: with a proxy written-out addresses are judged by every scheme, and nothing is dialed but the proxy.
func TestGuardBehindAProxy(t *testing.T) {
	proxy, s := serveCounted(t, false, false), serveCounted(t, true, true)
	tr := transport(t, egress.Options{Proxy: &url.URL{Scheme: "http", Host: "127.0.0.1:" + proxy.port}, Roots: s.roots})
	for _, scheme := range []string{"http", "https"} {
		for shape, request := range shapes {
			for _, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]", "[::1]", "10.0.0.1", "169.254.169.254"} {
				if _, err := tr.RoundTrip(request(scheme + "://" + host + ":" + s.port + "/")); !errors.Is(err, egress.ErrRefused) {
					t.Errorf("%s, %s to %s: %v", scheme, shape, host, err)
				}
			}
		}
	}
	if n := proxy.conns.Load(); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
	if resp, err := tr.RoundTrip(newRequest(http.MethodGet, "https://localhost:"+s.port+"/", nil)); err == nil { // the proxy takes no CONNECT
		resp.Body.Close()
	}
	if proxy.conns.Load() == 0 || s.conns.Load() != 0 {
		t.Errorf("%d connections to the proxy, %d beside it", proxy.conns.Load(), s.conns.Load())
	}
}
