package main

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// nodeCollector collects the metrics of the node's and the cluster's state: at each scrape, or every
// hostInterval where that asks other nodes.
type nodeCollector struct {
	n    *process
	node *cluster.Node
	last atomic.Pointer[cluster.Status]
}

func gaugeDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("trireme_"+name, help, labels, nil)
}

// The metrics of nodeCollector.
var (
	readyDesc       = gaugeDesc("ready", "1 if this node has a leader and has caught up with it, as /readyz says.")
	levelDesc       = gaugeDesc("feature_level", "Feature level in force.")
	knownLevelDesc  = gaugeDesc("feature_level_known", "Highest feature level that this binary knows.")
	serversDesc     = gaugeDesc("servers", "Nodes of the cluster as this node knows it, by suffrage.", "suffrage")
	reachableDesc   = gaugeDesc("peer_reachable", "1 if another node answered this one's last question, asked every two seconds.", "peer")
	contactDesc     = gaugeDesc("last_contact_seconds", "How long ago this node heard of its leader; 0 on the leader.")
	snapshotDesc    = gaugeDesc("snapshot_timestamp_seconds", "When this node's newest snapshot was written, in unix time; 0 without one.")
	certificateDesc = gaugeDesc("certificate_expiry_timestamp_seconds", "When a certificate of this node ends, in unix time.", "certificate")
	messagesDesc    = gaugeDesc("messages", "Messages that are kept, but for dead letters; equal on every node.")
	runningDesc     = gaugeDesc("messages_running", "Delivery attempts under way in the cluster.")
	dueDesc         = gaugeDesc("messages_due_seconds", "How long the most overdue message has waited for the leader; 0 if none is due.")
	deadDesc        = gaugeDesc("dead_letters", "Dead letters of messages and of workflow runs.", "of")
	queuesDesc      = gaugeDesc("queues", "Queues.")
	schedulesDesc   = gaugeDesc("schedules", "Schedules.")
	runsDesc        = gaugeDesc("workflow_runs", "Workflow runs that are kept, by whether they go on.", "state")
	stoppedDesc     = gaugeDesc("paused_at_end", "Queues and flow-control keys that a message has paused at the end of its retries, and workflow runs that are paused so.", "of")
	waitersDesc     = gaugeDesc("workflow_waiters", "What workflow runs wait for: events, webhooks, invocations.")
	databasesDesc   = gaugeDesc("databases", "Databases.")
	shortDesc       = gaugeDesc("histories_short", "Histories that go back less than half their retention because they take all of their bytes, of 1,000 databases at most.", "of")
	reachDesc       = gaugeDesc("history_short_seconds", "How far back the shortest of those histories goes; 0 if there is none.", "of")
)

// countedHistories is the most databases whose short histories are counted.
const countedHistories = 1000

// Describe names the metrics.
func (nc *nodeCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{readyDesc, levelDesc, knownLevelDesc, serversDesc, reachableDesc, contactDesc, snapshotDesc, certificateDesc,
		messagesDesc, runningDesc, dueDesc, deadDesc, queuesDesc, schedulesDesc, runsDesc, stoppedDesc, waitersDesc, databasesDesc,
		shortDesc, reachDesc} {
		out <- d
	}
}

// Collect sends the current values.
func (nc *nodeCollector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	ready := 0.0
	if nc.n.engine.Ready() == nil {
		ready = 1
	}
	gauge(readyDesc, ready)
	gauge(knownLevelDesc, float64(fsm.MaxLevel))
	gauge(snapshotDesc, float64(lastSnapshot(nc.node.SnapshotDir()))/1000)
	nc.state(gauge)
	nc.servers(gauge)
	for name, path := range map[string]string{"api": nc.n.TLSCert, "cluster": nc.n.ClusterCert} { // unordered: the registry sorts
		if until, ok := expiry(path); ok {
			gauge(certificateDesc, float64(until.Unix()), name)
		}
	}
}

// state collects the metrics of the replicated state.
func (nc *nodeCollector) state(gauge func(*prometheus.Desc, float64, ...string)) {
	var level uint32
	var messages queue.Counts
	var flows workflow.Counts
	databases, due, waits := 0, int64(0), false
	short, reach := map[string]int{"events": 0, "runs": 0}, map[string]int64{}
	nc.node.Machine().View(0, [16]byte{}, func(v *fsm.View) {
		c := v.Totals()
		level, messages, flows, databases = uint32(v.Level()), c.Messages, c.Workflows, c.Databases
		due, waits = v.Overdue()
		for _, h := range v.ShortHistories(countedHistories) {
			of, back := historyOf(&h), v.Now()-h.Oldest
			if short[of]++; short[of] == 1 || back < reach[of] {
				reach[of] = back
			}
		}
	})
	late := 0.0
	if waits {
		late = max(0, float64(nc.node.Now()-due)/1000)
	}
	gauge(levelDesc, float64(level))
	gauge(messagesDesc, float64(messages.Messages))
	gauge(runningDesc, float64(messages.Active))
	gauge(dueDesc, late)
	gauge(deadDesc, float64(messages.Dead), "messages")
	gauge(deadDesc, float64(flows.Dead), "workflows")
	gauge(queuesDesc, float64(messages.Queues))
	gauge(schedulesDesc, float64(messages.Schedules))
	gauge(runsDesc, float64(flows.Active), "active")
	gauge(runsDesc, float64(flows.Runs-flows.Active), "ended")
	gauge(stoppedDesc, float64(messages.Stopped), "queues")
	gauge(stoppedDesc, float64(flows.Paused), "runs")
	gauge(waitersDesc, float64(flows.Waiters))
	gauge(databasesDesc, float64(databases))
	for of, n := range short { // unordered: the registry sorts
		gauge(shortDesc, float64(n), of)
		gauge(reachDesc, float64(reach[of])/1000, of)
	}
}

// servers collects the metrics of the nodes from their last answers.
func (nc *nodeCollector) servers(gauge func(*prometheus.Desc, float64, ...string)) {
	status := nc.last.Load()
	if status == nil {
		return
	}
	count := map[string]float64{"voter": 0, "nonvoter": 0}
	for _, one := range status.Nodes {
		count[one.Suffrage]++
		switch {
		case one.ID == nc.node.ID():
			gauge(contactDesc, float64(one.LastContactMs)/1000)
		case one.State == unreachable:
			gauge(reachableDesc, 0, one.ID)
		default:
			gauge(reachableDesc, 1, one.ID)
		}
	}
	for suffrage, n := range count { // unordered: the registry sorts
		gauge(serversDesc, n, suffrage)
	}
}

// poll asks the other nodes for their status, for servers.
func (nc *nodeCollector) poll(ctx context.Context) cluster.Status {
	status := nc.node.Status(ctx)
	nc.last.Store(&status)
	return status
}

// expiry returns the end of validity of the first certificate in a file. It is not ok if none can
// be read.
func expiry(path string) (until time.Time, ok bool) {
	if path == "" {
		return until, false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return until, false
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return until, false
		}
		return c.NotAfter, true
	}
	return until, false
}
