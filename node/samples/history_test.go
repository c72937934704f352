package samples

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/node/stats"
)

// node is the source of a history, with a clock that the test moves.
type node struct {
	registry *prometheus.Registry
	table    *command.Table
	stats    *stats.Node
	now      time.Time
	*History
}

func newNode() *node {
	table := command.NewTable()
	n := &node{registry: prometheus.NewRegistry(), table: table, stats: stats.New(table), now: time.UnixMilli(1_000_000)}
	n.History = New(n.registry, n.stats)
	n.History.now = func() time.Time { return n.now }
	return n
}

// after takes a sample so long after the one before.
func (n *node) after(d time.Duration) {
	n.now = n.now.Add(d)
	n.Take()
}

// calls counts commands that took so long each.
func (n *node) calls(count int, took time.Duration) {
	for range count {
		n.stats.In("default").Batch(n.table, [][][]byte{{[]byte("PING")}}, []reply.Value{reply.OK()}, took, stats.Caller{})
	}
}

// TestRatesAreBetweenSamples: counters become rates per second, gauges stay as they are.
func TestRatesAreBetweenSamples(t *testing.T) {
	n := newNode()
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "trireme_http_requests_total"}, []string{"kind"})
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "trireme_attempts_total"}, []string{"outcome"})
	runs := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "trireme_workflow_runs"}, []string{"state"})
	dead := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "trireme_dead_letters"}, []string{"of"})
	n.registry.MustRegister(requests, attempts, runs, dead)
	gauges := map[string]prometheus.Gauge{}
	for _, name := range []string{"trireme_messages", "trireme_messages_due_seconds", "trireme_logical_memory_bytes", "process_resident_memory_bytes", "trireme_disk_free_bytes", "trireme_unrelated"} {
		gauges[name] = prometheus.NewGauge(prometheus.GaugeOpts{Name: name})
		n.registry.MustRegister(gauges[name])
	}
	requests.WithLabelValues("path").Add(1000) // before the first sample: counts for nothing
	n.after(0)
	if got := n.Read(Question{Range: Hours}); len(got.Time) != 0 {
		t.Fatalf("the first sample is shown: %+v", got)
	}
	requests.WithLabelValues("path").Add(30)
	requests.WithLabelValues("body").Add(10)
	attempts.WithLabelValues("delivered").Add(20)
	attempts.WithLabelValues("failed").Add(4)
	attempts.WithLabelValues("lost").Add(2)
	runs.WithLabelValues("active").Set(5)
	runs.WithLabelValues("ended").Set(99)
	dead.WithLabelValues("messages").Set(2)
	dead.WithLabelValues("runs").Set(1)
	for i, name := range []string{"trireme_messages", "trireme_messages_due_seconds", "trireme_logical_memory_bytes", "process_resident_memory_bytes", "trireme_disk_free_bytes", "trireme_unrelated"} {
		gauges[name].Set(float64(100 + i))
	}
	n.calls(50, time.Millisecond)
	n.after(10 * time.Second)
	got := n.Read(Question{Range: Hours})
	for name, c := range map[string]struct {
		column []float64
		want   float64
	}{
		"requests": {got.Requests, 4}, "delivered": {got.Delivered, 2}, "failed": {got.Failed, 0.6}, "commands": {got.Commands, 5}, "runs": {got.Runs, 5}, "dead": {got.Dead, 3},
		"messages": {got.Messages, 100}, "overdue": {got.Overdue, 101}, "memory": {got.Memory, 102}, "resident": {got.Resident, 103}, "disk": {got.DiskFree, 104},
	} {
		if !slices.Equal(c.column, []float64{c.want}) {
			t.Errorf("%s: %v, want %v", name, c.column, c.want)
		}
	}
	if !slices.Equal(got.Time, []int64{n.now.UnixMilli()}) || got.EverySeconds != 10 {
		t.Errorf("time %v, every %d s", got.Time, got.EverySeconds)
	}
	n.after(10 * time.Second) // nothing has happened since
	if got := n.Read(Question{Range: Hours}); got.Requests[1] != 0 || got.Commands[1] != 0 || got.P99[1] != 0 || got.Messages[1] != 100 {
		t.Errorf("after ten quiet seconds: %+v", got)
	}
}

// TestCounterThatFalls: a counter that begins anew is no negative rate.
func TestCounterThatFalls(t *testing.T) {
	n := newNode()
	value := 100.0
	n.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "trireme_http_requests_total"}, func() float64 { return value }))
	n.after(0)
	value = 3
	n.after(time.Second)
	value = 5
	n.after(time.Second)
	if got := n.Read(Question{Range: Hours}).Requests; !slices.Equal(got, []float64{0, 2}) {
		t.Errorf("rates %v", got)
	}
}

// TestNoTimeBetweenSamples: a clock that stands still or goes back makes no sample, and no division by zero.
func TestNoTimeBetweenSamples(t *testing.T) {
	n := newNode()
	n.after(0)
	n.after(0)
	n.after(-time.Second)
	if got := n.Read(Question{Range: Hours}); len(got.Time) != 0 {
		t.Errorf("samples %v", got.Time)
	}
	n.after(time.Second)
	if got := n.Read(Question{Range: Hours}); len(got.Time) != 1 || math.IsNaN(got.Commands[0]) {
		t.Errorf("samples %+v", got)
	}
}

// TestPercentiles: a percentile lies in the span of the histogram that holds that part of the calls.
func TestPercentiles(t *testing.T) {
	n := newNode()
	n.after(0)
	n.calls(98, 100*time.Microsecond)
	n.calls(2, 80*time.Millisecond)
	n.after(10 * time.Second)
	got := n.Read(Question{Range: Hours})
	if p := got.P50[0]; p < 0.065 || p > 0.132 { // 2^16 to 2^17 ns
		t.Errorf("the median of calls of 0.1 ms is %v ms", p)
	}
	if p := got.P99[0]; p < 67 || p > 135 { // 2^26 to 2^27 ns
		t.Errorf("the 99th percentile, a call of 80 ms, is %v ms", p)
	}
	n.calls(1, time.Second) // of the calls before nothing counts
	n.after(10 * time.Second)
	if p := n.Read(Question{Range: Hours}).P50[1]; p < 536 || p > 1074 {
		t.Errorf("the median of one call of 1 s is %v ms", p)
	}
	var empty [command.Buckets]int64
	if percentile(&empty, 0.5) != 0 {
		t.Error("no calls have a percentile")
	}
	empty[0] = 10
	if p := percentile(&empty, 1); p != 1e-6 {
		t.Errorf("all calls of at most 1 ns: %v ms", p)
	}
}

// TestOldSamplesAreDropped: six hours are kept, in the order of time.
func TestOldSamplesAreDropped(t *testing.T) {
	n := newNode()
	n.after(0)
	for range Kept + 500 {
		n.after(Every)
	}
	got := n.Read(Question{Range: Hours})
	if len(got.Time) != Kept || !slices.IsSorted(got.Time) || got.Time[Kept-1] != n.now.UnixMilli() || got.Time[0] != n.now.Add(-Every*(Kept-1)).UnixMilli() {
		t.Errorf("%d samples from %d to %d, now is %d", len(got.Time), got.Time[0], got.Time[len(got.Time)-1], n.now.UnixMilli())
	}
	if len(got.Commands) != Kept || len(got.DiskFree) != Kept {
		t.Error("columns differ in length")
	}
}

// TestRun takes a sample soon after the start, then every ten seconds, until its context ends.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := command.NewTable()
		h := New(prometheus.NewRegistry(), stats.New(table))
		ctx, cancel := context.WithCancel(t.Context())
		begin, ended := time.Now(), make(chan struct{})
		go func() {
			defer close(ended)
			h.Run(ctx, func(err error) { t.Error(err) })
		}()
		time.Sleep(Soon + 3*Every + time.Second)
		cancel()
		<-ended
		var after []time.Duration
		for _, at := range h.Read(Question{Range: Hours}).Time {
			after = append(after, time.UnixMilli(at).Sub(begin).Round(time.Second))
		}
		if want := []time.Duration{Soon, Soon + Every, Soon + 2*Every, Soon + 3*Every}; !slices.Equal(after, want) {
			t.Errorf("samples after %v, want %v", after, want)
		}
	})
}
