package resp

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/node/audit"
	"github.com/trireme-dev/trireme/node/stats"
	"github.com/trireme-dev/trireme/node/tracing"
)

// count returns the statistics of a database's connections. A refused connection has no user yet, so it counts for the default
// database, as do connections that have not logged in.
func (s *Server) count(db string) stats.Clients {
	own := s.clients.population(db)
	n := stats.Clients{
		Received: own.received.Load(), In: own.in.Load(), Out: own.out.Load(),
		MostConnections: int64(s.limits.Connections), MostTracked: int64(s.limits.TrackedKeys), TrackedKeys: s.tracker.trackedIn(db), TrackedPrefixes: s.tracker.broadcastPrefixes(db),
	}
	if own.db == "" {
		n.Rejected = s.refused.Load()
	}
	countIf := func(to *int64, is bool) {
		if is {
			*to++
		}
	}
	s.clients.each(func(c *conn) {
		if c.info.database() != db {
			return
		}
		t := c.info.get()
		n.Connected++
		countIf(&n.Blocked, c.info.blocked.Load() != nil || c.info.paused.Load())
		countIf(&n.Subscribed, t.subs+t.psubs+t.ssubs > 0)
		countIf(&n.Watching, t.watches > 0)
		countIf(&n.Tracking, t.tracks)
		n.WatchedKeys += int64(t.watches)
	})
	return n
}

// thresholds returns the durations from which calls in a database count as slow (CONFIG SET).
func (s *Server) thresholds(db string) (t command.Thresholds) {
	s.engine.Local(func(v *fsm.View) { t = v.Thresholds(db) })
	return t
}

// countCalls counts calls that were answered.
func (c *conn) countCalls(rows [][][]byte, values []reply.Value, took time.Duration) {
	by, in := stats.Caller{Addr: c.info.addr}, c.s.stats.In(c.database())
	if in.Keeps(took) { // only a call for the slow log needs it
		by.Name = c.info.get().name
	}
	in.Batch(c.s.table, rows, values, took, by)
	if c.s.traces != nil {
		if p := c.s.traces.Sample(nil, nil); p.Recorded() {
			c.s.traces.Run(&p, tracing.Calls{DB: c.database(), Rows: rows, Values: values, Began: time.Now().Add(-took), Took: took, Client: c.info.addr})
		}
	}
	c.s.audit.Commands(c.caller(), rows, values)
}

// caller returns the connection's user and address for the audit log.
func (c *conn) caller() audit.Caller { return audit.Caller{As: c.as, From: c.info.addr} }

// auditFailure records administrative commands that failed as a whole or were refused.
func (c *conn) auditFailure(rows [][][]byte, why reply.Value) {
	c.s.audit.Unanswered(c.caller(), rows, why)
}

// countOwn counts a call of a command about the connection. c.failed holds its reply if that was
// an error.
func (c *conn) countOwn(argv [][]byte, began time.Time) {
	if c.as.Known() {
		c.countCalls([][][]byte{argv}, []reply.Value{c.lastError}, time.Since(began))
	}
}

// countRefused counts a call that was refused before it ran.
func (c *conn) countRefused(argv [][]byte, why reply.Value) {
	if c.as.Known() {
		c.s.stats.In(c.database()).Refused(c.s.table.Find(argv), why.Text())
	}
}

// trackedIn returns the number of tracked keys of a database.
func (tr *tracker) trackedIn(db string) int64 {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return int64(tr.byDB[db])
}

// metrics holds the Prometheus collectors of the port.
type metrics struct {
	connections prometheus.Gauge
	blocked     prometheus.Gauge
	refused     prometheus.Counter
	commands    prometheus.Counter
	batches     prometheus.Counter
	sent        prometheus.Counter
	failedLogin prometheus.Counter
	unsettled   prometheus.Counter
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "trireme_resp_" + name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "trireme_resp_" + name, Help: help})
	}
	m := &metrics{
		connections: gauge("connections", "Open RESP connections."),
		blocked:     gauge("blocked_connections", "RESP connections that wait in a blocking command."),
		refused:     counter("refused_connections_total", "RESP connections refused because there were too many."),
		commands:    counter("commands_total", "Commands on keys that came over RESP."),
		batches:     counter("batches_total", "Requests that those commands made: log requests and reads."),
		sent:        counter("sent_bytes_total", "Bytes of replies over RESP."),
		failedLogin: counter("failed_logins_total", "AUTH and HELLO with a wrong password."),
		unsettled:   counter("unsettled_counts_total", "Counts of subscribers that waited in vain for what subscribing connections had sent."),
	}
	for _, c := range []prometheus.Collector{m.connections, m.blocked, m.refused, m.commands, m.batches, m.sent, m.failedLogin, m.unsettled} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("resp: %w", err)
		}
	}
	return m, nil
}
