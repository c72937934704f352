package observe

import (
	"fmt"
	"sync"

	gometrics "github.com/hashicorp/go-metrics"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// NewRegistry is a registry with the build, the Go runtime and the process in it, and with what raft and memberlist report. Those
// two know only one sink per process, so a second registry of one process has the rest without them.
func NewRegistry(version, commit string) (*prometheus.Registry, error) {
	r := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "trireme_build_info",
		Help:        "Always 1; the labels say what is running.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit},
	})
	build.Set(1)
	r.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if err := bridgeOnce(r); err != nil {
		return nil, err
	}
	return r, nil
}

var bridged sync.Once

// bridgeOnce makes r the sink of hashicorp/go-metrics. Metrics never expire: a gauge
// that vanishes while nothing happens can't be alerted on.
func bridgeOnce(r prometheus.Registerer) (err error) {
	bridged.Do(func() {
		s := newLibrarySink()
		if err = r.Register(s); err != nil {
			err = fmt.Errorf("register the metrics of raft and memberlist: %w", err)
			return
		}
		config := gometrics.DefaultConfig("")
		config.EnableHostname = false
		config.EnableHostnameLabel = false
		// The Go collectors report the runtime already.
		config.EnableRuntimeMetrics = false
		_, err = gometrics.NewGlobal(config, s)
	})
	return err
}
