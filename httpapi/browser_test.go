package httpapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi"
)

const origin = "Origin: https://page.example"

func TestPagesMayUseTheKeyspace(t *testing.T) {
	g := newGateway(t)
	a := g.ask(t, "OPTIONS", "/pipeline", "", "Authorization:", origin,
		"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization, upstash-encoding")
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": "https://page.example", "Access-Control-Allow-Credentials": "true",
		"Access-Control-Allow-Methods": "HEAD, GET, POST, PUT", "Access-Control-Allow-Headers": "authorization, upstash-encoding",
	} {
		if got := a.header.Get(name); a.status != 200 || got != want {
			t.Errorf("preflight: %d, %s is %q", a.status, name, got)
		}
	}
	for _, status := range []struct {
		target, header string
		status         int
	}{{"/ping", "X-A: b", 200}, {"/nosuch", "X-A: b", 400}, {"/ping", "Authorization:", 401}} {
		a := g.ask(t, "GET", status.target, "", status.header, origin)
		exposed := a.header.Get("Access-Control-Expose-Headers")
		if a.status != status.status || a.header.Get("Access-Control-Allow-Origin") != "https://page.example" || a.header.Get("Vary") != "Origin" {
			t.Errorf("%s: %d %v", status.target, a.status, a.header)
		}
		if !strings.Contains(exposed, "Svc-Sync-Token") || !strings.Contains(exposed, "Upstash-Sync-Token") {
			t.Errorf("%s exposes %s", status.target, exposed)
		}
	}
	if a := g.ask(t, "GET", "/ping", ""); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("a request without Origin got CORS headers")
	}
}

func TestPagesMayNotUseOtherPaths(t *testing.T) {
	g := newGateway(t)
	for _, target := range []string{"/v2/publish/x", "/admin/cluster", "/metrics", "/livez"} {
		a := g.ask(t, "OPTIONS", target, "", origin, "Access-Control-Request-Method: GET")
		b := g.ask(t, "GET", target, "", origin)
		for _, x := range []answer{a, b} {
			for name := range x.header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s: %s: %s", target, name, x.header.Get(name))
				}
			}
		}
		if a.status == 200 {
			t.Errorf("%s: preflight was answered", target)
		}
	}
}

// A browser without a console sees a page that says why; a request for anything else, or with a token, comes from a client.
func TestBrowserWithoutConsoleGetsAPage(t *testing.T) {
	g := newGateway(t)
	r, err := http.NewRequest("GET", g.URL+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html,*/*;q=0.8")
	a, err := g.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if kind := a.Header.Get("Content-Type"); err != nil || a.StatusCode != 200 || kind != "text/html; charset=utf-8" || !strings.Contains(string(body), "the console of this node is disabled (--console=off)") {
		t.Errorf("%d %s %s %v", a.StatusCode, kind, body, err)
	}
	for _, header := range [][]string{{"Authorization:", "Accept: */*"}, {"Authorization: Bearer nobodys", "Accept: text/html"}} {
		if a := g.ask(t, "GET", "/", "", header...); a.status != 401 || !strings.HasPrefix(a.body, `{"error"`) {
			t.Errorf("%v: %d %s", header, a.status, a.body)
		}
	}
}

// In dev mode a page whose own name resolves to loopback gets nothing.
func TestLoopbackOnly(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.LoopbackOnly = true })
	for host, status := range map[string]int{
		"localhost": 200, "localhost:8080": 200, "LOCALHOST.": 200, "app.localhost:3000": 403, "evil.localhost": 403, ".localhost": 403, "127.0.0.1": 200, "127.8.9.1:80": 200,
		"[::1]": 200, "[::1]:8080": 200, "[::ffff:127.0.0.1]:1": 200, "evil.example": 403, "evil.example:8080": 403, "127.0.0.1.evil.example": 403,
		"notlocalhost": 403, "10.0.0.1": 403, "localhost.evil.example": 403, "0.0.0.0": 403, "[fe80::1]": 403,
	} {
		for _, target := range []string{"/ping", "/livez"} {
			request := strings.Replace("GET "+target+rawHead+"\r\n", "Host: h", "Host: "+host, 1)
			if a := g.raw(t, request); a.status != status {
				t.Errorf("%s at %s: %d", target, host, a.status)
			}
		}
	}
	open := newGateway(t)
	if a := open.raw(t, "GET /ping"+rawHead+"\r\n"); a.status != 200 {
		t.Errorf("any host without the rule: %d", a.status)
	}
}
