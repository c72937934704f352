package triremetest_test

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/trireme-dev/trireme/clients/triremetest"
)

// collector takes spans as an OpenTelemetry collector does, and keeps them by their ids.
type collector struct {
	mu    sync.Mutex
	spans map[string]*trace.Span
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var d trace.TracesData
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		return
	}
	if body, err := io.ReadAll(z); err != nil || proto.Unmarshal(body, &d) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range d.ResourceSpans {
		for _, in := range of.ScopeSpans {
			for _, s := range in.Spans {
				c.spans[hex.EncodeToString(s.SpanId)] = s
			}
		}
	}
}

// TestTraces: the attempts of a message are spans below that of its publication, which is one below the publisher's; the
// destination gets the id of the span of each attempt.
func TestTraces(t *testing.T) {
	c := &collector{spans: map[string]*trace.Span{}}
	server := httptest.NewServer(c)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	s := triremetest.StartProcess(t)
	sink := s.Sink("traced")
	sink.Script(t, triremetest.Reply{Status: 500}, triremetest.Reply{Status: 200})
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	publish(t, s, "/v2/publish/"+sink.URL, "x", map[string]string{"traceparent": "00-" + id + "-00f067aa0ba902b7-01", "Upstash-Retries": "1", "Upstash-Retry-Delay": "1000"})
	s.Advance(t, time.Minute)
	got := sink.Received(t)
	if len(got) != 2 {
		t.Fatalf("%d deliveries", len(got))
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c.mu.Lock()
		n := len(c.spans)
		c.mu.Unlock()
		if n >= 3 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d spans", n)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range got {
		header := r.Header.Get("traceparent")
		if len(header) != 55 || header[:36] != "00-"+id+"-" {
			t.Fatalf("traceparent %q", header)
		}
		a := c.spans[header[36:52]]
		if a == nil || hex.EncodeToString(a.TraceId) != id || a.Kind != trace.Span_SPAN_KIND_CLIENT {
			t.Fatalf("attempt %d: %v", i, a)
		}
		if failed := a.Status.GetCode() == trace.Status_STATUS_CODE_ERROR; failed != (i == 0) {
			t.Errorf("attempt %d: %v", i, a)
		}
		p := c.spans[hex.EncodeToString(a.ParentSpanId)]
		if p == nil || p.Kind != trace.Span_SPAN_KIND_PRODUCER || hex.EncodeToString(p.ParentSpanId) != "00f067aa0ba902b7" {
			t.Errorf("the publication: %v", p)
		}
	}
	if len(c.spans) != 3 {
		t.Errorf("%d spans: %v", len(c.spans), c.spans)
	}
}
