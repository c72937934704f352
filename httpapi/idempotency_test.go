package httpapi_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
)

// A client that lost the answer asks again under its id and gets the first answer.
func TestRequestIdAfterALostAnswer(t *testing.T) {
	g := newGateway(t)
	for i, c := range []struct{ target, body string }{
		{"/incr/n", ""}, {"/", `["INCR","n"]`}, {"/pipeline", `[["INCR","n"],["GET","n"]]`}, {"/multi-exec", `[["INCR","n"],["GET","n"]]`},
	} {
		header := fmt.Sprint("Svc-Request-Id: lost ", i)
		g.engine.FailWrites(fsm.ErrUnknown, true)
		if a := g.ask(t, "POST", c.target, c.body, header); a.status != 503 || a.header.Get("Svc-Outcome") != "unknown" {
			t.Fatalf("%s: %+v", c.target, a)
		}
		g.engine.FailWrites(nil, false)
		first := g.ask(t, "POST", c.target, c.body, header)
		if first.status != 200 || first.header.Get("Svc-Replayed") != "true" || first.header.Get("Upstash-Replayed") != "true" {
			t.Fatalf("%s: %+v", c.target, first)
		}
		again := g.ask(t, "POST", c.target, c.body, header)
		if again.body != first.body || again.header.Get("Svc-Sync-Token") != first.header.Get("Svc-Sync-Token") {
			t.Errorf("%s: %+v, first %+v", c.target, again, first)
		}
		if a := g.ask(t, "GET", "/get/n", ""); a.body != fmt.Sprintf(`{"result":"%d"}`, i+1) {
			t.Errorf("%s: %+v", c.target, a)
		}
	}
}

func TestRequestIdOfAnotherRequest(t *testing.T) {
	g := newGateway(t)
	id := "Upstash-Request-Id: same"
	if a := g.ask(t, "POST", "/set/k", "v", id); a.status != 200 || a.header.Get("Svc-Replayed") != "" {
		t.Fatalf("%+v", a)
	}
	// The same words in another form are the same request.
	if a := g.ask(t, "POST", "/", ` ["set", "k", "v"]`, "Svc-Request-Id: same"); a.status != 200 || a.header.Get("Svc-Replayed") != "true" {
		t.Errorf("%+v", a)
	}
	if a := g.ask(t, "POST", "/set/k", "w", id); a.status != 400 || a.header.Get("Svc-Outcome") != "not-applied" ||
		a.body != `{"error":"ERR request id was used for another request"}` {
		t.Errorf("%+v", a)
	}
	if a := g.ask(t, "GET", "/get/k", "", id); a.body != `{"result":"v"}` || a.header.Get("Svc-Replayed") != "" {
		t.Errorf("a read: %+v", a)
	}
}

func TestRequestIdForm(t *testing.T) {
	g := newGateway(t)
	for _, id := range []string{"", strings.Repeat("x", 129)} {
		if a := g.ask(t, "POST", "/set/k", "v", "Svc-Request-Id: "+id); a.status != 400 || !strings.HasPrefix(a.body, `{"error":"ERR Svc-Request-Id must`) {
			t.Errorf("%d bytes: %+v", len(id), a)
		}
	}
	if a := g.ask(t, "POST", "/set/k", "v", "Svc-Request-Id: "+strings.Repeat("x", 128)); a.status != 200 {
		t.Errorf("%+v", a)
	}
	g.engine.FailWrites(fmt.Errorf("wrapped: %w", fsm.ErrRetriesFull), false)
	if a := g.ask(t, "POST", "/set/k", "v", "Svc-Request-Id: full"); a.status != 503 || a.header.Get("Svc-Outcome") != "not-applied" || a.header.Get("Retry-After") == "" {
		t.Errorf("%+v", a)
	}
	g.engine.FailWrites(errors.Join(fsm.ErrReplyNotKept), false)
	if a := g.ask(t, "POST", "/set/k", "v", "Svc-Request-Id: long"); a.status != 409 || a.header.Get("Svc-Outcome") != "applied" {
		t.Errorf("%+v", a)
	}
}

// Copies of one request, sent to three nodes at once while leadership moves, are applied
// once and answer alike.
func TestRequestIdOnThreeNodes(t *testing.T) {
	gateways, nodes := threeNodes(t)
	const rounds = 20
	for i := range rounds {
		header := fmt.Sprint("Svc-Request-Id: round ", i)
		bodies := make([]string, 6)
		var all sync.WaitGroup
		for j := range bodies {
			all.Go(func() { bodies[j] = gateways[j%3].ask(t, "POST", "/", `["INCR","n"]`, header).body })
		}
		if i%8 == 4 {
			leader := nodes.Leader()
			all.Go(func() { _ = nodes.Nodes[leader].TransferLeadership("") })
		}
		all.Wait()
		for _, body := range bodies {
			if body != fmt.Sprintf(`{"result":%d}`, i+1) {
				t.Fatalf("round %d: %v", i, bodies)
			}
		}
	}
}
