package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/internal/otlp"
	"github.com/trireme-dev/trireme/node/tracing"
)

// traces exports the spans of a node.
type traces struct {
	*tracing.Tracer
	exporter *otlp.Exporter
}

// newTraces starts the export of spans. It returns nil if no variable names a collector.
func (s *settings) newTraces(e *nodeEngine, log *slog.Logger, registry *prometheus.Registry) (*traces, error) {
	c, err := otlp.ReadConfig(os.Getenv)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	if c.Endpoint == "" {
		return nil, nil
	}
	about := map[string]string{"service.name": "trireme", "service.version": version, "service.instance.id": s.NodeID}
	exporter, err := otlp.New(c, about, log)
	if err != nil {
		return nil, cli.Usagef("%w", err)
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

// startTraces makes deliveries record spans if a collector is named.
func (pr *process) startTraces() (err error) {
	if pr.traces, err = pr.newTraces(pr.engine, pr.log, pr.registry); pr.traces != nil {
		pr.deliveries.trace = pr.traces.Header
	}
	return err
}

// commands returns the recorder for clients' requests, or nil without a collector.
func (t *traces) commands(ratio float64) *tracing.Commands {
	if t == nil || ratio == 0 {
		return nil
	}
	return &tracing.Commands{Export: t.exporter.Export, Ratio: ratio, Table: command.NewTable()}
}

// keepsTraces reports whether messages keep trace contexts.
func (pr *process) keepsTraces() bool { return pr.Deliveries.TracePropagation == on }

// lastExport bounds the last export of spans when a node stops.
const lastExport = 2 * time.Second

// close exports the spans that are left. No entry may be applied any more.
func (t *traces) close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastExport)
	defer cancel()
	t.exporter.Close(ctx)
}
