package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// TestRequestRate: a database with a rate of one request in a long time has as many as its burst, over every way in. After that it
// gets 429 with the time to come back. Rows of a batch beyond the rate are refused one by one; other databases are answered.
func TestRequestRate(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.Messages = &messages.Parser{Prefixes: []string{"Svc", "Upstash"}} })
	const path = "/admin/databases/shop/settings"
	shop := g.database(t, "POST", "/admin/databases", `{"name":"shop"}`, 201)
	for body, want := range map[string]string{ // unordered: all are refused
		`{"requestRate":-1}`: "requestRate must be", `{"requestRate":1.5}`: "requestRate must be", `{"requestBurst":5}`: "beside requestRate", `{"requestRate":1,"requestBurst":"x"}`: "requestBurst must be",
	} {
		g.expect(t, "POST", path, body, httpapitest.AdminToken, 400, `{"error":"ERR `)
		if a := g.ask(t, "POST", path, body, asAdmin); !strings.Contains(a.body, want) {
			t.Errorf("%s: %s", body, a.body)
		}
	}
	set := func(body, want string) { g.expect(t, "POST", path, body, httpapitest.AdminToken, 200, want) }
	set(`{"maxMemory":5000000,"requestRate":1}`, `{"maxMemory":5000000,"maxMemoryInForce":5000000,"requestRate":1,"requestBurst":1}`)
	set(`{"requestRate":0}`, `{"maxMemory":5000000,"maxMemoryInForce":5000000}`)
	set(`{"maxMemory":null}`, `{"maxMemory":null,"maxMemoryInForce":0}`)
	as := "Authorization: Bearer " + shop.Token
	for name, ask := range map[string]func() answer{ // unordered: each with a bucket of its own, as long as the rate is another
		"a path":        func() answer { return g.ask(t, "GET", "/db/shop/get/k", "", as) },
		"a body":        func() answer { return g.ask(t, "POST", "/db/shop/", `["SET","k","v"]`, as) },
		"a pipeline":    func() answer { return g.ask(t, "POST", "/db/shop/pipeline", `[["GET","k"]]`, as) },
		"a transaction": func() answer { return g.ask(t, "POST", "/db/shop/multi-exec", `[["GET","k"]]`, as) },
		"publishing":    func() answer { return g.ask(t, "POST", "/v2/publish/https://a.example", "x", as, "Svc-Delay: 1h") },
		"a list":        func() answer { return g.ask(t, "GET", "/db/shop/v2/queues", "", as) },
	} {
		set(`{"requestRate":1,"requestBurst":3}`, `{"maxMemory":null,"maxMemoryInForce":0,"requestRate":1,"requestBurst":3}`)
		granted, refused := 0, answer{}
		for granted < 100 && refused.status == 0 {
			if a := ask(); a.status == 429 {
				refused = a
			} else if granted++; a.status >= 400 {
				t.Fatalf("%s: %d %s", name, a.status, a.body)
			}
		}
		if refused.status != 429 || refused.header.Get("Retry-After") == "" || !strings.Contains(refused.body, "Setting: requestRate") {
			t.Errorf("%s: after %d requests: %d %v %s", name, granted, refused.status, refused.header, refused.body)
		}
		g.expect(t, "GET", "/ping", "", httpapitest.Token, 200, `{"result":"PONG"}`)
		set(`{"requestRate":null}`, `{"maxMemory":null,"maxMemoryInForce":0}`)
		if a := ask(); a.status >= 400 {
			t.Errorf("%s, without a rate: %d %s", name, a.status, a.body)
		}
	}
}

// TestForeignPages: a development server refuses requests of another site's page, whether they need a token or not.
func TestForeignPages(t *testing.T) {
	reached := 0
	g := newGateway(t, func(o *httpapi.Options) {
		o.LoopbackOnly, o.Messages = true, &messages.Parser{Prefixes: []string{"Svc", "Upstash"}}
		o.Test = func(func(*http.Request) bool) http.Handler {
			return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ })
		}
	})
	for _, target := range []string{"/test/sink/a", "/test/clock", "/v2/queues", "/v2/publish/https://a.example", "/v2/workflows/hooks/u/r/e"} {
		for _, page := range []string{"Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"} {
			for _, method := range []string{"GET", "POST"} {
				if a := g.send(t, method, target, "", page); a.status != 403 || !strings.Contains(a.body, "loopback hosts only") {
					t.Errorf("%s %s of a page with %s: %d %s", method, target, page, a.status, a.body)
				}
			}
		}
	}
	if reached > 0 {
		t.Errorf("%d requests have reached /test", reached)
	}
	for _, page := range []string{"Origin: http://localhost:3000", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none", "X: y"} {
		g.send(t, "POST", "/test/sink/a", "", page)
	}
	if reached != 4 {
		t.Errorf("%d of 4 requests of this machine have reached the sink", reached)
	}
}
