package cli

import (
	"bytes"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

var loadColumns = []column{
	{"NODE", "node", nil, named}, {"STATE", "state", nil, keep}, {"COMMANDS/S", "commandsPerSecond", fixed(0, ""), keep},
	{"P50", "p50Ms", fixed(1, "ms"), keep}, {"P99", "p99Ms", fixed(1, "ms"), keep}, {"ATTEMPTS/S", "attemptsPerSecond", fixed(1, ""), keep},
	{"FAILED/S", "failedAttemptsPerSecond", fixed(1, ""), keep}, {"LAG", "lagEntries", fixed(0, ""), drops},
	{"PENDING", "pendingRequests", fixed(0, ""), drops}, {"OVERDUE", "overdueSeconds", fixed(0, "s"), keep}, {"MEMORY", "memoryBytes", mebibytes, keep},
	{"DISK FREE", "diskFreeBytes", mebibytes, wide}, {"ERROR", "error", nil, wide},
}

// totals are the sums of all nodes that answer; of latencies the worst counts, and messages are the same on each.
type totals struct {
	Commands float64 `json:"commandsPerSecond"`
	P99      float64 `json:"p99Ms"`
	Attempts float64 `json:"attemptsPerSecond"`
	Failed   float64 `json:"failedAttemptsPerSecond"`
	Pending  float64 `json:"pendingRequests"`
	Overdue  float64 `json:"overdueSeconds"`
	Memory   float64 `json:"memoryBytes"`
	Messages float64 `json:"messages"`
	Dead     float64 `json:"deadLetters"`
	Runs     float64 `json:"runs"`
}

func (t *totals) add(l *load, n *sample) {
	t.Commands, t.Attempts, t.Failed, t.Pending = t.Commands+l.Commands, t.Attempts+l.Attempts, t.Failed+l.Failed, t.Pending+l.Pending
	t.P99, t.Overdue, t.Memory = math.Max(t.P99, l.P99), math.Max(t.Overdue, l.Overdue), math.Max(t.Memory, l.Memory)
	t.Messages, t.Dead, t.Runs = math.Max(t.Messages, n.messages), math.Max(t.Dead, n.dead), math.Max(t.Runs, n.runs)
}

// loads asks all nodes, and returns a row for each; last are the samples of the view before.
func (s *session) loads(view *clusterView, last map[string]sample) (rows []any, all totals, problems []string) {
	samples, errs := make([]sample, len(view.Nodes)), make([]error, len(view.Nodes))
	var wait sync.WaitGroup
	for i, n := range view.Nodes {
		wait.Go(func() { samples[i], errs[i] = s.sample(n, len(view.Nodes) == 1) })
	}
	wait.Wait()
	furthest := 0.0
	for i := range samples {
		furthest = math.Max(furthest, samples[i].applied)
	}
	for i, n := range view.Nodes {
		if errs[i] != nil {
			rows = append(rows, map[string]string{"node": n.ID, "state": n.State, "error": errs[i].Error()})
			problems = append(problems, n.ID+": "+errs[i].Error())
			delete(last, n.ID)
			continue
		}
		l := samples[i].load(last[n.ID], furthest)
		l.Node, l.State = n.ID, n.State
		all.add(&l, &samples[i])
		rows, last[n.ID] = append(rows, l), samples[i]
	}
	return rows, all, problems
}

// sample holds a node's counters at one time.
type sample struct {
	at                                time.Time
	commands, attempts, failed        float64
	applied, waiting, memory, overdue float64
	messages, dead, runs, diskFree    float64
	bounds, counts                    []float64 // of the histogram of request durations, cumulative
}

// load is a node's row in top. Rates are 0 in the first view.
type load struct {
	Node     string  `json:"node"`
	State    string  `json:"state"`
	Commands float64 `json:"commandsPerSecond"`
	P50      float64 `json:"p50Ms"`
	P99      float64 `json:"p99Ms"`
	Attempts float64 `json:"attemptsPerSecond"`
	Failed   float64 `json:"failedAttemptsPerSecond"`
	Lag      float64 `json:"lagEntries"`
	Pending  float64 `json:"pendingRequests"`
	Overdue  float64 `json:"overdueSeconds"`
	Memory   float64 `json:"memoryBytes"`
	DiskFree float64 `json:"diskFreeBytes"`
}

// sample asks a node for its metrics: at the address that it has in the cluster, or, if it is the only one, at the URL.
func (s *session) sample(n nodeView, alone bool) (out sample, err error) {
	c := *s.Client
	if scheme, _, _ := strings.Cut(c.url, "://"); !alone {
		if n.HTTP == "" {
			return out, errorf(ExitUnreachable, "its HTTP address is not known")
		}
		c.url = scheme + "://" + n.HTTP
	}
	text, err := c.send(s.ctx, request{method: "GET", path: "/metrics", header: http.Header{"Accept": {"text/plain"}}})
	if err != nil {
		return out, err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return out, errorf(ExitUnreachable, "%s/metrics is not a metrics page: is it a Trireme node?", c.url)
	}
	out = sample{
		at: time.Now(), commands: sum(all["trireme_http_commands_total"], "") + sum(all["trireme_resp_commands_total"], ""),
		attempts: sum(all["trireme_attempts_total"], ""), failed: sum(all["trireme_attempts_total"], "delivered"),
		applied: sum(all["trireme_applied_index"], ""), waiting: sum(all["trireme_requests_pending"], ""),
		memory: sum(all["trireme_logical_memory_bytes"], ""), overdue: sum(all["trireme_messages_due_seconds"], ""),
		messages: sum(all["trireme_messages"], ""), dead: sum(all["trireme_dead_letters"], ""), runs: sum(all["trireme_workflow_runs"], ""),
		diskFree: sum(all["trireme_disk_free_bytes"], ""),
	}
	out.durations(all["trireme_http_request_duration_seconds"])
	return out, nil
}

// sum adds up a family, without the metrics that have a label of some value.
func sum(f *dto.MetricFamily, without string) float64 {
	total := 0.0
	for _, m := range f.GetMetric() {
		skip := false
		for _, l := range m.GetLabel() {
			skip = skip || without != "" && l.GetValue() == without
		}
		if !skip {
			total += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
		}
	}
	return total
}

// durations adds up the histograms of a family.
func (s *sample) durations(f *dto.MetricFamily) {
	for _, m := range f.GetMetric() {
		for i, b := range m.GetHistogram().GetBucket() {
			if i == len(s.bounds) {
				s.bounds, s.counts = append(s.bounds, b.GetUpperBound()), append(s.counts, 0)
			}
			s.counts[i] += float64(b.GetCumulativeCount())
		}
	}
}

// load returns the rates since the previous sample.
func (s *sample) load(before sample, furthest float64) load {
	l := load{Lag: furthest - s.applied, Pending: s.waiting, Overdue: s.overdue, Memory: s.memory, DiskFree: s.diskFree}
	passed := s.at.Sub(before.at).Seconds()
	if before.at.IsZero() || passed <= 0 || s.commands < before.commands { // the first view, or the node was restarted
		return l
	}
	rate := func(now, then float64) float64 { return math.Max(0, math.Round((now-then)/passed*10)/10) }
	l.Commands, l.Attempts, l.Failed = rate(s.commands, before.commands), rate(s.attempts, before.attempts), rate(s.failed, before.failed)
	l.P50, l.P99 = s.quantile(before, 0.5), s.quantile(before, 0.99)
	return l
}

// quantile returns a quantile of the latencies since the previous sample, in milliseconds: the upper bound of its bucket.
func (s *sample) quantile(before sample, q float64) float64 {
	since := func(i int) float64 {
		if i < len(before.counts) {
			return s.counts[i] - before.counts[i]
		}
		return s.counts[i]
	}
	last := len(s.counts) - 1
	if last < 0 || since(last) <= 0 {
		return 0
	}
	for i := range s.counts {
		if since(i) >= q*since(last) {
			if bound := s.bounds[i]; !math.IsInf(bound, 1) || i == 0 {
				return math.Round(bound*1e5) / 100
			}
			return math.Round(s.bounds[i-1]*1e5) / 100
		}
	}
	return 0
}
