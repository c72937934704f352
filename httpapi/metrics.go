package httpapi

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/httpapi/fastpath"
	"github.com/trireme-dev/trireme/internal/buffered"
)

// kind classifies requests for metrics.
type kind uint8

const (
	kindOther kind = iota // refused before it was known
	kindPath
	kindBody
	kindPipeline
	kindTransaction
	kindStream
	kindPreflight
	kindOps // health, metrics, administration
	kinds
)

// requestKinds holds the labels of the kinds in metrics and logs, and for spans the paths of those that are commands, without
// arguments.
var requestKinds = [kinds]struct{ label, path string }{
	kindOther: {label: "other"}, kindPath: {"path", "/{command}"}, kindBody: {"body", "/"}, kindPipeline: {"pipeline", "/pipeline"},
	kindTransaction: {"multi-exec", "/multi-exec"}, kindStream: {"stream", "/{stream}"}, kindPreflight: {label: "preflight"}, kindOps: {label: "fixed"},
}

// statuses have a counter each; all others share one.
var statuses = []int{200, 400, 401, 403, 404, 405, 500, 503}

// metrics are the collectors of the edge, resolved beforehand: a request only adds to
// counters that it finds by index.
type metrics struct {
	requests [kinds][]prometheus.Counter
	duration [kinds]prometheus.Observer
	inFlight prometheus.Gauge
	received prometheus.Counter
	sent     prometheus.Counter
	commands prometheus.Counter
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "trireme_http_requests_total", Help: "HTTP requests answered, by kind and status."}, []string{"kind", "status"})
	duration := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "trireme_http_request_duration_seconds", Help: "Time from a request's header to its reply, by kind.",
		Buckets: prometheus.ExponentialBuckets(0.000125, 2, 18)}, []string{"kind"})
	m := &metrics{
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "trireme_http_requests_in_flight", Help: "HTTP requests being answered."}),
		received: prometheus.NewCounter(prometheus.CounterOpts{Name: "trireme_http_request_bytes_total", Help: "Bytes of request bodies read."}),
		sent:     prometheus.NewCounter(prometheus.CounterOpts{Name: "trireme_http_response_bytes_total", Help: "Bytes of response bodies written."}),
		commands: prometheus.NewCounter(prometheus.CounterOpts{Name: "trireme_http_commands_total", Help: "Commands in the requests answered; each row of a batch counts."}),
	}
	for _, c := range []prometheus.Collector{requests, duration, m.inFlight, m.received, m.sent, m.commands} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("httpapi: %w", err)
		}
	}
	for k := range kinds {
		for _, status := range statuses {
			m.requests[k] = append(m.requests[k], requests.WithLabelValues(requestKinds[k].label, fmt.Sprint(status)))
		}
		m.requests[k] = append(m.requests[k], requests.WithLabelValues(requestKinds[k].label, "other"))
		m.duration[k] = duration.WithLabelValues(requestKinds[k].label)
	}
	return m, nil
}

// watchMemory registers the metrics of the bytes of bodies and replies under way.
func watchMemory(r prometheus.Registerer, m *buffered.Budget) error {
	used := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "trireme_http_buffered_bytes", Help: "Bytes of requests and replies under way, over HTTP and RESP."},
		func() float64 { return float64(m.Used()) })
	if err := r.Register(used); err != nil {
		return fmt.Errorf("httpapi: %w", err)
	}
	return nil
}

// watchFastPath shows how many connections are on the fast path: the others are net/http's.
func watchFastPath(r prometheus.Registerer, l *fastpath.Server) error {
	const help = "HTTP connections all of whose requests were answered on the fast path."
	for name, help := range map[string]string{ // unordered: each is registered
		"trireme_http_fast_path_connections": help,
		"trireme_http_lane_connections":      "Former name of trireme_http_fast_path_connections.",
	} {
		open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(l.Open()) })
		if err := r.Register(open); err != nil {
			return fmt.Errorf("httpapi: %w", err)
		}
	}
	return nil
}

// slot returns the index of a status in requests.
func slot(status int) int {
	if status == http.StatusOK {
		return 0
	}
	for i, s := range statuses {
		if s == status {
			return i
		}
	}
	return len(statuses)
}

// count records one answered request.
func (m *metrics) count(k kind, status int, took time.Duration, received, sent, commands int) {
	m.requests[k][slot(status)].Inc()
	m.duration[k].Observe(took.Seconds())
	m.received.Add(float64(received))
	m.sent.Add(float64(sent))
	if commands > 0 {
		m.commands.Add(float64(commands))
	}
}
