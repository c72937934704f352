package triremetest_test

import (
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/trireme-dev/trireme/clients/endpoint"
	"github.com/trireme-dev/trireme/clients/triremetest"
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
	e := endpoint.New(endpoint.Options{
		Node: func() string { return s.URL }, Token: s.MessagesToken,
		Workflows: map[string]endpoint.Workflow{"flow": func(c *endpoint.Context) any {
			c.Do(endpoint.Run("one", func() any { return 1 }))
			c.Do(endpoint.Run("two", func() any { return 2 }))
			c.Do(endpoint.Sleep("nap", time.Hour))
			c.Do(endpoint.Call("ask", "POST", sink.URL, "", 2))
			return c.Do(endpoint.Run("last", func() any { return 3 }))
		}},
	})
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
