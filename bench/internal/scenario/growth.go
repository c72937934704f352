package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// axis is one size that grows while the others stay.
type axis struct {
	name, title, along string
	sizes              []int
	powers             bool // figures grow by factors as well
	bytes              bool // the sizes are bytes
	// at sets the size; keys are those that the node holds before.
	at func(g *growing, size int) (keys int)
}

// growing is the load of one point.
type growing struct{ conns, value int }

// The sizes that stay while another grows.
const (
	growthConns = 64
	growthKeys  = 100_000
)

// axes are the quantities over which the cost of a request is drawn.
var axes = []axis{
	{name: "keys", title: "Cost of a request as keys grow", along: "keys of 64 B values; 64 connections", sizes: []int{10_000, 100_000, 1_000_000, 10_000_000},
		at: func(g *growing, size int) int { return size }},
	{name: "connections", title: "Cost of a request as connections grow", along: "connections; 100,000 keys of 64 B values", sizes: []int{1, 4, 16, 64, 256, 1024},
		at: func(g *growing, size int) int { g.conns = size; return growthKeys }},
	{name: "values", title: "Cost of a request as values grow", along: "size of a value; 16 connections, 64 keys", sizes: []int{16, 256, 4 << 10, 64 << 10, 1 << 20}, powers: true, bytes: true,
		at: func(g *growing, size int) int { g.conns, g.value = 16, size; return 64 }},
}

// Growth measures the processor time that one node needs for a SET and for a GET over HTTP, as keys, connections and
// values grow. Sizes that the study has already are not measured again, and points with more data than most keys with
// ordinary values have are left out. save is called after each point.
func (b *Bench) Growth(ctx context.Context, most int, study *report.Study, save func() error) error {
	for i := range axes {
		a := &axes[i]
		for _, size := range a.sizes {
			g := growing{conns: growthConns, value: peer.ValueSize}
			keys := a.at(&g, size)
			if keys*g.value > most*peer.ValueSize {
				b.Log("  %s %d: left out", a.name, size)
				continue
			}
			if _, known := study.Find(a.name, size); known {
				b.Log("  %s %d: measured before", a.name, size)
				continue
			}
			set, get, err := b.point(ctx, g, keys, study)
			if err != nil {
				return fmt.Errorf("%s %d: %w", a.name, size, err)
			}
			b.Log("  %s %d: SET %.1f us, GET %.1f us", a.name, size, set, get)
			study.Costs = append(study.Costs, report.Cost{Axis: a.name, Size: size, Set: set, Get: get})
			if err := save(); err != nil {
				return err
			}
		}
	}
	return nil
}

// GrowthCharts draws a study, by what grows. An axis of which nothing was measured has no chart.
func GrowthCharts(study *report.Study) map[string]report.Chart {
	charts := map[string]report.Chart{}
	for _, a := range axes {
		set, get := report.Line{Name: "SET"}, report.Line{Name: "GET"}
		for _, size := range a.sizes {
			if c, known := study.Find(a.name, size); known {
				set.Points = append(set.Points, report.Point{Size: float64(size), Figure: c.Set})
				get.Points = append(get.Points, report.Point{Size: float64(size), Figure: c.Get})
			}
		}
		if len(set.Points) > 0 {
			charts[a.name] = report.Chart{Title: a.title, Along: a.along, Unit: "microseconds of the server's processor time a request", Bytes: a.bytes, Powers: a.powers,
				Note: study.Note(), Lines: []report.Line{set, get}}
		}
	}
	return charts
}

// point measures on a node of its own: medians of b.Pairs measurements of each.
func (b *Bench) point(ctx context.Context, g growing, keys int, study *report.Study) (set, get float64, err error) {
	t, err := b.Env.StartDev(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer b.stopping(t)()
	if err := sameVersion(ctx, t, study); err != nil {
		return 0, 0, err
	}
	fill := peer.At(t.Fill, t.URLs()...)
	if fill.Value = g.value; g.value > 64<<10 {
		fill.Rows = 4 // of 100 a request would be refused
	}
	if err := fillNode(ctx, fill, keys); err != nil {
		return 0, 0, err
	}
	var sets, gets []float64
	for range b.Pairs {
		for _, s := range []struct {
			spec load.Spec
			to   *[]float64
		}{{t.Set, &sets}, {t.Get, &gets}} {
			cost, err := b.cost(ctx, t, g, keys, s.spec)
			if err != nil {
				return 0, 0, err
			}
			*s.to = append(*s.to, cost)
		}
	}
	return report.Quantile(sets, .5), report.Quantile(gets, .5), nil
}

// sameVersion notes the product's version in the study, or refuses to measure another one for the same charts.
func sameVersion(ctx context.Context, t *peer.Trireme, study *report.Study) error {
	status, err := t.Status(ctx)
	if err != nil {
		return err
	}
	for _, n := range status.Nodes {
		if study.Version == "" {
			study.Version = n.Version
		}
		if study.Version != n.Version {
			return fmt.Errorf("what was measured before is of version %s, the node is %s: start over without -resume", study.Version, n.Version)
		}
	}
	return nil
}

func fillNode(ctx context.Context, fill load.Spec, keys int) error {
	fill.Name, fill.Conns, fill.Requests, fill.Timeout = "loading keys", 8, uint64((keys+fill.Rows-1)/fill.Rows), time.Minute
	r, err := load.Run(ctx, fill)
	return errors.Join(err, r.Failed())
}

// cost is the processor time of the node for each request, in microseconds.
func (b *Bench) cost(ctx context.Context, t *peer.Trireme, g growing, keys int, spec load.Spec) (float64, error) {
	spec = peer.At(spec, t.URLs()...)
	spec.Name, spec.Conns, spec.Keys, spec.Value, spec.Duration, spec.Timeout = "growth", g.conns, keys, g.value, b.Duration, time.Minute
	if spec.Check.Length > len(`{"result":"OK"}`) {
		spec.Check.Length += g.value - peer.ValueSize
	}
	for {
		before, err := t.Nodes[0].ProcessorTime()
		if err != nil {
			return 0, err
		}
		r, err := load.Run(ctx, spec)
		if err == nil && r.Requests+r.Bad+r.Errors == 0 && spec.Duration < spec.Timeout {
			spec.Duration *= 2 // large values on a busy machine: not one was through
			continue
		}
		if err := errors.Join(err, r.Failed()); err != nil {
			return 0, err
		}
		after, err := t.Nodes[0].ProcessorTime()
		if err != nil {
			return 0, err
		}
		return float64((after - before).Microseconds()) / float64(r.Requests), nil
	}
}
