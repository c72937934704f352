package scenario

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// cost is the processor time of one piece of work, in microseconds, by process, and the rate.
type cost struct{ rate, leader, follower, own float64 }

func (c cost) nodes() float64 { return c.leader + 2*c.follower }

// Costs measures the processor time of a workflow run (64 at once, and one at a time) and of a delivery, for several
// builds in turn, each time on a new cluster, in b.Pairs turns. On a busy machine less is done at a time, so that each costs more, and caches are
// colder: the least of several turns depends least on that.
func (b *Bench) Costs(ctx context.Context, builds []string) error {
	works := []struct {
		name string
		run  func(context.Context) (cost, error)
	}{
		{fmt.Sprintf("workflow run, %d at once", httpConns), func(ctx context.Context) (cost, error) { return b.flowCost(ctx, httpConns) }},
		{"workflow run, one at a time", func(ctx context.Context) (cost, error) { return b.flowCost(ctx, 1) }},
		{"delivery", b.deliveryCost},
	}
	found := map[string][]cost{}
	for turn := range b.Pairs {
		for i := range builds {
			build := builds[(i+turn)%len(builds)]
			b.Env.Trireme = build
			for _, w := range works {
				c, err := w.run(ctx)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", build, w.name, err)
				}
				key := w.name + ", " + build
				found[key] = append(found[key], c)
				b.Log("  %d/%d %-60s %s", turn+1, b.Pairs, key, c)
			}
		}
	}
	for _, f := range []struct {
		name string
		q    float64
	}{{"medians", .5}, {"least", 0}} {
		b.Log("%s of %d turns:", f.name, b.Pairs)
		for _, w := range works {
			for _, build := range builds {
				key := w.name + ", " + build
				b.Log("  %-64s %s", key, quantileCost(found[key], f.q))
			}
		}
	}
	return nil
}

func (c cost) String() string {
	return fmt.Sprintf("%7.0f /s  nodes %6.1f us  leader %6.1f  follower %6.1f  benchmark %6.1f", c.rate, c.nodes(), c.leader, c.follower, c.own)
}

func quantileCost(all []cost, q float64) cost {
	middle := func(figure func(cost) float64) float64 {
		var vs []float64
		for _, c := range all {
			vs = append(vs, figure(c))
		}
		return report.Quantile(vs, q)
	}
	return cost{middle(func(c cost) float64 { return c.rate }), middle(func(c cost) float64 { return c.leader }),
		middle(func(c cost) float64 { return c.follower }), middle(func(c cost) float64 { return c.own })}
}

// flowCost measures the cost of a workflow run.
func (b *Bench) flowCost(ctx context.Context, clients int) (cost, error) {
	t, err := b.deliveringHere(func() (*peer.Trireme, error) { return b.Env.StartCluster(ctx) })
	if err != nil {
		return cost{}, err
	}
	defer b.stopping(t)()
	leader, others, _, err := t.Leader(ctx)
	if err != nil {
		return cost{}, err
	}
	f, stop := newFlows(b.writeURLs(leader.URL, t.URLs()), newAsking(4*httpConns), empty(3, ""))
	defer stop()
	if f.err != nil {
		return cost{}, f.err
	}
	if _, err := f.run(ctx, clients, 0, 4*b.Warm); err != nil {
		return cost{}, err
	}
	return costOf(leader, others, func() (float64, error) {
		before := f.serial.Load()
		_, err := f.run(ctx, clients, 0, b.Duration)
		return float64(f.serial.Load() - before), err
	})
}

// deliveryCost measures the cost of a message that is published and delivered.
func (b *Bench) deliveryCost(ctx context.Context) (cost, error) {
	t, err := b.deliveringHere(func() (*peer.Trireme, error) { return b.Env.StartCluster(ctx) })
	if err != nil {
		return cost{}, err
	}
	defer b.stopping(t)()
	leader, others, _, err := t.Leader(ctx)
	if err != nil {
		return cost{}, err
	}
	if _, err := b.deliver(ctx, t, deliveryTrial); err != nil {
		return cost{}, err
	}
	n := 10 * deliveryTrial
	return costOf(leader, others, func() (float64, error) {
		_, err := b.deliver(ctx, t, n)
		return float64(n), err
	})
}

// costOf divides the processor time of the nodes, and of this process, by what work has done.
func costOf(leader *peer.Node, others []*peer.Node, work func() (float64, error)) (c cost, err error) {
	times := func() (leads, follow, own time.Duration, err error) {
		if leads, err = leader.ProcessorTime(); err != nil {
			return 0, 0, 0, err
		}
		for _, n := range others {
			one, err := n.ProcessorTime()
			if err != nil {
				return 0, 0, 0, err
			}
			follow += one
		}
		var used syscall.Rusage
		err = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
		return leads, follow, time.Duration(used.Utime.Nano() + used.Stime.Nano()), err
	}
	leads, follow, own, err := times()
	if err != nil {
		return c, err
	}
	begin := time.Now()
	n, err := work()
	if err != nil {
		return c, err
	}
	took := time.Since(begin)
	leads2, follow2, own2, err := times()
	per := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / n }
	return cost{n / took.Seconds(), per(leads2 - leads), per(follow2-follow) / float64(len(others)), per(own2 - own)}, err
}

// Builds reads a list of binaries, separated by commas.
func Builds(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
