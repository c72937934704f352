package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
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

// attaching is the number of requests after which a connection attaches to the event loop.
const attaching = 6

// TestPublishingOnTheEventLoopAgrees sends requests of every kind to the API of messages on connections that the event
// loop serves: each gets the answer that net/http gives, and leaves the same state.
func TestPublishingOnTheEventLoopAgrees(t *testing.T) {
	fast, slow := twoWays(t, nil)
	plain := mailRequest("POST", to, "plain", "Svc-Delay: 1h")
	for _, request := range mailRequests {
		fast.connect()
		slow.connect()
		for range attaching {
			if a, b := fast.send(plain), slow.send(plain); a != b {
				t.Fatalf("%q on the event loop: %s\nnet/http: %s", plain, a, b)
			}
		}
		if a, b := fast.send(request), slow.send(request); a != b {
			t.Fatalf("%.300q\non the event loop: %.2000s\nnet/http: %.2000s", request, a, b)
		}
		if a, b := fast.state(), slow.state(); a != b {
			t.Fatalf("%.300q: states of %d and %d bytes differ", request, len(a), len(b))
		}
	}
	for _, err := range []error{fsm.ErrUnknown, fsm.ErrLowSpace, fsm.ErrNoLeader, fsm.ErrTooLarge, fsm.ErrStopping} {
		fast.connect()
		slow.connect()
		for range attaching {
			fast.send(plain)
			slow.send(plain)
		}
		fast.engine.FailWrites(err, false)
		slow.engine.FailWrites(err, false)
		if a, b := fast.send(plain), slow.send(plain); a != b {
			t.Errorf("%v on the event loop: %s\nnet/http: %s", err, a, b)
		}
		fast.engine.FailWrites(nil, false)
		slow.engine.FailWrites(nil, false)
	}
}

// TestMessagesOfManyConnectionsRunTogether publishes on 48 connections: each gets the receipt of its own message, a
// refusal or a duplicate is reported to its client, and the log has fewer requests than messages.
func TestMessagesOfManyConnectionsRunTogether(t *testing.T) {
	g := newGateway(t, withMessages)
	const conns = 48
	rounds := length(300, 60)
	before, _ := g.engine.Calls()
	var (
		wg   sync.WaitGroup
		seen sync.Map
	)
	for i := range conns {
		one := gatewayAt(t, g.addr)
		wg.Go(func() {
			publish := func(status int, lines ...string) (id string, again bool) {
				a := one.ask(t, "POST", to, fmt.Sprint("of ", i), append(lines, auth(httpapitest.MessagesToken))...)
				var out struct {
					MessageID    string
					Deduplicated bool
				}
				if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.status != status {
					t.Errorf("%q: %d %s, want %d", lines, a.status, a.body, status)
				}
				return out.MessageID, out.Deduplicated
			}
			for n := range rounds {
				if t.Failed() {
					return
				}
				id, again := publish(200, "Svc-Delay: 1h", fmt.Sprintf("Svc-Deduplication-Id: %d-%d", i, n))
				if _, twice := seen.LoadOrStore(id, i); twice || again || !strings.HasPrefix(id, "msg_") {
					t.Errorf("message %q is a second one or none", id)
				}
				if same, again := publish(202, "Svc-Delay: 1h", fmt.Sprintf("Svc-Deduplication-Id: %d-%d", i, n)); same != id || !again {
					t.Errorf("duplicate of %q: %q, %v", id, same, again)
				}
				if n%10 == 0 {
					publish(400, "Svc-Queue-Name: a b") // as the state says
				}
				a := one.ask(t, "GET", "/v2/messages/"+id, "", auth(httpapitest.MessagesToken))
				if !strings.Contains(a.body, fmt.Sprintf(`"body":"of %d"`, i)) {
					t.Errorf("message %q of connection %d is %s", id, i, a.body)
				}
			}
		})
	}
	wg.Wait()
	requests, _ := g.engine.Calls()
	if sent := int64(conns * rounds * 2); requests-before >= sent {
		t.Errorf("%d requests to the log for %d publications: none ran together", requests-before, sent)
	}
}

// TestFailuresOfPublishingTogether makes the engine panic under an attached connection, which is told that the outcome
// is unknown and goes on.
func TestFailuresOfPublishingTogether(t *testing.T) {
	g := newGateway(t, withMessages)
	ask := func() answer { return g.ask(t, "POST", to, "x", "Svc-Delay: 1h", auth(httpapitest.MessagesToken)) }
	for range attaching {
		ask()
	}
	g.engine.BeforePropose(func() { panic("a bug") })
	if a := ask(); a.status != 500 || a.header.Get("Svc-Outcome") != "unknown" {
		t.Errorf("publishing panicked: %+v", a)
	}
	if a := ask(); a.status != 200 {
		t.Errorf("afterwards: %+v", a)
	}
}

// TestTokensOfAttachedPublishers sends different tokens on one connection: each request is judged by its own.
func TestTokensOfAttachedPublishers(t *testing.T) {
	g := newGateway(t, withMessages)
	for round := range attaching + 2 {
		if a := g.ask(t, "POST", to, "x", "Svc-Delay: 1h", auth(httpapitest.MessagesToken)); a.status != 200 {
			t.Fatalf("round %d: %+v", round, a)
		}
		for token, status := range map[string]int{"wrong": 401, httpapitest.Token: 401, httpapitest.MessagesReadOnlyToken: 403, httpapitest.AdminToken: 200} {
			if a := g.ask(t, "POST", to, "x", "Svc-Delay: 1h", auth(token)); round >= attaching && a.status != status {
				t.Errorf("token %q: %+v, want %d", token, a, status)
			}
		}
	}
}
