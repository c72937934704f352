package scenario

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/trireme-dev/trireme/bench/internal/report"
)

// The parts of the rate that must be left with a collector that gets every trace, and with one that gets none.
const (
	allTracesLine = 0.90
	noTracesLine  = 0.99
)

// Traces measures the cost of exporting spans: deliveries a second of a node that exports every trace, of one that samples none, and of
// one without a collector.
func (b *Bench) Traces(ctx context.Context) []*report.Row {
	row := func(part, work string, line float64) *report.Row {
		return &report.Row{ID: "traces", Part: part, Work: "publish and deliver, " + work, Against: "no collector", Unit: "msg/s", Ratio: true, Line: line, AimAt: 1}
	}
	all, none := row("all", "every trace exported", allTracesLine), row("none", "a collector, no trace sampled", noTracesLine)
	spans, stop, url, err := drain()
	if err != nil {
		for _, r := range []*report.Row{all, none} {
			r.Fail(report.Failed, err)
		}
		return []*report.Row{all, none}
	}
	defer stop()
	collector := "OTEL_EXPORTER_OTLP_ENDPOINT=" + url
	off := b.tracing(ctx, "off")
	defer off.stop()
	full := b.tracing(ctx, "all", collector, "OTEL_TRACES_SAMPLER=always_on")
	defer full.stop()
	rare := b.tracing(ctx, "none", collector, "OTEL_TRACES_SAMPLER=always_off")
	defer rare.stop()
	b.rounds(ctx, off.subject, full.subject, rare.subject)
	compare(all, full.subject, off.subject, rate)
	compare(none, rare.subject, off.subject, rate)
	all.Note("the collector got %d MB, in the process that also publishes and receives", spans.Load()>>20)
	return []*report.Row{all, none}
}

// traced is a node and what it delivers.
type traced struct {
	*subject
	stop func()
}

// tracing starts a node with those variables.
func (b *Bench) tracing(ctx context.Context, name string, variables ...string) traced {
	defer func(was []string) { b.Env.Variables = was }(b.Env.Variables)
	b.Env.Variables = variables
	t, err := b.Env.StartNamed(ctx, "traces-"+name)
	if err != nil {
		return traced{&subject{name: name, err: err}, func() {}}
	}
	b.noteVersion(ctx, t)
	return traced{b.filling(ctx, "traces "+name, func(ctx context.Context, n int) (float64, error) { return b.deliver(ctx, t, n) }), b.stopping(t)}
}

// drain is a collector that reads what it gets and does nothing with it.
func drain() (got *atomic.Int64, stop func(), url string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, "", err
	}
	got = &atomic.Int64{}
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body) // a node that stops breaks it off
		got.Add(n)
	})}
	go server.Serve(listener)
	return got, func() { server.Close() }, "http://" + listener.Addr().String(), nil
}
