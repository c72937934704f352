package egress_test

import (
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/internal/httpclient"
	"github.com/trireme-dev/trireme/scheduler/egress"
	"github.com/trireme-dev/trireme/scheduler/egress/egresstest"
)

func get(t *testing.T, tr *httpclient.Client, target string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := tr.RoundTrip(r)
	if err == nil {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	return resp, err
}

func transport(t *testing.T, o egress.Options) *httpclient.Client {
	t.Helper()
	if o.Policy == nil {
		o.Policy = &egress.Policy{}
	}
	tr := egress.NewClient(o)
	t.Cleanup(tr.CloseIdle)
	return tr
}

// sink is a server that counts what reaches it.
func sink(t *testing.T, status int, header ...string) (addr string, hits chan string) {
	hits = make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits <- r.Method + " " + r.Host + r.RequestURI
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), hits
}

func loopbackOnly() *egress.Policy {
	return &egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
}

func TestLoopbackIsRefusedInEverySpelling(t *testing.T) {
	addr, hits := sink(t, 200)
	_, port, _ := strings.Cut(addr, ":")
	resolver := egresstest.NewResolver(t)
	resolver.Set("inside.test", "127.0.0.1")
	resolver.Set("mapped.test", "::ffff:127.0.0.1")
	tr := transport(t, egress.Options{Resolver: resolver.Net()})
	for _, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::1]", "0.0.0.0", "[::]", "localhost", "inside.test", "mapped.test"} {
		if _, err := get(t, tr, "http://"+host+":"+port+"/"); !errors.Is(err, egress.ErrRefused) {
			t.Errorf("%s: %v", host, err)
		}
	}
	// Spellings that are no addresses to Go are names, which nobody knows.
	for _, host := range []string{"2130706433", "0x7f000001", "0177.0.0.1", "127.1"} {
		if _, err := get(t, tr, "http://"+host+":"+port+"/"); err == nil {
			t.Errorf("%s was reached", host)
		}
	}
	if len(hits) > 0 {
		t.Errorf("the sink was reached: %s", <-hits)
	}
}

// TestRebinding: a name that was harmless when it was looked at leads inside when it is
// dialed.
func TestRebinding(t *testing.T) {
	addr, hits := sink(t, 200)
	_, port, _ := strings.Cut(addr, ":")
	resolver := egresstest.NewResolver(t)
	resolver.Set("rebind.test", "8.8.8.8", "127.0.0.1")
	if ips, err := resolver.Net().LookupHost(t.Context(), "rebind.test"); err != nil || ips[0] != "8.8.8.8" {
		t.Fatal(ips, err)
	}
	tr := transport(t, egress.Options{Resolver: egress.DNS(resolver.Addr())})
	if _, err := get(t, tr, "http://rebind.test:"+port+"/"); !errors.Is(err, egress.ErrRefused) {
		t.Errorf("%v", err)
	}
	if resolver.Asked("rebind.test") < 2 || len(hits) > 0 {
		t.Errorf("asked %d times, %d hits", resolver.Asked("rebind.test"), len(hits))
	}
}

func TestAllowedNetworkIsReached(t *testing.T) {
	addr, hits := sink(t, 204)
	tr := transport(t, egress.Options{Policy: loopbackOnly()})
	resp, err := get(t, tr, "http://"+addr+"/a//b?x=%20&y")
	if err != nil || resp.StatusCode != 204 {
		t.Fatal(resp, err)
	}
	if hit := <-hits; hit != "GET "+addr+"/a//b?x=%20&y" {
		t.Error(hit)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	inner, hits := sink(t, 200)
	outer, _ := sink(t, 302, "Location", "http://"+inner+"/")
	tr := transport(t, egress.Options{Policy: loopbackOnly()})
	resp, err := get(t, tr, "http://"+outer+"/")
	if err != nil || resp.StatusCode != 302 || len(hits) > 0 {
		t.Errorf("%v, %v, %d hits", resp, err, len(hits))
	}
}

func TestSchemes(t *testing.T) {
	tr := transport(t, egress.Options{Policy: &egress.Policy{Open: true}})
	for _, target := range []string{"ftp://example.com/", "file:///etc/passwd", "gopher://x/", "http:///path"} {
		if _, err := get(t, tr, target); !errors.Is(err, egress.ErrRefused) {
			t.Errorf("%s: %v", target, err)
		}
	}
}

func TestLongReplyHeaderIsRefused(t *testing.T) {
	addr, _ := sink(t, 200, "X-Long", strings.Repeat("x", 100<<10))
	tr := transport(t, egress.Options{Policy: loopbackOnly()})
	if _, err := get(t, tr, "http://"+addr+"/"); err == nil {
		t.Error("a header of 100 KiB was taken")
	}
}

// TestProxy: names go to the proxy unseen, written-out addresses are still judged, and
// the environment's proxy is not asked.
func TestProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	addr, hits := sink(t, 200)
	proxy := &url.URL{Scheme: "http", Host: addr}
	tr := transport(t, egress.Options{Proxy: proxy})
	if _, err := get(t, tr, "http://hidden.test/x"); err != nil {
		t.Fatal(err)
	}
	if hit := <-hits; hit != "GET hidden.testhttp://hidden.test/x" {
		t.Error(hit)
	}
	for _, target := range []string{"http://10.0.0.1/", "http://[::1]/", "https://169.254.169.254/"} {
		if _, err := get(t, tr, target); !errors.Is(err, egress.ErrRefused) {
			t.Errorf("%s: %v", target, err)
		}
	}
	if len(hits) > 0 {
		t.Errorf("the proxy was asked: %s", <-hits)
	}
}

func TestRoots(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	if _, err := get(t, transport(t, egress.Options{Policy: loopbackOnly()}), s.URL); err == nil {
		t.Error("an unknown authority was believed")
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(path, block, 0o600); err != nil {
		t.Fatal(err)
	}
	roots, err := egress.ReadRoots(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, transport(t, egress.Options{Policy: loopbackOnly(), Roots: roots}), s.URL); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := egress.ReadRoots(path); err == nil {
		t.Error("a file without certificates was taken")
	}
}

// TestHTTPSOnly: where only https is allowed, nothing is sent to http, with a proxy or without one, whatever was stored before.
func TestHTTPSOnly(t *testing.T) {
	addr, hits := sink(t, 200)
	proxy := &url.URL{Scheme: "http", Host: addr}
	policy := loopbackOnly()
	policy.HTTPSOnly = true
	for name, o := range map[string]egress.Options{"direct": {Policy: policy}, "proxy": {Policy: policy, Proxy: proxy}} { // unordered: the same
		tr := transport(t, o)
		for _, target := range []string{"http://" + addr + "/", "http://a.example/"} {
			if _, err := get(t, tr, target); !errors.Is(err, egress.ErrRefused) || !strings.Contains(err.Error(), "--egress-https-only") {
				t.Errorf("%s to %s: %v", name, target, err)
			}
		}
	}
	if len(hits) > 0 {
		t.Errorf("the sink was reached: %s", <-hits)
	}
	if _, err := get(t, transport(t, egress.Options{Policy: policy}), "https://"+addr+"/"); errors.Is(err, egress.ErrRefused) {
		t.Errorf("https: %v", err)
	}
}
