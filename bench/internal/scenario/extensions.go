package scenario

import (
	"bufio"
	"context"
	"fmt"
	"net/http"

	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
	"github.com/trireme-dev/trireme/workflow"
)

// runExtensions measures rows 21 to 25: what extensions cost or save, on one cluster that does the same without them.
func runExtensions(ctx context.Context, b *Bench, rows []*report.Row) {
	plain, stop := b.ourFlows(ctx)
	defer stop()
	for _, row := range rows {
		us, them, stop := b.extension(ctx, plain, row)
		b.rounds(ctx, us, them)
		stop()
		figure := rate
		if row.Part == "p50" {
			figure = p50ms
		}
		compare(row, us, them, figure)
	}
}

// extension returns what a row compares; stop ends what serves it.
func (b *Bench) extension(ctx context.Context, plain *flows, row *report.Row) (us, them *subject, stop func()) {
	var open []func()
	stop = func() {
		for _, end := range open {
			end()
		}
	}
	if plain.err != nil {
		return &subject{name: row.Work, err: plain.err}, &subject{name: row.Against, err: plain.err}, stop
	}
	clients := httpConns
	if row.Part == "p50" {
		clients = 1
	}
	flow := func(name string, fn function, own map[string]string) *subject {
		f, end := plain.beside(fn, own)
		open = append(open, end)
		s := &subject{name: name, err: f.err}
		s.measure = func(ctx context.Context) (load.Result, error) {
			got, err := f.run(ctx, clients, b.Warm, b.Duration)
			return flowResult(name, clients, b.Duration, got), err
		}
		return s
	}
	filling := func(name string, holds func(*http.Request) int64, queries ...string) *subject {
		return b.filling(ctx, name, func(ctx context.Context, n int) (float64, error) {
			return b.deliverAs(ctx, plain.cluster, n-n%100, holds, queries...) // no batch waits for more
		})
	}
	inline := map[string]string{"Inline": "true"}
	switch row.ID {
	case "21":
		return flow("steps in one delivery", empty(3, ""), inline), flow("a delivery for each step", empty(3, ""), nil), stop
	case "25":
		return flow("steps ahead of the log", ahead(2, empty(3, "")), inline), flow("a delivery for each step", empty(3, ""), nil), stop
	case "22":
		rights := map[string]string{"Commit-As": "default", "Commit-Token": peer.AdminToken}
		return flow("steps that commit", committing(3), rights), flow("empty steps", empty(3, ""), nil), stop
	case "23":
		var queries []string
		for priority := range 10 {
			queries = append(queries, fmt.Sprintf("svc-priority=%d", priority))
		}
		return filling("ten priorities", one, queries...), filling("no priorities", one, ""), stop
	default:
		return filling("batches of 100", lines, "svc-batch=key%3Dbench%2Csize%3D100%2Cwait%3D1s"), filling("one by one", one, ""), stop
	}
}

// ahead is a workflow of which so many steps may be done before those before them are recorded.
func ahead(steps int, fn function) function {
	return func(c *workflow.Context, payload []byte) (workflow.None, error) {
		c.SetAhead(steps)
		return fn(c, payload)
	}
}

// committing is a workflow of steps that each set a key.
func committing(steps int) function {
	return func(c *workflow.Context, _ []byte) (workflow.None, error) {
		for i := range steps {
			workflow.Commit(c, fmt.Sprint("step ", i), func(context.Context) (o workflow.Outcome[*int], err error) {
				o.Commands = []workflow.Command{{"SET", fmt.Sprint(c.RunID, ":", i), "done"}}
				return o, nil
			})
		}
		return workflow.None{}, nil
	}
}

// lines is the number of publications in the request of a batch.
func lines(r *http.Request) (n int64) {
	for s := bufio.NewScanner(r.Body); s.Scan(); n++ {
	}
	return n
}
