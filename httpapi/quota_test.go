package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

const exceeded = `{"error":"ERR max daily request limit exceeded. Limit: 4, Usage: 4. Setting: dailyRequestLimit"}`

func newLimited(t *testing.T) *gateway {
	g := newGateway(t)
	g.limit(t, 4)
	return g
}

func (g *gateway) limit(t *testing.T, n int64) {
	t.Helper()
	if _, err := fsm.Do(context.Background(), g.engine, fsm.Configure, fsm.Settings{DailyLimit: n}); err != nil {
		t.Fatal(err)
	}
}

func TestDailyLimit(t *testing.T) {
	g := newLimited(t)
	g.expect(t, "GET", "/set/k/v", "", httpapitest.Token, 200, `{"result":"OK"}`)
	g.expect(t, "GET", "/get/k", "", httpapitest.Token, 200, `{"result":"v"}`)
	g.expect(t, "GET", "/get/k", "", "nonsense", 401, wrongPass) // not counted
	g.expect(t, "GET", "/set/k", "", httpapitest.Token, 400, `{"error":"ERR wrong number`)
	g.expect(t, "POST", "/multi-exec", `[["SET","k","x"],["GET","k"],["GET","k"]]`, httpapitest.Token, 400,
		`{"error":"ERR max daily request limit exceeded. Limit: 4, Usage: 2. Setting: dailyRequestLimit"}`)
	a := g.ask(t, "POST", "/pipeline", `[["GET","k"],["SET","k","y"],["GET","k"]]`)
	if a.status != 200 || a.body != `[{"result":"v"},{"result":"OK"},`+exceeded+`]` {
		t.Errorf("%+v", a)
	}
	for target, body := range map[string]string{"/": `["GET","k"]`, "/multi-exec": `[["GET","k"]]`, "/set/k/z": ""} {
		if a := g.ask(t, "POST", target, body); a.status != 400 || a.body != exceeded || a.header.Get("Svc-Outcome") != "not-applied" {
			t.Errorf("%s: %+v", target, a)
		}
	}
	a = g.ask(t, "POST", "/pipeline", `[["SET","k","y"]]`)
	if a.status != 200 || a.body != "["+exceeded+"]" || strings.Contains(a.header.Get("Svc-Sync-Token"), httpapitest.Token) {
		t.Errorf("%+v", a)
	}
	// Another database has a limit of its own, and the operator can lift it.
	d := g.database(t, "POST", "/admin/databases", `{"name":"a"}`, 201)
	g.expect(t, "GET", "/db/a/get/k", "", d.Token, 200, `{"result":null}`)
	g.limit(t, 0)
	g.expect(t, "GET", "/get/k", "", httpapitest.Token, 200, `{"result":"y"}`)
}

// Requests that were refused before anything ran don't count: a transaction that this node's state discards, one that
// the log discards, a command of too few words.
func TestRefusedCommandsDoNotCount(t *testing.T) {
	g := newLimited(t)
	for range 10 {
		g.expect(t, "POST", "/multi-exec", `[["SET","k","v"],["GET"]]`, httpapitest.Token, 400, `{"error":"ERR wrong number`)
		g.expect(t, "GET", "/get", "", httpapitest.Token, 400, `{"error":"ERR wrong number`)
		g.expect(t, "GET", "/keys/a", "", httpapitest.ReadOnlyToken, 400, `{"error":"NOPERM `)
		g.expect(t, "POST", "/multi-exec", `[["GET","k"],["KEYS","a"]]`, httpapitest.ReadOnlyToken, 400, `{"error":"NOPERM `)
		// The node judges by the old limit of keys, the log by the new one.
		g.engine.BeforePropose(func() { g.keys(t, 4, 1) })
		g.expect(t, "POST", "/multi-exec", `[["SET","long","v"],["GET","k"]]`, httpapitest.Token, 400, `{"error":"ERR max key size`)
		g.keys(t, 4, 0)
	}
	g.expect(t, "POST", "/pipeline", `[["GET","k"],["GET","k"],["GET","k"],["GET","k"]]`, httpapitest.Token, 200,
		`[{"result":null},{"result":null},{"result":null},{"result":null}]`)
	g.expect(t, "GET", "/get/k", "", httpapitest.Token, 400, exceeded)
}

// keys sets the daily limit and the largest key.
func (g *gateway) keys(t *testing.T, daily, longest int64) {
	t.Helper()
	if _, err := fsm.Do(context.Background(), g.engine, fsm.Configure, fsm.Settings{DailyLimit: daily, Limits: command.Limits{MaxKey: longest}}); err != nil {
		t.Error(err)
	}
}

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
