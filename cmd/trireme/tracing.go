package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/internal/otlp"
	"github.com/trireme-dev/trireme/node/tracing"
)

// traces are the spans of a node that exports them.
type traces struct {
	*tracing.Tracer
	exporter *otlp.Exporter
}

// newTraces starts the export of spans; nil if no variable names a collector.
func (s *settings) newTraces(e *engine, log *slog.Logger, registry *prometheus.Registry) (*traces, error) {
	c, err := otlp.ReadConfig(os.Getenv)
	if err != nil {
		return nil, usagef("%w", err)
	}
	if c.Endpoint == "" {
		return nil, nil
	}
	about := map[string]string{"service.name": "trireme", "service.version": version, "service.instance.id": s.NodeID}
	exporter, err := otlp.New(c, about, log)
	if err != nil {
		return nil, usagef("%w", err)
	}
	registry.MustRegister(exporter.Collectors()...)
	node := func() tracing.Node {
		if n := e.node.Load(); n != nil {
			return n
		}
		return nil
	}
	return &traces{&tracing.Tracer{Node: node, Export: exporter.Export, Sampler: c.Sampler}, exporter}, nil
}

// startTraces has deliveries make spans if a collector is named.
func (n *process) startTraces() (err error) {
	if n.traces, err = n.newTraces(n.engine, n.log, n.registry); n.traces != nil {
		n.deliveries.trace = n.traces.Header
	}
	return err
}

// commands makes the spans of clients' requests; nil if there are none.
func (t *traces) commands(ratio float64) *tracing.Commands {
	if t == nil || ratio == 0 {
		return nil
	}
	return &tracing.Commands{Export: t.exporter.Export, Ratio: ratio, Table: command.NewTable()}
}

// keepsTraces reports whether messages keep trace contexts.
func (n *process) keepsTraces() bool { return n.Deliveries.TracePropagation == on }

// lastExport is how long a node that stops waits for its collector.
const lastExport = 2 * time.Second

// close exports what is left. Nothing may be applied any more.
func (t *traces) close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastExport)
	defer cancel()
	t.exporter.Close(ctx)
}
