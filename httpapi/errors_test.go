package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// Every failure of the engine says under both prefixes whether the request may have been
// done.
func TestFailuresSayTheirOutcome(t *testing.T) {
	g := newGateway(t)
	for _, c := range []struct {
		err         error
		status      int
		write, read string
		applied     bool
	}{
		{fsm.ErrNoLeader, 503, "not-applied", "not-applied", false},
		{fsm.ErrLowSpace, 503, "not-applied", "not-applied", false},
		{fsm.ErrShare, 503, "not-applied", "not-applied", false},
		{fsm.ErrStopping, 503, "not-applied", "not-applied", false},
		{fsm.ErrPoison, 503, "not-applied", "not-applied", false},
		{fsm.ErrQuarantined, 503, "not-applied", "not-applied", false},
		{fsm.ErrTooStale, 503, "not-applied", "not-applied", false},
		{fsm.ErrTooLarge, 400, "not-applied", "not-applied", false},
		{fsm.ErrUnknown, 503, "unknown", "unknown", true},
		{fmt.Errorf("cluster: %w", fsm.ErrUnknown), 503, "unknown", "unknown", true},
		{context.DeadlineExceeded, 503, "unknown", "not-applied", true},
		{context.Canceled, 503, "unknown", "not-applied", true},
		{fsm.ErrMalformed, 500, "not-applied", "not-applied", false},
		{errors.New("secret detail"), 500, "unknown", "not-applied", true},
	} {
		g.engine.FailWrites(c.err, c.applied)
		g.engine.FailReads(c.err)
		checkFailure(t, g, c.status, c.write, `["SET","k","v"]`)
		checkFailure(t, g, c.status, c.read, `["GET","k"]`)
	}
}

func checkFailure(t *testing.T, g *gateway, status int, outcome, command string) {
	t.Helper()
	for target, body := range map[string]string{"/": command, "/pipeline": "[" + command + "]", "/multi-exec": "[" + command + "]"} {
		a := g.ask(t, "POST", target, body, resp2Header)
		if a.status != status || a.header.Get("Svc-Outcome") != outcome || a.header.Get("Upstash-Outcome") != outcome {
			t.Errorf("%s %s: %d %v", target, body, a.status, a.header)
		}
		if !strings.HasPrefix(a.body, `{"error":"ERR `) || strings.Contains(a.body, "secret") {
			t.Errorf("%s %s: %s", target, body, a.body)
		}
		if a.header.Get("Svc-Sync-Token") != "" {
			t.Errorf("%s: a failure has a sync token", target)
		}
		if retry := a.header.Get("Retry-After") != ""; retry != (status == 503 && outcome == "not-applied") {
			t.Errorf("%s %s: Retry-After is %v", target, body, retry)
		}
	}
}

func TestUnavailableWritesLeaveReads(t *testing.T) {
	g := newGateway(t)
	g.engine.FailWrites(fsm.ErrLowSpace, false)
	if a := g.ask(t, "GET", "/get/k", ""); a.status != 200 {
		t.Errorf("%+v", a)
	}
	g.engine.FailWrites(nil, false)
	if a := g.ask(t, "GET", "/set/k/v", ""); a.status != 200 {
		t.Errorf("%+v", a)
	}
}

// A refusal that any node can give needs neither the log nor a leader.
func TestRefusalsNeedNoLeader(t *testing.T) {
	g := newGateway(t)
	g.engine.FailReads(fsm.ErrNoLeader)
	g.engine.FailWrites(fsm.ErrNoLeader, false)
	for body, status := range map[string]int{`["NOSUCH"]`: 400, `["SET"]`: 400, `["SET","k",null]`: 400, `["SET","k","v"]`: 503, `["GET","k"]`: 503} {
		if a := g.ask(t, "POST", "/", body); a.status != status {
			t.Errorf("%s: %d", body, a.status)
		}
	}
	if a := g.ask(t, "GET", "/get/k", "", "Authorization:"); a.status != 401 {
		t.Errorf("without token: %d", a.status)
	}
	before, _ := g.engine.Calls()
	g.ask(t, "POST", "/multi-exec", `[["SET","k","v"],["GET"]]`)
	if after, _ := g.engine.Calls(); after != before {
		t.Error("a transaction that this node can refuse went into the log")
	}
}

// A node that is behind must not refuse a token or a right that the cluster has given.
func TestRefusalsAreConfirmedByTheCluster(t *testing.T) {
	g := newGateway(t)
	const fresh = "Authorization: Bearer fresh-token"
	grant := func(role acl.Role) func() {
		return func() {
			tokens := httpapitest.Tokens()
			tokens[role] = acl.DigestOf("fresh-token")
			g.engine.Found(tokens)
		}
	}
	if a := g.ask(t, "GET", "/get/k", "", fresh); a.status != 401 {
		t.Fatalf("before: %+v", a)
	}
	g.engine.BeforeRead(grant(acl.ReadOnly))
	if a := g.ask(t, "GET", "/get/k", "", fresh); a.status != 200 {
		t.Errorf("a token granted meanwhile: %+v", a)
	}
	// Now this node knows it as Read Only, and the cluster as Standard.
	g.engine.BeforeRead(grant(acl.Standard))
	if a := g.ask(t, "GET", "/set/k/v", "", fresh); a.status != 200 {
		t.Errorf("a right granted meanwhile: %+v", a)
	}
	grant(acl.ReadOnly)()
	if a := g.ask(t, "POST", "/multi-exec", `[["SET","k","w"]]`, fresh); a.status != 200 || a.body != `[{"result":"OK"}]` {
		t.Errorf("a right granted meanwhile, in a transaction: %+v", a)
	}
	grant(acl.ReadOnly)()
	if a := g.ask(t, "POST", "/pipeline", `[["SET","k","x"],["GET","k"]]`, fresh); a.body != `[{"result":"OK"},{"result":"x"}]` {
		t.Errorf("a right granted meanwhile, in a pipeline: %+v", a)
	}
}

// A token revoked between this node's look and the read is refused by the state read.
func TestRevokedTokenReadsNothing(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "GET", "/set/k/v", "")
	for _, request := range [][2]string{{"/", `["GET","k"]`}, {"/pipeline", `[["GET","k"]]`}, {"/multi-exec", `[["GET","k"]]`}} {
		g.engine.Found(httpapitest.Tokens())
		g.engine.BeforeRead(func() {
			tokens := httpapitest.Tokens()
			tokens[acl.Standard] = acl.DigestOf("another")
			g.engine.Found(tokens)
		})
		if a := g.ask(t, "POST", request[0], request[1]); a.status != 401 || strings.Contains(a.body, `"v"`) {
			t.Errorf("%s: %+v", request[0], a)
		}
	}
	if a := g.ask(t, "GET", "/get/k", ""); a.status != 401 {
		t.Errorf("afterwards: %+v", a)
	}
	if a := g.ask(t, "GET", "/get/k", "", "Authorization: Bearer another"); a.status != 200 {
		t.Errorf("the new token: %+v", a)
	}
}

// panicking is an engine with a bug.
type panicking struct{ *httpapitest.Engine }

func (panicking) Propose(context.Context, uint16, []byte) (any, error) { panic("a bug in propose") }

func (panicking) Read(context.Context, fsm.Reading, func(*fsm.View)) (fsm.ReadAt, error) {
	panic("a bug in read")
}

func TestPanicsAreAnswered(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.Engine = panicking{httpapitest.New()} })
	for target, outcome := range map[string]string{"/get/k": "not-applied", "/set/k/v": "unknown"} {
		a := g.ask(t, "GET", target, "")
		if a.status != 500 || a.header.Get("Svc-Outcome") != outcome || a.header.Get("X-Request-Id") == "" || strings.Contains(a.body, "bug") {
			t.Errorf("%s: %+v", target, a)
		}
	}
	if a := g.ask(t, "GET", "/nosuch", ""); a.status != 400 {
		t.Errorf("after panics: %+v", a)
	}
}

// discarding is an engine whose state refuses a transaction that the edge let pass.
type discarding struct{ *httpapitest.Engine }

func (discarding) Propose(context.Context, uint16, []byte) (any, error) {
	return fsm.Results{Index: 9, Discarded: true, Values: []reply.Value{reply.Error("NOPERM not any more")}}, nil
}

func TestTransactionDiscardedByTheLog(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.Engine = discarding{httpapitest.New()} })
	a := g.ask(t, "POST", "/multi-exec", `[["SET","k","v"],["GET","k"]]`)
	if a.status != 400 || a.body != `{"error":"NOPERM not any more"}` || a.header.Get("Svc-Outcome") != "not-applied" {
		t.Errorf("%+v", a)
	}
}
