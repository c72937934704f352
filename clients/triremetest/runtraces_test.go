package triremetest_test

import (
	"context"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/trireme-dev/trireme/clients/triremetest"
	"github.com/trireme-dev/trireme/workflow"
)

// TestTracesOfRuns: a run is one span, with its steps and all attempts below it; no parent is missing.
func TestTracesOfRuns(t *testing.T) {
	c := &collector{spans: map[string]*trace.Span{}}
	server := httptest.NewServer(c)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	s := triremetest.StartProcess(t)
	sink := s.Sink("third")
	sink.Script(t, triremetest.Reply{Status: 500}, triremetest.Reply{Status: 200, Body: "ok"})
	e := workflow.Handler(workflow.Options{URL: s.URL, Token: s.MessagesToken}, workflow.New("flow", func(c *workflow.Context, _ []byte) (int, error) {
		number := func(n int) func(context.Context) (int, error) {
			return func(context.Context) (int, error) { return n, nil }
		}
		workflow.Run(c, "one", number(1))
		workflow.Run(c, "two", number(2))
		workflow.Sleep(c, "nap", time.Hour)
		_, err := workflow.Call(c, "ask", workflow.Request{URL: sink.URL, Method: "POST", Retries: 2, RetryDelay: "50"})
		return workflow.Run(c, "last", number(3)), err
	}))
	var mu sync.Mutex
	var sent []string
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		sent = append(sent, r.Header.Get("traceparent"))
		mu.Unlock()
		e.ServeHTTP(w, r)
	}))
	defer app.Close()
	publish(t, s, "/v2/trigger/"+app.URL+"/flow", "{}", nil)
	s.WaitIdle(t)
	s.Advance(t, 2*time.Hour)
	names := func() (n map[string]int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		n = map[string]int{}
		for _, s := range c.spans {
			n[s.Name]++
		}
		return n
	}
	for deadline := time.Now().Add(time.Minute); names()["workflow run"] == 0 || names()["POST"] < 9; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%v", names())
		}
	}
	if n := names(); n["step Run"] != 3 || n["step SleepFor"] != 1 || n["step Call"] != 1 || n["workflow run"] != 1 {
		t.Errorf("%v", n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	roots, id := 0, ""
	for key, s := range c.spans {
		if id == "" {
			id = hex.EncodeToString(s.TraceId)
		}
		if hex.EncodeToString(s.TraceId) != id {
			t.Errorf("%s %s belongs to another trace", key, s.Name)
		}
		if len(s.ParentSpanId) == 0 {
			roots++
		} else if c.spans[hex.EncodeToString(s.ParentSpanId)] == nil {
			t.Errorf("%s %s has no parent", key, s.Name)
		}
		if s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%s %s ends before it begins", key, s.Name)
		}
	}
	if roots != 1 {
		t.Errorf("%d roots", roots)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, h := range sent {
		if !strings.HasPrefix(h, "00-"+id) || c.spans[h[36:52]] == nil {
			t.Errorf("the endpoint got %q", h)
		}
	}
}
