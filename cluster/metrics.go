package cluster

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/cluster/payloads"
	"github.com/trireme-dev/trireme/fsm"
)

// metrics are the figures of one node.
type metrics struct {
	n          *Node
	batches    prometheus.Histogram
	entryBytes prometheus.Histogram
	apply      prometheus.Histogram
	fork       prometheus.Histogram
	// The times for which the state's lock was held.
	heldByWrite, heldByRead prometheus.Observer
	heldSince               time.Time // by a write; guarded by the machine's lock

	appends, appendEntries prometheus.Histogram
	appendErrors, gaveWay  prometheus.Counter
	probe, free, total     prometheus.Gauge

	all []prometheus.Collector
}

// stalls are buckets fine enough to compare the longest stall with another server's:
// each edge is four tenths above the last, from 20 us to 2 s.
var stalls = prometheus.ExponentialBucketsRange(20e-6, 2, 36)

func newMetrics(n *Node) *metrics {
	m := &metrics{n: n}
	m.batches = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "trireme_entry_requests", Help: "Requests in one log entry made by this leader.", Buckets: prometheus.ExponentialBuckets(1, 2, 14)})
	m.entryBytes = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "trireme_apply_batch_bytes", Help: "Bytes of log entries applied at a time.", Buckets: prometheus.ExponentialBuckets(64, 4, 12)})
	m.apply = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "trireme_apply_seconds", Help: "Time to apply a batch of committed entries.", Buckets: stalls})
	m.fork = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "trireme_snapshot_fork_seconds", Help: "Time for which applies waited while the state was forked for a snapshot.", Buckets: stalls})
	held := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "trireme_state_held_seconds",
		Help: "How long the state was held at a time: by a write (write), for which all others wait, or by a short read (read), for which writes wait.", Buckets: stalls}, []string{"by"})
	m.heldByWrite, m.heldByRead = held.WithLabelValues("write"), held.WithLabelValues("read")
	m.all = []prometheus.Collector{m.batches, m.entryBytes, m.apply, m.fork, held}
	m.watchStore()
	m.gauge("trireme_applied_index", "Index of the last log entry applied.", func() float64 { i, _ := n.machine.Applied(); return float64(i) })
	m.gauge("trireme_poison_entry_index", "Index of the log entry before which this node waits for its operator, because it has ended the process twice; 0 if it waits for none.",
		m.running(func() float64 {
			if p := n.Poison(); p != nil {
				return float64(p.Index)
			}
			return 0
		}))
	m.gauge("trireme_databases_quarantined", "Databases in quarantine, equal on every node.",
		m.seen(func(v *fsm.View) float64 { return float64(len(v.Quarantines())) }))
	m.gauge("trireme_leader", "1 if this node leads and has opened its term.", func() float64 {
		if n.IsLeader() {
			return 1
		}
		return 0
	})
	m.gauge("trireme_term", "Raft term.", m.running(func() float64 { return float64(n.consensus.Term()) }))
	m.gauge("trireme_cluster_time_ahead_seconds", "How far cluster time is ahead of the wall clocks of a majority, below zero if it is behind; 0 up to a second. A node that does not lead knows only of what is ahead.",
		func() float64 { ahead, _ := n.TimeDifference(); return ahead.Seconds() })
	m.gauge("trireme_requests_pending", "Requests of this node without an outcome.", m.running(func() float64 { return float64(n.proposer.Pending()) }))
	m.gauge("trireme_requests_held", "Requests of this node that wait because their database has used its share of the apply time.",
		func() float64 { return float64(n.proposer.Held()) })
	m.gauge("trireme_reads_held", "Long reads of this node that wait because as many of their database are running as may run at once.",
		func() float64 { return float64(n.longReads.held()) })
	m.counter("trireme_requests_deferred_total", "How often a log entry has deferred a request of this node because it had done its part for the database.",
		func() float64 { return float64(n.proposer.Deferred()) })
	m.gauge("trireme_keys", "Keys in the keyspace.", m.seen(func(v *fsm.View) float64 { keys, _ := v.Usage(); return float64(keys) }))
	m.gauge("trireme_logical_memory_bytes", "Logical memory of the keyspace, equal on every node.",
		m.seen(func(v *fsm.View) float64 { _, bytes := v.Usage(); return float64(bytes) }))
	m.counter("trireme_evicted_keys_total", "Keys evicted from all databases that there are, equal on every node.",
		m.seen(func(v *fsm.View) float64 { return float64(v.Evicted()) }))
	return m
}

// watchPayloads shows what the store of large payloads does.
func (m *metrics) watchPayloads(s *payloads.Store) {
	m.gauge("trireme_payload_memory_bytes", "Large payloads of messages and runs in memory: those that came a short time ago.",
		func() float64 { return float64(s.Stats().Memory) })
	m.gauge("trireme_payload_disk_bytes", "Size of the segment files of large payloads.", func() float64 { return float64(s.Stats().Disk) })
	m.gauge("trireme_cold_values", "Large strings that are not used, on the disk of this node.",
		m.seen(func(v *fsm.View) float64 { n, _ := v.ColdValues(); return float64(n) }))
	m.gauge("trireme_cold_value_bytes", "Length of the large strings on the disk of this node.", m.seen(func(v *fsm.View) float64 { _, b := v.ColdValues(); return float64(b) }))
	for _, c := range []struct {
		name, help string
		of         func(payloads.Stats) int64
	}{
		{"trireme_payload_written_bytes_total", "Bytes of payloads written to segment files.", func(n payloads.Stats) int64 { return n.Written }},
		{"trireme_payload_reads_total", "Payloads read from segment files.", func(n payloads.Stats) int64 { return n.Read }},
		{"trireme_payload_damaged_total", "Payloads that were damaged on the disk, or gone.", func(n payloads.Stats) int64 { return n.Damaged }},
		{"trireme_payload_fetched_total", "Damaged payloads that another node had.", func(n payloads.Stats) int64 { return n.Fetched }},
		{"trireme_payload_write_failures_total", "Times that payloads could not be written to a segment file.", func(n payloads.Stats) int64 { return n.Failures }},
	} {
		m.counter(c.name, c.help, func() float64 { return float64(c.of(s.Stats())) })
	}
}

// seen returns a figure of the state.
func (m *metrics) seen(of func(*fsm.View) float64) func() float64 {
	return func() (f float64) {
		m.n.machine.View(0, [16]byte{}, func(v *fsm.View) { f = of(v) })
		return f
	}
}

// running returns a figure that is 0 until the node runs.
func (m *metrics) running(f func() float64) func() float64 {
	return func() float64 {
		if !m.n.running.Load() {
			return 0
		}
		return f()
	}
}

func (m *metrics) counter(name, help string, f func() float64) {
	m.all = append(m.all, prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, f))
}

func (m *metrics) gauge(name, help string, f func() float64) {
	m.all = append(m.all, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f))
}

// Collectors returns the node's metrics, for a registry.
func (n *Node) Collectors() []prometheus.Collector { return n.metrics.all }

func (m *metrics) batch(requests int) { m.batches.Observe(float64(requests)) }

func (m *metrics) applied(bytes int, took time.Duration) {
	m.entryBytes.Observe(float64(bytes))
	m.apply.Observe(took.Seconds())
}

// locked and unlocking are called by the machine with its lock held.
func (m *metrics) locked()    { m.heldSince = time.Now() }
func (m *metrics) unlocking() { m.heldByWrite.Observe(time.Since(m.heldSince).Seconds()) }

func (m *metrics) forked(took time.Duration) { m.fork.Observe(took.Seconds()) }

// store returns the hooks that count what the log store does.
func (m *metrics) store() logstore.Hooks {
	return logstore.Hooks{
		Append: func(a logstore.Append) {
			m.appends.Observe(a.Took.Seconds())
			m.appendEntries.Observe(float64(a.Entries))
			if a.Err != nil {
				m.appendErrors.Inc()
			}
		},
		Probe: func(took time.Duration) { m.probe.Set(took.Seconds()) },
		Free:  func(free, total uint64) { m.free.Set(float64(free)); m.total.Set(float64(total)) },
	}
}

// watchStore makes the metrics of the log store.
func (m *metrics) watchStore() {
	m.appends = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "trireme_log_append_seconds", Help: "Time to append a batch to the log store, sync included.", Buckets: prometheus.ExponentialBuckets(1e-5, 2, 16)})
	m.appendEntries = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "trireme_log_append_entries", Help: "Entries in one append.", Buckets: prometheus.ExponentialBuckets(1, 2, 8)})
	m.appendErrors = prometheus.NewCounter(prometheus.CounterOpts{Name: "trireme_log_append_errors_total", Help: "Appends to the log store that failed."})
	m.probe = prometheus.NewGauge(prometheus.GaugeOpts{Name: "trireme_disk_probe_seconds", Help: "Time of the last disk probe: 4 KiB written and synced."})
	m.free = prometheus.NewGauge(prometheus.GaugeOpts{Name: "trireme_disk_free_bytes", Help: "Free bytes on the data directory's disk."})
	m.total = prometheus.NewGauge(prometheus.GaugeOpts{Name: "trireme_disk_size_bytes", Help: "Size of the data directory's disk."})
	m.gaveWay = prometheus.NewCounter(prometheus.CounterOpts{Name: "trireme_leadership_given_way_total", Help: "Times that this node has given leadership away because its disk was much slower than those of the others."})
	m.all = append(m.all, m.appends, m.appendEntries, m.appendErrors, m.probe, m.free, m.total, m.gaveWay)
	m.gauge("trireme_disk_slow_seconds", "How long this node's disk has been slow; 0 if it is not, or only for a few seconds.", func() float64 {
		since := m.n.SlowDiskSince()
		if since.IsZero() {
			return 0
		}
		return time.Since(since).Seconds()
	})
}

// logCost measures the time that this node's log takes for a byte of large appends. A client that writes large values keeps
// others waiting there as much as by its applies, so its databases are charged for both (session.Ledger). The sync that ends
// every append is charged to nobody: it takes as long for one small request.
type logCost struct {
	perByte atomic.Uint64 // nanoseconds, as the bits of a float64
}

const (
	// largeAppend is the size in bytes of the smallest append that is measured: below it the sync, and not the bytes, determine how long it takes.
	largeAppend = 256 << 10
	// costWeight is the weight of the newest append in the average.
	costWeight = 0.25
	// The bytes of a large entry are charged handling times what the log took: they are received, copied, sent to others and kept, too. For a value of
	// 9 MB a node took six times as long as its log; the rest is for memory that a machine has not used before, where a page takes four times as long.
	handling = 10
)

// note measures an append. It is called by one goroutine at a time.
func (c *logCost) note(a logstore.Append) {
	if a.Err != nil || a.Bytes < largeAppend {
		return
	}
	now, before := float64(a.Took)/float64(a.Bytes), math.Float64frombits(c.perByte.Load())
	if before > 0 {
		now = before + costWeight*(now-before)
	}
	c.perByte.Store(math.Float64bits(now))
}

// of returns the time that an entry of so many bytes takes besides its apply.
func (c *logCost) of(bytes int) time.Duration {
	took := float64(bytes) * math.Float64frombits(c.perByte.Load())
	if bytes >= largeAppend {
		took *= handling
	}
	return time.Duration(took)
}

// storeHooks returns the hooks of the log store: the metrics', which also measure the cost of appends and the speed of the disk.
func (n *Node) storeHooks() logstore.Hooks {
	hooks := n.metrics.store()
	measured := hooks.Append
	hooks.Append = func(a logstore.Append) {
		measured(a)
		n.logCost.note(a)
		if a.Err == nil {
			n.ownDisk.Appends.Note(a.Took)
		}
	}
	probed := hooks.Probe
	hooks.Probe = func(took time.Duration) {
		probed(took)
		n.ownDisk.Probes.Note(took)
	}
	return hooks
}
