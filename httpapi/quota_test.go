package httpapi_test

import (
	"context"
	"strings"
	"testing"

	"trireme/fsm"
	"trireme/httpapi/httpapitest"
)

const exceeded = `{"error":"ERR max daily request limit exceeded. Limit: 4, Usage: 4. The setting is dailyRequestLimit"}`

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
		`{"error":"ERR max daily request limit exceeded. Limit: 4, Usage: 2. The setting is dailyRequestLimit"}`)
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
