package resp

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

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

func newMetrics(r prometheus.Registerer, _ *Server) (*metrics, error) {
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
