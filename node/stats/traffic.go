package stats

import (
	"slices"
	"sync"
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

// maxSeries is the most databases that have metrics of their own; Others is the name under which all others are added up. No
// database has such a name.
const (
	maxSeries = 200
	Others    = "(others)"
)

// collector shows the traffic of the databases that there are.
type collector struct {
	node  *Node
	there func(names []string) []string

	mu     sync.Mutex
	placed map[string]bool // by name, the databases that were shown: whether they have metrics of their own
	own    int             // how many have
}

// Collector returns the metrics of the calls, by database and protocol. there returns those of some names that are names of
// databases: what was counted of one that is deleted is not shown any more. The first maxSeries databases that are called have metrics
// of their own, until they are deleted; those of the others are added up, so that a cluster of many databases can be monitored.
func (n *Node) Collector(there func(names []string) []string) prometheus.Collector {
	return &collector{node: n, there: there, placed: map[string]bool{}}
}

// Describe names the metrics.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	out <- durationDesc
	out <- errorsDesc
}

// Collect reads the counters.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	c.node.dbs.Range(func(name, _ any) bool {
		names = append(names, name.(string))
		return true
	})
	slices.Sort(names)
	there := c.there(slices.Clone(names))
	var others [len(originNames)]traffic
	for _, name := range names {
		v, known := c.node.dbs.Load(name)
		if !known {
			continue
		}
		d := v.(*Database)
		if _, found := slices.BinarySearch(there, name); !found {
			c.forget(d)
			continue
		}
		if !d.wasCalled() {
			continue
		}
		own, known := c.placed[name]
		if !known {
			if own = c.own < maxSeries; own {
				c.own++
			}
			c.placed[name] = own
		}
		for i := range d.traffic {
			if own {
				d.traffic[i].collect(out, name, originNames[i])
			} else {
				others[i].add(&d.traffic[i])
			}
		}
	}
	for i := range others {
		others[i].add(&c.node.gone[i])
		others[i].collect(out, Others, originNames[i])
	}
}

// forget forgets a database that is deleted. What it has counted stays in the sum of the others if it was in it.
func (c *collector) forget(d *Database) {
	own, known := c.placed[d.name]
	switch {
	case own:
		c.own--
	case known:
		for i := range d.traffic {
			c.node.gone[i].add(&d.traffic[i])
		}
	}
	delete(c.placed, d.name)
	c.node.dbs.Delete(d.name)
}

// wasCalled reports whether anything was counted.
func (d *Database) wasCalled() bool {
	for i := range d.traffic {
		if d.traffic[i].calls.Load() > 0 || d.traffic[i].errors.Load() > 0 {
			return true
		}
	}
	return false
}

// add adds what another one has counted.
func (t *traffic) add(o *traffic) {
	t.calls.Add(o.calls.Load())
	t.errors.Add(o.errors.Load())
	t.nanos.Add(o.nanos.Load())
	for i := range t.histogram {
		t.histogram[i].Add(o.histogram[i].Load())
	}
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
