package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/internal/otlp"
	"github.com/trireme-dev/trireme/node/audit"
	"github.com/trireme-dev/trireme/node/tracing"
)

// lines is a log that is written and read by different goroutines.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String returns what was logged since the last take.
func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// take returns what was logged since the last call.
func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}

func logged(t *testing.T, level slog.Level) (*gateway, *lines) {
	log := &lines{}
	g := newGateway(t, func(o *httpapi.Options) {
		o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level}))
	})
	return g, log
}

func TestFailuresAreLoggedWithTheirID(t *testing.T) {
	g, log := logged(t, slog.LevelInfo)
	g.ask(t, "GET", "/set/k/v", "")
	g.ask(t, "GET", "/nosuch", "")
	g.settle(t)
	if out := log.take(); out != "" {
		t.Errorf("requests in order are logged at info: %s", out)
	}
	g.engine.FailWrites(fsm.ErrUnknown, true)
	a := g.ask(t, "GET", "/set/k/v", "", "X-Request-Id: mine-17")
	g.settle(t)
	if out := log.take(); a.header.Get("X-Request-Id") != "mine-17" || !strings.Contains(out, "id=mine-17") || !strings.Contains(out, "status=503") || !strings.Contains(out, "command=set") {
		t.Errorf("%v, log: %s", a.header, out)
	}
	a = g.ask(t, "GET", "/set/k/v", "")
	id := a.header.Get("X-Request-Id")
	g.settle(t)
	if out := log.take(); id == "" || !strings.Contains(out, "id="+id) {
		t.Errorf("%v, log: %s", a.header, out)
	}
}

// settle returns when earlier requests of the connection have been logged: the next one
// on it begins after that.
func (g *gateway) settle(t *testing.T) {
	t.Helper()
	for range 2 {
		g.ask(t, "GET", "/livez", "")
	}
}

func TestRequestIDs(t *testing.T) {
	g := newGateway(t)
	for given, back := range map[string]string{"abc-123": "abc-123", "": "", strings.Repeat("x", 128): strings.Repeat("x", 128), strings.Repeat("x", 129): "", "a b": "", "é": ""} {
		if a := g.ask(t, "GET", "/ping", "", "X-Request-Id: "+given); a.header.Get("X-Request-Id") != back {
			t.Errorf("%q came back as %q", given, a.header.Get("X-Request-Id"))
		}
	}
}

// Neither tokens nor keys and values may reach a log, at any level.
func TestLogsHoldNoSecrets(t *testing.T) {
	g, log := logged(t, slog.LevelDebug)
	g.ask(t, "GET", "/set/secret-key/secret-value?_token="+httpapitest.Token, "", "Authorization:")
	g.ask(t, "POST", "/", `["SET","secret-key","secret-value"]`)
	g.ask(t, "POST", "/?_token=secret-wrong", `["SET","secret-key","secret-value"]`)
	g.ask(t, "POST", "/pipeline", `[["secret-command"],["SET","secret-key","secret-value"]]`)
	g.engine.FailWrites(fmt.Errorf("a failure"), true)
	g.ask(t, "POST", "/set/secret-key?_token="+httpapitest.Token, "secret-value")
	g.ask(t, "GET", "/admin/cluster?_token="+httpapitest.AdminToken, "")
	g.settle(t)
	out := log.take()
	if strings.Count(out, "http request") < 6 {
		t.Errorf("requests are missing: %s", out)
	}
	for _, secret := range []string{"secret", httpapitest.Token, httpapitest.AdminToken} {
		if strings.Contains(out, secret) {
			t.Errorf("%s stands in the log:\n%s", secret, out)
		}
	}
}

// TestLogsNameRoutes asks every path that is described, with a secret wherever a path or a query can hold one: credentials and
// tokens of a destination, an event's name, a webhook. The engine fails, so that the requests are logged, at every level, and
// recorded: lines name the route, and no line, record or metric has the secret. A path is added by being described.
func TestLogsNameRoutes(t *testing.T) {
	log, spans := &lines{}, &lines{}
	registry := prometheus.NewRegistry()
	g := newGateway(t, func(o *httpapi.Options) {
		o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		o.Messages, o.Metrics = &messages.Parser{Prefixes: []string{"Svc", "Upstash"}}, registry
		o.Traces = &tracing.Commands{Export: func(s otlp.Span) { fmt.Fprintf(spans, "%+v\n", s) }, Ratio: 1, Table: command.NewTable()}
		var err error
		if o.Audit, err = audit.Open(audit.ToLog, "n1", o.Log, registry); err != nil {
			t.Fatal(err)
		}
	})
	for _, failed := range []error{fsm.ErrUnknown, fsm.ErrNoLeader} {
		g.engine.FailWrites(failed, false)
		g.engine.FailReads(failed)
		asked := 0
		for _, one := range describedPaths(t) {
			if strings.HasSuffix(one, "/export") || strings.HasPrefix(one, "/admin") && strings.HasSuffix(one, "/messages") { // which break off
				continue
			}
			target := strings.NewReplacer("{destination}", "https://user:secret@secret.example/secret?token=secret", "{name}", "name", "{id}", "1").Replace(one)
			target = regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(target, "secret")
			prefixes := []string{""}
			if !strings.HasPrefix(one, "/admin") {
				prefixes = append(prefixes, "/db/default")
			}
			for _, prefix := range prefixes {
				for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
					mark := "?"
					if strings.Contains(target, "?") {
						mark = "&"
					}
					for _, query := range []string{"", mark + "messageId=secret&url=https://user:secret@secret.example", mark + "_token=secret"} {
						body := ""
						if method == "POST" || method == "PUT" {
							body = `{"note":"secret","endpoints":[{"name":"a","url":"https://user:secret@secret.example"}]}`
						}
						g.send(t, method, prefix+target+query, body, "Authorization: Bearer "+httpapitest.AdminToken)
						asked++
					}
				}
			}
		}
		g.settle(t)
		out := log.take()
		for _, route := range []string{"route=/v2/publish/{destination}", "route=/db/{database}/v2/publish/{destination}", "route=/v2/enqueue/{queue}/{destination}", "route=/admin/databases/:name"} {
			if !strings.Contains(out, route) {
				t.Errorf("%v: no line has %s", failed, route)
			}
		}
		if n := strings.Count(out, "request failed"); n < asked/20 || strings.Count(out, "http request") < asked {
			t.Errorf("%v: %d requests, %d lines say that one failed", failed, asked, n)
		}
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out + spans.take() + fmt.Sprint(families)) {
			if strings.Contains(line, "secret") || strings.Contains(line, "user:") {
				t.Errorf("%v: a secret is in %s", failed, line)
			}
		}
	}
}

// describedPaths returns the paths of both descriptions.
func describedPaths(t *testing.T) (list []string) {
	t.Helper()
	var admin struct{ Paths map[string]any }
	text, err := os.ReadFile("openapi.json")
	if err != nil || json.Unmarshal(text, &admin) != nil {
		t.Fatal(err)
	}
	list = slices.Sorted(maps.Keys(admin.Paths))
	if text, err = os.ReadFile("messages/openapi.yaml"); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^  (/\S+):$`).FindAllSubmatch(text, -1) {
		list = append(list, string(m[1]))
	}
	if len(list) < 70 {
		t.Fatalf("%d paths are described: %v", len(list), list)
	}
	return list
}

// TestAuditShowsNumbers: records show the new values of changes, and only texts that can't be secrets.
func TestAuditShowsNumbers(t *testing.T) {
	log := &lines{}
	g := newGateway(t, func(o *httpapi.Options) {
		o.Log = slog.New(slog.NewTextHandler(log, nil))
		var err error
		if o.Audit, err = audit.Open(audit.ToLog, "n1", o.Log, prometheus.NewRegistry()); err != nil {
			t.Fatal(err)
		}
	})
	for _, ask := range []struct{ method, target, body, want string }{
		{"POST", "/admin/databases", `{"name":"shop"}`, `{"name":"shop"}`},
		{"POST", "/admin/databases/shop/settings", `{"maxMemory":1048576}`, `{"maxMemory":1048576}`},
		{"POST", "/admin/databases/shop/settings", `{"maxMemory":"secret"}`, `{"maxMemory":"(hidden)"}`},
		{"POST", "/admin/databases/shop/settings", `{"maxMemory":{"secret":["secret"]}}`, `{"maxMemory":"(hidden)"}`},
		{"POST", "/admin/databases/shop/settings", `{"secret":1}`, ""},
		{"POST", "/admin/databases/shop/rotate-tokens", `{"overlapMs":1000,"token":"secret-0123456789-abcdefghijklmnop"}`, `{"overlapMs":1000,"token":"(hidden)"}`},
		{"POST", "/admin/databases/shop/reset-password", `{"note":"secret"}`, ""},
	} {
		g.send(t, ask.method, ask.target, ask.body, "Authorization: Bearer "+httpapitest.AdminToken)
		g.settle(t)
		out := log.take()
		detail := ""
		if ask.want != "" {
			detail = "detail=" + fmt.Sprintf("%q", ask.want)
		}
		if !strings.Contains(out, "msg=audit") || !strings.Contains(out, detail) || detail == "" && strings.Contains(out, "detail=") {
			t.Errorf("%s %s: %s, want %s", ask.target, ask.body, out, detail)
		}
		if strings.Contains(strings.ReplaceAll(out, `unknown field \"secret\"`, ""), "secret") {
			t.Errorf("%s %s: a secret is in %s", ask.target, ask.body, out)
		}
	}
}
