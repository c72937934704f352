package observe

import (
	"math"
	"sync"
	"sync/atomic"

	gometrics "github.com/hashicorp/go-metrics"
	"github.com/prometheus/client_golang/prometheus"
)

// librarySink collects the metrics of raft and memberlist for Prometheus. They report some twenty times for each log entry. The sink that comes
// with go-metrics estimates three quantiles of every sample, which took a tenth of a
// follower's processor time; this one keeps count and sum.
type librarySink struct {
	mu     sync.RWMutex
	series map[string]*series // by kind, name and labels
	kinds  map[string]kind    // by name: Prometheus takes one kind a name
}

type kind byte

const (
	gaugeKind kind = 'g'
	countKind kind = 'c'
	sumKind   kind = 's'
)

// series is one metric with its labels.
type series struct {
	kind   kind
	desc   *prometheus.Desc
	values []string      // of the labels
	bits   atomic.Uint64 // of a float64: the gauge, the count or the sum
	count  atomic.Uint64 // of samples
}

func newLibrarySink() *librarySink {
	return &librarySink{series: map[string]*series{}, kinds: map[string]kind{}}
}

var (
	_ gometrics.MetricSink               = (*librarySink)(nil)
	_ gometrics.PrecisionGaugeMetricSink = (*librarySink)(nil)
	_ prometheus.Collector               = (*librarySink)(nil)
)

// Describe sends nothing: names are known only when they are first reported.
func (s *librarySink) Describe(chan<- *prometheus.Desc) {}

// Collect sends every series that was reported.
func (s *librarySink) Collect(out chan<- prometheus.Metric) {
	s.mu.RLock()
	all := make([]*series, 0, len(s.series))
	for _, m := range s.series { // unordered: the registry sorts
		all = append(all, m)
	}
	s.mu.RUnlock()
	for _, m := range all {
		v := math.Float64frombits(m.bits.Load())
		switch m.kind {
		case gaugeKind:
			out <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, v, m.values...)
		case countKind:
			out <- prometheus.MustNewConstMetric(m.desc, prometheus.CounterValue, v, m.values...)
		case sumKind:
			out <- prometheus.MustNewConstSummary(m.desc, m.count.Load(), v, nil, m.values...)
		}
	}
}

// get finds a series, which it makes at the first report. It is nil if the name is taken by a series of another kind.
func (s *librarySink) get(k kind, key []string, labels []gometrics.Label) *series {
	var room [128]byte
	id := append(room[:0], byte(k))
	for _, part := range key {
		id = append(append(id, part...), 0)
	}
	for _, l := range labels {
		id = append(append(append(append(id, 1), l.Name...), 0), l.Value...)
	}
	s.mu.RLock()
	m, known := s.series[string(id)]
	s.mu.RUnlock()
	if known {
		return m
	}
	return s.make(k, string(id), key, labels)
}

func (s *librarySink) make(k kind, id string, key []string, labels []gometrics.Label) *series {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, known := s.series[id]; known {
		return m
	}
	name := metricName(key)
	if taken, known := s.kinds[name]; known && taken != k {
		return nil
	}
	s.kinds[name] = k
	m := &series{kind: k}
	var names []string
	for _, l := range labels {
		names = append(names, metricName([]string{l.Name}))
		m.values = append(m.values, l.Value)
	}
	m.desc = prometheus.NewDesc(name, "Reported by a library; samples are in milliseconds unless the name says otherwise.", names, nil)
	s.series[id] = m
	return m
}

// metricName joins the parts of a key and replaces what Prometheus has no place for.
func metricName(key []string) string {
	var b []byte
	for i, part := range key {
		if i > 0 {
			b = append(b, '_')
		}
		for _, c := range []byte(part) {
			if c != '_' && c != ':' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
				c = '_'
			}
			b = append(b, c)
		}
	}
	return string(b)
}

func (s *series) set(v float64) {
	if s != nil {
		s.bits.Store(math.Float64bits(v))
	}
}

func (s *series) add(v float64) {
	if s == nil {
		return
	}
	for {
		old := s.bits.Load()
		if s.bits.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+v)) {
			break
		}
	}
	s.count.Add(1)
}

func (s *librarySink) SetGauge(key []string, v float32) {
	s.get(gaugeKind, key, nil).set(float64(v))
}

func (s *librarySink) SetGaugeWithLabels(key []string, v float32, labels []gometrics.Label) {
	s.get(gaugeKind, key, labels).set(float64(v))
}

func (s *librarySink) SetPrecisionGauge(key []string, v float64) {
	s.get(gaugeKind, key, nil).set(v)
}

func (s *librarySink) SetPrecisionGaugeWithLabels(key []string, v float64, labels []gometrics.Label) {
	s.get(gaugeKind, key, labels).set(v)
}

// EmitKey is not used by these libraries; Prometheus has no such type.
func (s *librarySink) EmitKey([]string, float32) {}

func (s *librarySink) IncrCounter(key []string, v float32) {
	s.get(countKind, key, nil).add(float64(v))
}

func (s *librarySink) IncrCounterWithLabels(key []string, v float32, labels []gometrics.Label) {
	s.get(countKind, key, labels).add(float64(v))
}

func (s *librarySink) AddSample(key []string, v float32) {
	s.get(sumKind, key, nil).add(float64(v))
}

func (s *librarySink) AddSampleWithLabels(key []string, v float32, labels []gometrics.Label) {
	s.get(sumKind, key, labels).add(float64(v))
}
