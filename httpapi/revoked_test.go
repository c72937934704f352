package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// revocations are the ways to void a token of a database: each is a request, with whose
// token it is made, the admin's or the database's own.
var revocations = []struct {
	name, method, target, body string
	admin                      bool
}{
	{"reset", "POST", "/admin/databases/NAME/reset-password", "", true},
	{"user deleted", "POST", "/db/NAME", `["ACL","DELUSER","app"]`, false},
	{"user off, in a transaction", "POST", "/db/NAME/multi-exec", `[["SET","k","1"],["ACL","SETUSER","app","off"]]`, false},
	{"password taken", "POST", "/db/NAME/pipeline", `[["ACL","SETUSER","app","<a long password"]]`, false},
	{"database deleted", "DELETE", "/admin/databases/NAME", "", true},
}

// probes are requests in every mode but stale, which decisions exempt.
var probes = []struct{ method, target, body, header string }{
	{"GET", "/get/k", "", "X: y"},
	{"GET", "/get/k", "", "Svc-Consistency: session"},
	{"POST", "/pipeline", `[["GET","k"],["GET","k"]]`, "Svc-Consistency: session"},
	{"POST", "/multi-exec", `[["GET","k"]]`, "Svc-Consistency: session"},
	{"POST", "", `["INCR","n"]`, "X: y"},
	{"POST", "/multi-exec", `[["INCR","n"],["GET","k"]]`, "X: y"},
	{"POST", "/subscribe/c", "", "X: y"},
	{"POST", "/monitor", "", "X: y"},
}

// TestRevokedTokensFailEverywhere voids tokens on one node of three while another is cut
// off and all are asked: from the acknowledgement on the token opens nothing on any node,
// not on the one that is cut off and not when it comes back.
func TestRevokedTokensFailEverywhere(t *testing.T) {
	network := clustertest.NewNetwork()
	nodes := httpapitest.ServeNodesOver(t, network, 3, nil)
	for round := range length(4*len(revocations), len(revocations)) {
		how := revocations[round%len(revocations)]
		cut := (nodes.Leader() + round) % 3
		t.Run(fmt.Sprintf("%d %s", round, how.name), func(t *testing.T) {
			name := fmt.Sprint("revoked", round)
			admin := gatewayAt(t, nodes.Addrs[(cut+1)%3])
			made := admin.database(t, "POST", "/admin/databases", `{"name":"`+name+`"}`, 201)
			token := made.Token
			if !how.admin {
				token = restToken(t, admin, made)
			}
			p := &prober{path: made.Path, token: token, answered: make([]atomic.Int64, 3), refused: make([]atomic.Int64, 3)}
			for i, addr := range nodes.Addrs {
				p.awaitKnown(t, addr)
				for n := range probes {
					p.wg.Go(func() { p.run(t, i, addr, n) })
				}
			}
			network.Cut(nodes.List[cut].ID)
			as := made.Token
			if how.admin {
				as = httpapitest.AdminToken
			}
			p.revoke(t, admin, how.method, strings.Replace(how.target, "NAME", name, 1), how.body, as)
			time.Sleep(100 * time.Millisecond) // in which requests should fail
			network.Heal(nodes.List[cut].ID)
			nodes.WaitReady()
			p.finish(t, cut)
		})
	}
}

// restToken makes a user and returns its REST token.
func restToken(t *testing.T, g *gateway, d madeDatabase) string {
	t.Helper()
	g.expect(t, "POST", d.Path, `["ACL","SETUSER","app","on",">a long password","~*","&*","+@all"]`, d.Token, 200, `{"result":"OK"}`)
	a := g.ask(t, "POST", d.Path, `["ACL","RESTTOKEN","app","a long password"]`, auth(d.Token))
	var envelope struct{ Result string }
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil || a.status != 200 {
		t.Fatalf("%+v", a)
	}
	return envelope.Result
}

// prober asks all nodes all the time with one token.
type prober struct {
	path, token       string
	voided            atomic.Bool // the acknowledgement has come
	over              atomic.Bool
	answered, refused []atomic.Int64 // of each node, before and after
	wg                sync.WaitGroup
}

// awaitKnown waits until a node serves the token: requests are confirmed, so that is at once.
func (p *prober) awaitKnown(t *testing.T, addr string) {
	t.Helper()
	if status, body := p.ask(t.Context(), addr, 0); status != 200 {
		t.Fatalf("%s: %d %s", addr, status, body)
	}
}

// ask sends one probe. A stream ends as soon as it has begun.
func (p *prober) ask(ctx context.Context, addr string, n int) (status int, body string) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	probe := probes[n]
	r, err := http.NewRequestWithContext(ctx, probe.method, "http://"+addr+p.path+probe.target, strings.NewReader(probe.body))
	if err != nil {
		return 0, err.Error()
	}
	name, value, _ := strings.Cut(probe.header, ": ")
	r.Header.Set(name, value)
	r.Header.Set("Authorization", "Bearer "+p.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	if res.Header.Get("Content-Type") == "text/event-stream" {
		return res.StatusCode, ""
	}
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}

func (p *prober) run(t *testing.T, node int, addr string, n int) {
	for !p.over.Load() {
		late := p.voided.Load()
		status, body := p.ask(context.Background(), addr, n)
		switch {
		case status != 200 && late:
			p.refused[node].Add(1)
		case status == 200 && late:
			t.Errorf("node %d answered %s %s (%s) by a void token: %s", node, probes[n].method, probes[n].target, probes[n].header, body)
			return
		case status == 200:
			p.answered[node].Add(1)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// revoke makes the request until it is acknowledged: there may be a leader to be found.
func (p *prober) revoke(t *testing.T, g *gateway, method, target, body, token string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		a := g.ask(t, method, target, body, auth(token))
		if a.status == 200 {
			p.voided.Store(true)
			return
		}
		if time.Now().After(end) {
			p.over.Store(true)
			t.Fatalf("%s %s: %+v", method, target, a)
		}
	}
}

// finish waits until every node has refused enough, and ends the probes.
func (p *prober) finish(t *testing.T, cut int) {
	t.Helper()
	const enough = 50
	end := time.Now().Add(time.Minute)
	for i := range p.refused {
		for p.refused[i].Load() < enough && !t.Failed() && time.Now().Before(end) {
			time.Sleep(5 * time.Millisecond)
		}
	}
	p.over.Store(true)
	p.wg.Wait()
	for i := range p.refused {
		t.Logf("node %d (cut off: %v): %d answers before, %d refusals after", i, i == cut, p.answered[i].Load(), p.refused[i].Load())
		if p.refused[i].Load() < enough && !t.Failed() {
			t.Errorf("node %d did not refuse enough", i)
		}
	}
}
