package scenario

import (
	"context"
	"errors"
	"time"

	"trireme/bench/internal/load"
	"trireme/bench/internal/peer"
	"trireme/bench/internal/report"
)

// axis is one size that grows while the others stay.
type axis struct {
	title, along string
	sizes        []int
	powers       bool // figures grow by factors as well
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

// axes are what the cost of a request is drawn over.
var axes = []axis{
	{title: "Cost of a request as keys grow", along: "keys of 64 B values, 64 connections", sizes: []int{10_000, 100_000, 1_000_000, 10_000_000},
		at: func(g *growing, size int) int { return size }},
	{title: "Cost of a request as connections grow", along: "connections, 100,000 keys of 64 B values", sizes: []int{1, 4, 16, 64, 256, 1024},
		at: func(g *growing, size int) int { g.conns = size; return growthKeys }},
	{title: "Cost of a request as values grow", along: "bytes of a value, 16 connections, 64 keys", sizes: []int{16, 256, 4 << 10, 64 << 10, 1 << 20}, powers: true,
		at: func(g *growing, size int) int { g.conns, g.value = 16, size; return 64 }},
}

// Growth draws the processor time that one node needs for a SET and for a GET over HTTP,
// as keys, connections and values grow. most leaves out points with more keys. Each chart
// is handed to done when it is complete.
func (b *Bench) Growth(ctx context.Context, most int, done func(name string, c report.Chart) error) error {
	for i, name := range []string{"keys", "connections", "values"} {
		a := &axes[i]
		c := report.Chart{Title: a.title, Along: a.along, Unit: "microseconds of the server's processor time", Powers: a.powers,
			Lines: []report.Line{{Name: "SET"}, {Name: "GET"}}}
		for _, size := range a.sizes {
			g := growing{conns: growthConns, value: peer.ValueSize}
			keys := a.at(&g, size)
			if keys > most {
				b.Log("  %s: %d left out", name, size)
				continue
			}
			set, get, err := b.point(ctx, g, keys)
			if err != nil {
				return err
			}
			b.Log("  %s %d: SET %.1f us, GET %.1f us", name, size, set, get)
			c.Lines[0].Points = append(c.Lines[0].Points, report.Point{Size: float64(size), Figure: set})
			c.Lines[1].Points = append(c.Lines[1].Points, report.Point{Size: float64(size), Figure: get})
		}
		if len(c.Lines[0].Points) == 0 {
			continue
		}
		if err := done(name, c); err != nil {
			return err
		}
	}
	return nil
}

// point measures on a node of its own: medians of b.Pairs measurements of each.
func (b *Bench) point(ctx context.Context, g growing, keys int) (set, get float64, err error) {
	t, err := b.Lab.StartDev(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer b.stopping(t)()
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
