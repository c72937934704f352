package stats

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/fsm/command"
)

// The origins of calls, as metrics name them.
const (
	overHTTP = iota
	overRESP
)

var originNames = [...]string{overHTTP: "http", overRESP: "resp"}

// traffic counts the calls of one protocol since the node's start, and their time. Unlike the figures of INFO, no client can reset it.
type traffic struct {
	calls, errors, nanos atomic.Int64
	histogram            [command.Buckets]atomic.Int64
}

// count adds calls that took a share of the time each, of which some were answered with an error.
func (t *traffic) count(calls, errors int, share time.Duration) {
	t.calls.Add(int64(calls))
	t.nanos.Add(int64(share) * int64(calls))
	t.histogram[bucket(share)].Add(int64(calls))
	if errors > 0 {
		t.errors.Add(int64(errors))
	}
}

// trafficOf returns the traffic of a caller's protocol.
func (d *Database) trafficOf(by Caller) *traffic {
	if by.Addr == "" {
		return &d.traffic[overHTTP]
	}
	return &d.traffic[overRESP]
}

// The metrics of a node's commands. A bucket of the histogram ends at a power of two of nanoseconds: the first after 33 µs,
// the last after 8.6 s.
const (
	firstBucket = 15
	lastBucket  = 33
)

var (
	durationDesc = prometheus.NewDesc("trireme_command_duration_seconds", "Time of commands, by database and origin (http or resp); those of one request have an equal share of its time each.",
		[]string{"database", "origin"}, nil)
	errorsDesc = prometheus.NewDesc("trireme_command_errors_total", "Commands answered with an error, refused ones too, by database and origin (http or resp).", []string{"database", "origin"}, nil)
)

// collector shows the traffic of the databases that there are.
type collector struct {
	node  *Node
	there func() []string
}

// Collector returns the metrics of the calls, by database and protocol. there names the databases that there are: what was counted
// of one that is deleted is not shown any more.
func (n *Node) Collector(there func() []string) prometheus.Collector { return collector{n, there} }

// Describe names the metrics.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	out <- durationDesc
	out <- errorsDesc
}

// Collect reads the counters.
func (c collector) Collect(out chan<- prometheus.Metric) {
	names := c.there()
	c.node.dbs.Range(func(_, v any) bool {
		d := v.(*Database)
		if !slices.Contains(names, d.name) {
			return true
		}
		for i := range d.traffic {
			d.traffic[i].collect(out, d.name, originNames[i])
		}
		return true
	})
}

func (t *traffic) collect(out chan<- prometheus.Metric, labels ...string) {
	if t.calls.Load() == 0 && t.errors.Load() == 0 {
		return
	}
	// Read without a lock: the count is the sum of the buckets, so that both are of one moment.
	buckets, count := map[float64]uint64{}, uint64(0)
	for i := range t.histogram {
		count += uint64(t.histogram[i].Load())
		if i >= firstBucket && i <= lastBucket {
			buckets[time.Duration(1<<i).Seconds()] = count
		}
	}
	out <- prometheus.MustNewConstHistogram(durationDesc, count, time.Duration(t.nanos.Load()).Seconds(), buckets, labels...)
	out <- prometheus.MustNewConstMetric(errorsDesc, prometheus.CounterValue, float64(t.errors.Load()), labels...)
}
