package httpapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
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
