package otlp

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
)

// Exporter sends spans in batches. Its methods are safe for use by many goroutines.
type Exporter struct {
	config   Config
	resource *resource.Resource
	client   *http.Client
	log      *slog.Logger

	queue chan Span
	// closing is closed when no more spans come, ended when all are dealt with.
	closing, ended chan struct{}
	stop           context.CancelFunc
	once           sync.Once

	sent, dropped prometheus.Counter
}

// Attempts at a batch, and the pause before the second; each later one is twice as long.
const (
	maxAttempts = 4
	firstPause  = 500 * time.Millisecond
)

// New makes an exporter and starts it. resource is added to what the variables say of this process.
func New(c Config, resource map[string]string, log *slog.Logger) (*Exporter, error) {
	all := maps.Clone(resource)
	maps.Copy(all, c.Resource)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if c.Certificate != "" {
		roots, err := os.ReadFile(c.Certificate)
		pool := x509.NewCertPool()
		if err != nil || !pool.AppendCertsFromPEM(roots) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %s contains no PEM certificate", c.Certificate)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	spans := func(outcome string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{
			Name: "trireme_trace_spans_total", Help: "Spans of traces, by whether a collector has taken them.", ConstLabels: prometheus.Labels{"outcome": outcome},
		})
	}
	ctx, stop := context.WithCancel(context.Background())
	e := &Exporter{
		config: c, resource: resourceOf(all), client: &http.Client{Transport: transport}, log: log,
		queue: make(chan Span, c.Queue), closing: make(chan struct{}), ended: make(chan struct{}), stop: stop, sent: spans("exported"), dropped: spans("dropped"),
	}
	go e.run(ctx)
	return e, nil
}

// Collectors are the exporter's metrics.
func (e *Exporter) Collectors() []prometheus.Collector {
	return []prometheus.Collector{e.sent, e.dropped}
}

// Export hands a span over. It never waits: with a full queue the span is dropped and counted.
func (e *Exporter) Export(s Span) {
	select {
	case e.queue <- s:
	default:
		e.dropped.Inc()
	}
}

// Close sends what waits, as long as ctx allows, and ends. What is exported later is lost.
func (e *Exporter) Close(ctx context.Context) {
	e.once.Do(func() { close(e.closing) })
	select {
	case <-e.ended:
	case <-ctx.Done():
	}
	e.stop()
	<-e.ended
	e.client.CloseIdleConnections()
}

func (e *Exporter) run(ctx context.Context) {
	defer close(e.ended)
	for first, ok := e.next(); ok; first, ok = e.next() {
		spans := e.batch(first)
		if e.send(ctx, spans) {
			e.sent.Add(float64(len(spans)))
		} else {
			e.dropped.Add(float64(len(spans)))
		}
	}
}

// next waits for a span; false if none will come.
func (e *Exporter) next() (s Span, ok bool) {
	select {
	case s = <-e.queue:
		return s, true
	case <-e.closing:
	}
	select {
	case s = <-e.queue:
		return s, true
	default:
		return s, false
	}
}

// batch takes the spans that come within the delay.
func (e *Exporter) batch(first Span) []Span {
	late := time.NewTimer(e.config.Delay)
	defer late.Stop()
	spans, closing := []Span{first}, e.closing
	for len(spans) < e.config.Batch {
		select {
		case one := <-e.queue:
			spans = append(spans, one)
			continue
		default:
		}
		if closing == nil {
			break
		}
		select {
		case one := <-e.queue:
			spans = append(spans, one)
		case <-closing:
			closing = nil // what is there already goes along
		case <-late.C:
			return spans
		}
	}
	return spans
}

// send sends a batch, a few times if that may help, and reports whether the collector has taken it.
func (e *Exporter) send(ctx context.Context, spans []Span) bool {
	body, err := encode(e.resource, spans, e.config.Plain)
	if err != nil {
		e.log.Warn("spans can't be encoded", "error", err)
		return false
	}
	for attempt, pause := 1, firstPause; ; attempt, pause = attempt+1, 2*pause {
		again, err := e.post(ctx, body)
		if err == nil {
			return true
		}
		if !again || attempt == maxAttempts || ctx.Err() != nil {
			e.log.Debug("spans were not exported", "count", len(spans), "error", err)
			return false
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// post makes one request; again says whether another one may do better.
func (e *Exporter) post(ctx context.Context, body []byte) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.config.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.config.Endpoint, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	if !e.config.Plain {
		r.Header.Set("Content-Encoding", "gzip")
	}
	for name, value := range e.config.Headers {
		r.Header.Set(name, value)
	}
	answer, err := e.client.Do(r)
	if err != nil {
		return true, err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, 64<<10) // so that the connection is used again
	again = slices.Contains([]int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, answer.StatusCode)
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		err = fmt.Errorf("the collector answered %s", answer.Status)
	}
	return again, err
}
