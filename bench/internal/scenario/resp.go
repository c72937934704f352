package scenario

import (
	"context"

	"github.com/trireme-dev/trireme/bench/internal/report"
)

// singleConns is the number of connections of row 7 without pipelines.
const singleConns = 64

// runRESP measures row 7: redis-benchmark against one node of the product and against a durable
// redis-server, with pipelines and without.
func runRESP(ctx context.Context, b *Bench, rows []*report.Row) {
	t, err := b.Env.StartDev(ctx)
	if err != nil {
		for _, row := range rows {
			row.Fail(report.Failed, err)
		}
		return
	}
	defer b.stopping(t)()
	r, err := b.Env.StartRedis(ctx, "redis-resp", true)
	if err != nil {
		for _, row := range rows {
			row.Fail(verdictOf(nil, err), err)
		}
		return
	}
	defer b.stopping(r)()
	b.noteRedis(r)
	for _, row := range rows {
		conns, pipeline := singleConns, 1
		if row.Part == "P100" {
			conns, pipeline = pipelineConns, pipelineRows
		}
		ours := b.benchmarking(ctx, "ours RESP "+row.Part, t.Nodes[0].Benchmark, conns, pipeline)
		redis := b.benchmarking(ctx, "redis "+row.Part, r.Benchmark, conns, pipeline)
		b.rounds(ctx, ours, redis)
		compare(row, ours, redis, rate)
	}
}
