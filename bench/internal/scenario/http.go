package scenario

import (
	"context"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// runHTTP measures rows 1 to 4 with the same servers: first writes, then reads.
// Only the peers that the rows ask for are started.
func runHTTP(ctx context.Context, b *Bench, rows []*report.Row) {
	ours := b.ourCluster(ctx)
	defer ours.stop()
	etcd, webdis := side{stop: func() {}}, side{stop: func() {}}
	if asked(rows, "1", "3", "4etcd") {
		etcd = b.etcd(ctx)
	}
	defer etcd.stop()
	if asked(rows, "2", "4webdis") {
		webdis = b.webdis(ctx)
	}
	defer webdis.stop()
	if asked(rows, "1", "2", "3") {
		b.rounds(ctx, only(ours.set, etcd.set, asked(rows, "1", "3"), webdis.set, asked(rows, "2"))...)
		b.profile(ctx, ours.set, ours.leader, "set")
	}
	if asked(rows, "4etcd", "4webdis") {
		b.rounds(ctx, only(ours.get, etcd.get, asked(rows, "4etcd"), webdis.get, asked(rows, "4webdis"))...)
		b.profile(ctx, ours.get, ours.leader, "get")
	}
	for _, row := range rows {
		switch row.ID + row.Part {
		case "1":
			compare(row, ours.set, etcd.set, rate)
		case "2":
			compare(row, ours.set, webdis.set, rate)
		case "3":
			compare(row, ours.set, etcd.set, p99ms)
		case "4etcd":
			compare(row, ours.get, etcd.get, rate)
		case "4webdis":
			compare(row, ours.get, webdis.get, rate)
		}
	}
}

// only is ours with those of the peers that a row asks for.
func only(ours, etcd *subject, withEtcd bool, webdis *subject, withWebdis bool) []*subject {
	all := []*subject{ours}
	if withEtcd {
		all = append(all, etcd)
	}
	if withWebdis {
		all = append(all, webdis)
	}
	return all
}

// runSingle measures row 5: one node of the product against one redis behind webdis.
func runSingle(ctx context.Context, b *Bench, rows []*report.Row) {
	ours := b.ourDev(ctx)
	defer ours.stop()
	webdis := b.webdis(ctx)
	defer webdis.stop()
	b.rounds(ctx, ours.set, webdis.set)
	b.profile(ctx, ours.set, ours.leader, "single-set")
	b.rounds(ctx, ours.get, webdis.get)
	b.profile(ctx, ours.get, ours.leader, "single-get")
	for _, row := range rows {
		if row.Part == "SET" {
			compare(row, ours.set, webdis.set, rate)
		} else {
			compare(row, ours.get, webdis.get, rate)
		}
	}
}

// Row 6's shape.
const (
	pipelineConns = 16
	pipelineRows  = 100
)

// runPipeline measures row 6: our pipelines against redis-benchmark's.
func runPipeline(ctx context.Context, b *Bench, rows []*report.Row) {
	ours := b.ourPipeline(ctx)
	defer ours.stop()
	redis, stop := b.redisBenchmark(ctx)
	defer stop()
	b.rounds(ctx, ours.set, redis)
	b.profile(ctx, ours.set, ours.leader, "pipeline")
	compare(rows[0], ours.set, redis, rate)
}

// ourPipeline is three nodes of the product under pipelines.
func (b *Bench) ourPipeline(ctx context.Context) side {
	t, err := b.cluster(ctx)
	if err != nil {
		return absent("ours", err)
	}
	leader, _, _, err := t.Leader(ctx)
	if err != nil {
		b.stopping(t)()
		return absent("ours", err)
	}
	spec := peer.At(t.Fill, b.writeURLs(leader.URL, t.URLs())...)
	spec.Conns, spec.Rows, spec.Keys = pipelineConns, pipelineRows, b.Keys
	return side{set: b.loading("ours pipeline", spec), leader: leader, stop: b.stopping(t)}
}

// redisBenchmark is a durable redis-server under redis-benchmark.
func (b *Bench) redisBenchmark(ctx context.Context) (*subject, func()) {
	r, err := b.Env.StartRedis(ctx, "redis-pipeline", true)
	if err != nil {
		return &subject{name: "redis-benchmark", err: err}, func() {}
	}
	b.noteRedis(r)
	return b.benchmarking(ctx, "redis-benchmark", r.Benchmark, pipelineConns, pipelineRows), b.stopping(r)
}

// benchmark is one run of redis-benchmark: n requests over connections, pipeline commands
// at a time, to keys below a number. It gives commands a second.
type benchmark func(ctx context.Context, n, conns, pipeline, keys int) (float64, error)

// benchmarking is a subject under redis-benchmark. A first run that is not counted finds
// how many requests fill the measured time.
func (b *Bench) benchmarking(ctx context.Context, name string, run benchmark, conns, pipeline int) *subject {
	trial := 3_000 * pipeline
	s := &subject{name: name}
	perSecond, err := run(ctx, trial, conns, pipeline, b.Keys)
	s.err = err
	n := max(trial, int(perSecond*b.Duration.Seconds()))
	s.measure = func(ctx context.Context) (load.Result, error) {
		begin := time.Now()
		per, err := run(ctx, n, conns, pipeline, b.Keys)
		return load.Result{Name: s.name, Conns: conns, Rows: pipeline, Commands: per, Seconds: time.Since(begin).Seconds()}, err
	}
	return s
}
