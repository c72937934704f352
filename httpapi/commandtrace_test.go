package httpapi_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/internal/otlp"
	"github.com/trireme-dev/trireme/node/tracing"
)

// lockedBuffer is a log that a test reads while the server writes it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (lb *lockedBuffer) Write(p []byte) (int, error) {
	lb.mu.Lock()
	defer lb.mu.Unlock()
	return lb.b.Write(p)
}

func (lb *lockedBuffer) String() string {
	lb.mu.Lock()
	defer lb.mu.Unlock()
	return lb.b.String()
}

// tracedGateway records the spans of all requests.
func tracedGateway(t *testing.T) (g *gateway, next func() otlp.Span, log *lockedBuffer) {
	spans := make(chan otlp.Span, 100)
	log = &lockedBuffer{}
	g = newGateway(t, func(o *httpapi.Options) {
		o.Traces = &tracing.Commands{Export: func(s otlp.Span) { spans <- s }, Ratio: 1, Table: command.NewTable()}
		o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	return g, func() otlp.Span {
		t.Helper()
		select {
		case s := <-spans:
			return s
		case <-time.After(time.Minute):
			t.Fatal("no span")
			return otlp.Span{}
		}
	}, log
}

func attributesOf(s otlp.Span) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes {
		all[a.Key] = a.Text
		if a.Text == "" {
			all[a.Key] = fmt.Sprint(a.Number)
		}
	}
	return all
}

// TestSpansOfCommands: a request to the keyspace has a span and its commands have one below it, in the trace that the caller names,
// without any argument; the log names the same trace.
func TestSpansOfCommands(t *testing.T) {
	g, next, log := tracedGateway(t)
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, c := range []struct {
		method, path, body, route, name string
		want                            map[string]string
	}{
		{"POST", "/", `["SET","secret","v"]`, "/", "SET", map[string]string{}},
		{"GET", "/get/secret", "", "/{command}", "GET", map[string]string{}},
		{"POST", "/pipeline", `[["GET","secret"],["LPUSH","secret","v"]]`, "/pipeline", "BATCH", map[string]string{"db.operation.batch.size": "2", "error.type": "WRONGTYPE"}},
		{"POST", "/multi-exec", `[["GET","secret"],["GET","b"]]`, "/multi-exec", "BATCH GET", map[string]string{"db.operation.batch.size": "2"}},
	} {
		g.ask(t, c.method, c.path, c.body, "Traceparent: "+parent)
		run, served := next(), next()
		if run.Name != c.name || served.Name != c.method+" "+c.route || run.Kind != otlp.Internal || served.Kind != otlp.Serving {
			t.Errorf("%s: %s, %s", c.path, run.Name, served.Name)
		}
		if run.Parent != served.ID || run.Trace != served.Trace || fmt.Sprintf("%x", served.Trace) != parent[3:35] || fmt.Sprintf("%x", served.Parent) != parent[36:52] {
			t.Errorf("%s: run %+v, served %+v", c.path, run, served)
		}
		if a := attributesOf(served); a["http.response.status_code"] != "200" || a["http.request.method"] != c.method || a["http.route"] != c.route || a["client.address"] != "127.0.0.1" || a["url.scheme"] != "http" {
			t.Errorf("%s: %v", c.path, a)
		}
		for key, want := range c.want {
			if got := attributesOf(run)[key]; got != want {
				t.Errorf("%s: %s is %q, want %q", c.path, key, got, want)
			}
		}
		if text := fmt.Sprintf("%+v %+v", run, served); strings.Contains(text, "secret") {
			t.Errorf("an argument is in %s", text)
		}
		if line := "trace_id=" + parent[3:35] + fmt.Sprintf(" span_id=%x", served.ID); !strings.Contains(awaitLog(t, log, line), line) {
			t.Errorf("no %s in the log", line)
		}
	}
	// A request that is refused has no commands, and one of a trace that is not recorded no span.
	g.ask(t, "GET", "/get/k", "", "Traceparent: "+parent[:53]+"00")
	g.ask(t, "GET", "/get/k", "", "Authorization: Bearer wrong")
	if s := next(); s.Name != "GET" || attributesOf(s)["http.response.status_code"] != "401" || s.Failed {
		t.Errorf("%+v", s)
	}
}

// awaitLog returns the log once it has a text; the line of a request is written after its reply.
func awaitLog(t *testing.T, log *lockedBuffer, text string) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if all := log.String(); strings.Contains(all, text) || time.Now().After(deadline) {
			return all
		}
	}
}
