package scheduler

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// counters are the scheduler's metrics of this node.
type counters struct {
	delivered, refused, unreached, lost prometheus.Counter
	took                                prometheus.Histogram
}

func newCounters() counters {
	attempts := func(outcome string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{
			Name: "trireme_attempts_total", Help: "Delivery attempts by this node.", ConstLabels: prometheus.Labels{"outcome": outcome},
		})
	}
	return counters{
		delivered: attempts("delivered"), refused: attempts("refused"), unreached: attempts("unreached"), lost: attempts("lost"),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "trireme_attempt_seconds", Help: "How long delivery attempts took.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 9),
		}),
	}
}

// Collectors are the scheduler's metrics.
func (s *Scheduler) Collectors() []prometheus.Collector {
	return []prometheus.Collector{s.sent.delivered, s.sent.refused, s.sent.unreached, s.sent.lost, s.sent.took}
}

func (s *Scheduler) count(n *queue.Result) {
	switch {
	case n.Response.Status >= 200 && n.Response.Status <= 299 && n.Error == "":
		s.sent.delivered.Inc()
	case n.Response.Status != 0:
		s.sent.refused.Inc()
	default:
		s.sent.unreached.Inc()
	}
	s.sent.took.Observe(float64(n.Took) / 1000)
}
