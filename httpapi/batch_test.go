package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// TestCommandsOfManyConnectionsRunTogether sends single commands on 48 connections to three nodes: each gets its own
// reply with the status that it has alone, tokens of writes differ, and some of the commands ran together.
func TestCommandsOfManyConnectionsRunTogether(t *testing.T) {
	nodes := httpapitest.ServeNodes(t, 3, nil)
	const conns = 48
	var (
		wg       sync.WaitGroup
		tokens   sync.Map
		together atomic.Int64
	)
	rounds := length(300, 60)
	for i := range conns {
		g := gatewayAt(t, nodes.Addrs[i%3])
		key := fmt.Sprint("k", i)
		expect := func(method, target, body string, status int, want string) http.Header {
			a := g.ask(t, method, target, body)
			if a.status != status || !strings.HasPrefix(a.body, want) {
				t.Errorf("%s %s %s: %d %s, want %d %s", method, target, body, a.status, a.body, status, want)
			}
			return a.header
		}
		wg.Go(func() {
			for n := range rounds {
				if t.Failed() {
					return
				}
				token := expect("POST", "/", fmt.Sprintf(`["SET",%q,"%d"]`, key, n), 200, `{"result":"OK"}`).Get("Svc-Sync-Token")
				if _, again := tokens.LoadOrStore(token, true); again || token == "" {
					t.Errorf("token %q came before", token)
				}
				if strings.Count(token, ".") == 3 {
					together.Add(1)
				}
				expect("GET", "/get/"+key, "", 200, fmt.Sprintf(`{"result":"%d"}`, n))
				expect("POST", "/", fmt.Sprintf(`["INCR",%q]`, key), 200, fmt.Sprintf(`{"result":%d}`, n+1))
				expect("POST", "/append/"+key, "x", 200, fmt.Sprintf(`{"result":%d}`, len(fmt.Sprint(n+1))+1))
				header := expect("POST", "/", fmt.Sprintf(`["INCR",%q]`, key), 400, `{"error":"ERR value is not an integer`)
				if header.Get("Svc-Outcome") != "not-applied" {
					t.Errorf("outcome of a command that failed: %q", header.Get("Svc-Outcome"))
				}
				expect("POST", "/", fmt.Sprintf(`["LLEN",%q]`, key), 400, `{"error":"WRONGTYPE `)
				expect("GET", "/get/"+key, "", 200, fmt.Sprintf(`{"result":"%dx"}`, n+1))
			}
		})
	}
	wg.Wait()
	if together.Load() == 0 {
		t.Error("no commands ran together")
	}
}

// TestFailuresOfBatches makes the engine fail under attached connections: each of them is told.
func TestFailuresOfBatches(t *testing.T) {
	g := newGateway(t)
	for range 8 { // the connection attaches
		g.ask(t, "POST", "/", `["SET","k","v"]`)
	}
	g.engine.BeforeRead(func() { panic("a bug") })
	if a := g.ask(t, "GET", "/get/k", ""); a.status != 500 || a.header.Get("Svc-Outcome") != "not-applied" {
		t.Errorf("a read that panicked: %+v", a)
	}
	g.engine.BeforeRead(nil)
	g.engine.BeforePropose(func() { panic("a bug") })
	if a := g.ask(t, "POST", "/", `["SET","k","w"]`); a.status != 500 || a.header.Get("Svc-Outcome") != "unknown" {
		t.Errorf("a write that panicked: %+v", a)
	}
	g.engine.BeforePropose(nil)
	if a := g.ask(t, "GET", "/get/k", ""); a.status != 200 {
		t.Errorf("afterwards: %+v", a)
	}
}

// TestTokensOfAttachedConnections sends different tokens on one connection: each request is judged by its own.
func TestTokensOfAttachedConnections(t *testing.T) {
	g := newGateway(t)
	for round := range 10 {
		if a := g.ask(t, "POST", "/", `["SET","k","v"]`); a.status != 200 {
			t.Fatalf("round %d: %+v", round, a)
		}
		if round < 8 {
			continue
		}
		if a := g.ask(t, "POST", "/", `["SET","k","w"]`, "Authorization: Bearer wrong"); a.status != 401 {
			t.Errorf("wrong token: %+v", a)
		}
		if a := g.ask(t, "POST", "/", `["SET","k","w"]`, auth(httpapitest.ReadOnlyToken)); a.status != 400 || !strings.Contains(a.body, "NOPERM") {
			t.Errorf("token that only reads: %+v", a)
		}
		if a := g.ask(t, "GET", "/get/k", "", auth(httpapitest.ReadOnlyToken)); a.body != `{"result":"v"}` {
			t.Errorf("token that only reads: %+v", a)
		}
	}
}
