package otlp

import (
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/trireme-dev/trireme/internal/testgate"
)

func env(v map[string]string) func(string) string { return func(name string) string { return v[name] } }

func TestVariables(t *testing.T) {
	c, err := ReadConfig(env(map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/base/", "OTEL_EXPORTER_OTLP_HEADERS": "a=1,b=x%20y", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "a=2",
		"OTEL_EXPORTER_OTLP_TIMEOUT": "250", "OTEL_SERVICE_NAME": "mine", "OTEL_RESOURCE_ATTRIBUTES": "service.name=other,zone=1",
		"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.25", "OTEL_BSP_MAX_QUEUE_SIZE": "7",
	}))
	if err != nil || c.Endpoint != "http://collector:4318/base/v1/traces" || c.Timeout != 250*time.Millisecond || c.Queue != 7 || c.Sampler != (Sampler{false, 0.25}) {
		t.Errorf("%+v, %v", c, err)
	}
	if want := map[string]string{"a": "2", "b": "x y"}; !maps.Equal(c.Headers, want) {
		t.Error(c.Headers)
	}
	if want := map[string]string{"service.name": "mine", "zone": "1"}; !maps.Equal(c.Resource, want) {
		t.Error(c.Resource)
	}
	if c, err = ReadConfig(env(map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://c/x", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://d"})); err != nil || c.Endpoint != "https://c/x" || !c.Sampler.Parent || c.Sampler.Ratio != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, off := range []map[string]string{{}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://d", "OTEL_SDK_DISABLED": "true"}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://d", "OTEL_TRACES_EXPORTER": "none"}} {
		if c, err := ReadConfig(env(off)); err != nil || c.Endpoint != "" {
			t.Errorf("%v: %+v, %v", off, c, err)
		}
	}
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_COMPRESSION": "zstd", "OTEL_EXPORTER_OTLP_TIMEOUT": "soon",
		"OTEL_EXPORTER_OTLP_HEADERS": "a", "OTEL_TRACES_SAMPLER": "sometimes", "OTEL_BSP_MAX_QUEUE_SIZE": "0",
	} {
		if _, err := ReadConfig(env(map[string]string{name: value})); err == nil {
			t.Errorf("%s=%s is taken", name, value)
		}
	}
}

func TestSampler(t *testing.T) {
	low, high := TraceID{15: 1}, TraceID{8: 0xff, 15: 1}
	for _, c := range []struct {
		s               Sampler
		id              TraceID
		remote, sampled bool
		want            bool
	}{
		{Sampler{true, 1}, high, false, false, true}, {Sampler{true, 1}, high, true, false, false}, {Sampler{true, 0}, high, true, true, true},
		{Sampler{false, 0}, low, true, true, false}, {Sampler{false, 0.5}, low, true, false, true}, {Sampler{false, 0.5}, high, true, true, false},
	} {
		if got := c.s.Sample(c.id, c.remote, c.sampled); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func valueOf(t *testing.T, c prometheus.Collector) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	all, err := r.Gather()
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	return all[0].Metric[0].Counter.GetValue()
}

func newExporter(t *testing.T, endpoint string, queue int) *Exporter {
	t.Helper()
	c, err := ReadConfig(env(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}))
	if err != nil {
		t.Fatal(err)
	}
	c.Queue, c.Delay = queue, time.Millisecond
	e, err := New(c, map[string]string{"service.name": "trireme"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestExport checks that a collector that decodes with the types of OTLP receives the spans that were exported, also after
// an answer that asks for another attempt, and that waiting spans are sent before the end.
func TestExport(t *testing.T) {
	got := make(chan *trace.TracesData, 10)
	refused := make(chan struct{}, 1)
	refused <- struct{}{}
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-refused:
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		default:
		}
		z, err := gzip.NewReader(r.Body)
		if err != nil || r.Header.Get("Content-Encoding") != "gzip" || r.Header.Get("Content-Type") != "application/x-protobuf" || r.URL.Path != "/v1/traces" {
			t.Errorf("%v %v %s", err, r.Header, r.URL)
			return
		}
		body, _ := io.ReadAll(z)
		var d trace.TracesData
		if err := proto.Unmarshal(body, &d); err != nil {
			t.Error(err)
		}
		got <- &d
	}))
	defer collector.Close()
	e := newExporter(t, collector.URL, 100)
	e.Export(Span{Trace: TraceID{1}, ID: SpanID{2}, Parent: SpanID{3}, Link: SpanID{4}, State: "a=1", Name: "n", Kind: Client, Start: time.Unix(1, 0), End: time.Unix(2, 0),
		Attributes: []Attribute{Text("t", "x"), Number("n", 7)}, Failed: true, Error: "why"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e.Close(ctx)
	d := <-got
	if name := d.ResourceSpans[0].Resource.Attributes[0]; name.Key != "service.name" || name.Value.GetStringValue() != "trireme" {
		t.Error(name)
	}
	s := d.ResourceSpans[0].ScopeSpans[0].Spans[0]
	if s.TraceId[0] != 1 || s.SpanId[0] != 2 || s.ParentSpanId[0] != 3 || s.Links[0].SpanId[0] != 4 || s.TraceState != "a=1" || s.Kind != trace.Span_SPAN_KIND_CLIENT ||
		s.StartTimeUnixNano != 1e9 || s.EndTimeUnixNano != 2e9 || s.Attributes[1].Value.GetIntValue() != 7 || s.Status.Code != trace.Status_STATUS_CODE_ERROR || s.Status.Message != "why" {
		t.Error(s)
	}
	if n := valueOf(t, e.sent); n != 1 {
		t.Error(n, "exported")
	}
}

// TestSlowCollector: nobody waits for one that does not answer; what does not fit is counted.
func TestSlowCollector(t *testing.T) {
	release := testgate.New(t)
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { release.Wait() }))
	t.Cleanup(collector.Close)
	e := newExporter(t, collector.URL, 10)
	const all = 10_000
	for range all {
		e.Export(Span{})
	}
	if n := valueOf(t, e.dropped); n < all-10-2*defaultBatch {
		t.Error(n, "dropped")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	e.Close(ended)
	if n := valueOf(t, e.dropped); n+float64(len(e.queue)) < all {
		t.Errorf("%v of %v dropped, %d left", n, all, len(e.queue))
	}
}
