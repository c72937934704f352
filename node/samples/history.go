package samples

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/node/stats"
)

const (
	// Every is the time between two samples.
	Every = 10 * time.Second
	// Soon is the time until the first sample.
	Soon = 2 * time.Second
	// Kept is the number of samples that are kept: six hours.
	Kept = 6 * 3600 / 10
	// Coarse is the time of a coarse sample, KeptCoarse their number: seven days.
	Coarse     = 5 * time.Minute
	KeptCoarse = 7 * 24 * 12
)

// Sample holds the figures of one span of time. Rates are per second.
type Sample struct {
	// At is the end of the span in unix milliseconds.
	At int64
	// Commands counts commands of all transports; P50 and P99 are their times in milliseconds, 0 without any.
	Commands, P50, P99 float64
	// Requests counts requests over HTTP.
	Requests float64
	// Delivered and Failed are the delivery attempts of this node.
	Delivered, Failed float64
	// Messages counts kept messages, Dead dead letters, Runs active runs; Overdue is the time in
	// seconds for which the most overdue message has waited.
	Messages, Dead, Runs, Overdue float64
	// Memory is the logical memory of the keyspace, Resident that of the process, DiskFree
	// that of the data directory's disk, all in bytes.
	Memory, Resident, DiskFree float64
	// Databases are those with most commands and those with most memory.
	Databases []DatabaseFigures
}

// History keeps the newest samples.
type History struct {
	gather prometheus.Gatherer
	stats  *stats.Node
	now    func() time.Time

	mu      sync.Mutex
	largest func(n int) []DatabaseFigures // see SetLargest
	samples []Sample                      // the oldest first
	coarse  coarse
	busy    busy

	last    Sample // its counters are sums
	lastSum [command.Buckets]int64
	began   bool
}

// Question says what is read of a history.
type Question struct {
	Range     Range
	Databases bool // those with most commands and most memory, too
}

// databasesToo is behind the range of a Question that asks for databases.
const databasesToo = " databases"

// String is the question as another node understands it.
func (q Question) String() string {
	if q.Databases {
		return string(q.Range) + databasesToo
	}
	return string(q.Range)
}

// ParseQuestion reads what String has written.
func ParseQuestion(text string) (q Question, err error) {
	text, q.Databases = strings.CutSuffix(text, databasesToo)
	q.Range, err = ParseRange(text)
	return q, err
}

// Range is a time that a history is read for, until now.
type Range string

// The ranges. The shortest has a sample every ten seconds since the node was started, the others one every five minutes.
const (
	Hours Range = "6h"
	Day   Range = "24h"
	Week  Range = "7d"
)

// ParseRange reads the name of a range; empty text is Hours.
func ParseRange(text string) (Range, error) {
	switch of := Range(text); of {
	case "":
		return Hours, nil
	case Hours, Day, Week:
		return of, nil
	}
	return "", fmt.Errorf("range is 6h, 24h or 7d, got %q", text)
}

// New reads a registry and the counts of commands.
func New(gather prometheus.Gatherer, node *stats.Node) *History {
	return &History{gather: gather, stats: node, now: time.Now}
}

// Run takes samples until ctx ends. It calls failed with the reason if the file of Keep could not be written; samples are taken all the same.
func (h *History) Run(ctx context.Context, failed func(error)) {
	check := func(err error) {
		if err != nil {
			failed(err)
		}
	}
	h.Take()
	tick := time.NewTicker(Soon) // the console may be open
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			check(h.save())
			return
		case <-tick.C:
			tick.Reset(Every)
			if h.Take() {
				check(h.save())
			}
		}
	}
}

// Take takes a sample now. The first one only begins the counting. It reports whether a coarse sample is complete.
func (h *History) Take() (complete bool) {
	families, _ := h.gather.Gather() // what can't be gathered is missing from the sample
	total := Sample{At: h.now().UnixMilli()}
	for _, f := range families {
		total.add(f)
	}
	largest := h.largestDatabases()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy.begin()
	calls, histogram := h.stats.Sum(h.busy.count)
	total.Commands = float64(calls)
	before, was := h.last, h.lastSum
	h.last, h.lastSum = total, histogram
	if !h.began {
		h.began = true
		return false
	}
	seconds := float64(total.At-before.At) / 1000
	if seconds <= 0 {
		return false
	}
	s := total
	for _, rate := range []struct{ to, from *float64 }{
		{&s.Commands, &before.Commands}, {&s.Requests, &before.Requests}, {&s.Delivered, &before.Delivered}, {&s.Failed, &before.Failed},
	} {
		*rate.to = max(0, *rate.to-*rate.from) / seconds
	}
	for i := range histogram {
		histogram[i] = max(0, histogram[i]-was[i])
	}
	s.Databases = foremost(h.busy.figures(seconds, largest), KeptDatabases)
	s.P50, s.P99 = percentile(&histogram, 0.5), percentile(&histogram, 0.99)
	if h.samples = append(h.samples, s); len(h.samples) > Kept {
		h.samples = slices.Delete(h.samples, 0, 1)
	}
	return h.coarse.add(s)
}

// percentile is a time in milliseconds that the part q of the calls did not exceed.
func percentile(histogram *[command.Buckets]int64, q float64) float64 {
	var all, seen int64
	for _, n := range histogram {
		all += n
	}
	if all == 0 {
		return 0
	}
	for i, n := range histogram {
		if n == 0 {
			continue
		}
		if float64(seen+n) >= q*float64(all) {
			low, high := 0.0, math.Ldexp(1, i)
			if i > 0 {
				low = high / 2
			}
			return (low + (high-low)*(q*float64(all)-float64(seen))/float64(n)) / 1e6
		}
		seen += n
	}
	return 0
}

// add takes a metric into the sums.
func (s *Sample) add(f *dto.MetricFamily) {
	for _, m := range f.GetMetric() {
		v := m.GetGauge().GetValue() + m.GetCounter().GetValue()
		switch f.GetName() {
		case "trireme_http_requests_total":
			s.Requests += v
		case "trireme_attempts_total":
			if has(m, "outcome", "delivered") {
				s.Delivered += v
			} else {
				s.Failed += v
			}
		case "trireme_messages":
			s.Messages = v
		case "trireme_messages_due_seconds":
			s.Overdue = v
		case "trireme_dead_letters":
			s.Dead += v
		case "trireme_workflow_runs":
			if has(m, "state", "active") {
				s.Runs = v
			}
		case "trireme_logical_memory_bytes":
			s.Memory = v
		case "process_resident_memory_bytes":
			s.Resident = v
		case "trireme_disk_free_bytes":
			s.DiskFree = v
		}
	}
}

func has(m *dto.Metric, label, value string) bool {
	return slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == label && l.GetValue() == value })
}

// Columns are samples by column, the oldest first: what charts read. Times are unix
// milliseconds, rates per second, latencies milliseconds, ages seconds, sizes bytes.
type Columns struct {
	EverySeconds int       `json:"everySeconds"`
	Time         []int64   `json:"time"`
	Commands     []float64 `json:"commands"`
	P50          []float64 `json:"p50Ms"`
	P99          []float64 `json:"p99Ms"`
	Requests     []float64 `json:"requests"`
	Delivered    []float64 `json:"delivered"`
	Failed       []float64 `json:"failed"`
	Messages     []float64 `json:"messages"`
	Dead         []float64 `json:"deadLetters"`
	Runs         []float64 `json:"runs"`
	Overdue      []float64 `json:"overdueSeconds"`
	Memory       []float64 `json:"memoryBytes"`
	Resident     []float64 `json:"residentBytes"`
	DiskFree     []float64 `json:"diskFreeBytes"`
	// Databases are given only where they were asked for.
	Databases []DatabaseColumns `json:"databases,omitempty"`
}

// Read returns what is kept of a range.
func (h *History) Read(q Question) Columns {
	h.mu.Lock()
	defer h.mu.Unlock()
	samples, every := h.of(q.Range)
	c := columnsOf(samples, every)
	if q.Databases {
		c.Databases = databasesOf(samples, ShownDatabases)
	}
	return c
}

// of returns the samples of a range.
func (h *History) of(r Range) (samples []Sample, every time.Duration) {
	switch r {
	case Week:
		return h.coarse.all(), Coarse
	case Day:
		all, since := h.coarse.all(), h.now().Add(-24*time.Hour).UnixMilli()
		i := slices.IndexFunc(all, func(s Sample) bool { return s.At > since })
		return all[max(i, 0):], Coarse
	}
	return h.samples, Every
}

func columnsOf(samples []Sample, every time.Duration) Columns {
	c := Columns{EverySeconds: int(every / time.Second), Time: make([]int64, len(samples))}
	for _, column := range c.all(&Sample{}) {
		*column.of = make([]float64, len(samples))
	}
	for i := range samples {
		c.Time[i] = samples[i].At
		for _, column := range c.all(&samples[i]) {
			(*column.of)[i] = math.Round(*column.figure*1000) / 1000
		}
	}
	return c
}
