package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// deliveryTrial is the number of messages of a first run, which determines the number for the
// measured time.
const deliveryTrial = 3200

// runDeliveries measures row 13: publish, post to a sink, and note that it was delivered.
func runDeliveries(ctx context.Context, b *Bench, rows []*report.Row) {
	flags := b.Env.Args
	b.Env.Args = append(append([]string{}, flags...), "--egress-allow", "127.0.0.0/8")
	t, err := b.Env.StartCluster(ctx)
	b.Env.Args = flags
	ours := &subject{name: "ours deliveries", err: err}
	if err == nil {
		defer b.stopping(t)()
		b.noteVersion(ctx, t)
		ours = b.filling(ctx, "ours deliveries", func(ctx context.Context, n int) (float64, error) { return b.deliver(ctx, t, n) })
	}
	subjects := []*subject{ours}
	peers := map[string]*subject{}
	for _, row := range rows {
		s, stop := b.asynq(ctx, row.Part == "durable")
		defer stop()
		peers[row.Part] = s
		subjects = append(subjects, s)
	}
	b.rounds(ctx, subjects...)
	for _, row := range rows {
		compare(row, ours, peers[row.Part], rate)
	}
}

// asynq is asynq on a redis-server, which syncs each write or none.
func (b *Bench) asynq(ctx context.Context, durable bool) (*subject, func()) {
	name := "asynq, no persistence"
	if durable {
		name = "asynq, fsync always"
	}
	r, err := b.Env.StartRedis(ctx, "redis-asynq", durable)
	if err != nil {
		return &subject{name: name, err: err}, func() {}
	}
	b.noteRedis(r)
	return b.filling(ctx, name, func(ctx context.Context, n int) (float64, error) { return b.Env.RunAsynq(ctx, r, n, httpConns) }), b.stopping(r)
}

// filling is a subject that does n things in a round, as many as fill the measured time,
// and returns how many a second.
func (b *Bench) filling(ctx context.Context, name string, run func(ctx context.Context, n int) (float64, error)) *subject {
	s := &subject{name: name}
	perSecond, err := run(ctx, deliveryTrial)
	s.err = err
	n := max(deliveryTrial, int(perSecond*b.Duration.Seconds()))
	s.measure = func(ctx context.Context) (load.Result, error) {
		begin := time.Now()
		per, err := run(ctx, n)
		return load.Result{Name: name, Conns: httpConns, Commands: per, Seconds: time.Since(begin).Seconds()}, err
	}
	return s
}

// deliver publishes n messages through the leader and returns how many a second were
// delivered, until the last was noted as such.
func (b *Bench) deliver(ctx context.Context, t *peer.Trireme, n int) (float64, error) {
	return b.deliverAs(ctx, t, n, one, "")
}

// one is a message in each request.
func one(*http.Request) int64 { return 1 }

// deliverAs publishes with one of these queries on each connection; holds says how many publications a request of the server delivers.
func (b *Bench) deliverAs(ctx context.Context, t *peer.Trireme, n int, holds func(*http.Request) int64, queries ...string) (float64, error) {
	leader, _, _, err := t.Leader(ctx)
	if err != nil {
		return 0, err
	}
	var arrived atomic.Int64
	url, stop, err := serveHere(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived.Add(holds(r)) }))
	if err != nil {
		return 0, err
	}
	defer stop()
	spec := b.over(peer.Publish(url, queries[0]), b.writeURLs(leader.URL, t.URLs())...)
	for _, q := range queries[1:] {
		more := b.over(peer.Publish(url, q), b.writeURLs(leader.URL, t.URLs())...)
		spec.Targets = append(spec.Targets, more.Targets...)
	}
	spec.Requests = uint64(n)
	begin := time.Now()
	r, err := load.Run(ctx, spec)
	if err := errors.Join(err, r.Failed()); err != nil {
		return 0, err
	}
	for limit := time.Now().Add(startTime); arrived.Load() < int64(r.Requests); sleep(ctx, time.Millisecond) {
		if ctx.Err() != nil || time.Now().After(limit) {
			return 0, fmt.Errorf("%d of %d messages arrived", arrived.Load(), n)
		}
	}
	if err := leader.Settled(ctx); err != nil {
		return 0, err
	}
	return float64(r.Requests) / time.Since(begin).Seconds(), nil
}

// startTime bounds the arrival of the last messages.
const startTime = time.Minute
