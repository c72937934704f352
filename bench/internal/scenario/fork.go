package scenario

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/metrics"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// Histograms of the product that tell how long it held its state up: one apply
// of a log entry, and one fork for a snapshot.
const (
	applyMetric = "trireme_apply_seconds"
	forkMetric  = "trireme_snapshot_fork_seconds"
)

// runFork measures row 9: the longest apply or fork of the product while a snapshot
// of many keys is written under load, against the time for which redis stands
// still in fork.
func runFork(ctx context.Context, b *Bench, rows []*report.Row) {
	row := rows[0]
	redis, stop, redisErr := b.bigRedis(ctx)
	defer stop()
	t, err := b.bigNode(ctx)
	if err != nil {
		row.Fail(report.Failed, err)
		return
	}
	defer b.stopping(t)()
	if err := b.forks(ctx, row, t, redis, redisErr); err != nil {
		row.Fail(verdictOf(nil, err), err)
		return
	}
	row.Judge()
	row.Note("ours is the upper edge of the highest bucket of %s and %s that filled during a snapshot", applyMetric, forkMetric)
}

// bigRedis is a redis-server without an append-only file, with many keys.
func (b *Bench) bigRedis(ctx context.Context) (*peer.Redis, func(), error) {
	r, err := b.Env.StartRedis(ctx, "redis-fork", false)
	if err != nil {
		return nil, func() {}, err
	}
	b.noteRedis(r)
	return r, b.stopping(r), r.Fill(b.BigKeys)
}

// bigNode is a node of the product with many keys.
func (b *Bench) bigNode(ctx context.Context) (*peer.Trireme, error) {
	t, err := b.Env.StartDev(ctx)
	if err != nil {
		return nil, err
	}
	b.Log("  loading %d keys", b.BigKeys)
	if err := t.Preload(ctx, b.BigKeys); err != nil {
		return nil, errors.Join(err, t.Stop())
	}
	b.noteVersion(ctx, t)
	return t, nil
}

// forks takes the pairs in turns.
func (b *Bench) forks(ctx context.Context, row *report.Row, t *peer.Trireme, redis *peer.Redis, redisErr error) error {
	if redisErr != nil {
		return redisErr
	}
	for i := range b.Pairs {
		ours, quiet, err := b.snapshotStall(ctx, t)
		if err != nil {
			return err
		}
		fork, err := redis.Fork(ctx)
		if err != nil {
			return err
		}
		row.Add(float64(ours)/1e6, float64(fork)/1e6)
		b.Log("  %d/%d ours at most %v (%v without a snapshot), redis fork %v", i+1, b.Pairs, ours, quiet, fork)
	}
	return nil
}

// snapshotStall writes on one connection, first for the measured time without
// a snapshot, then through one, and returns the worst of each.
func (b *Bench) snapshotStall(ctx context.Context, t *peer.Trireme) (during, quiet time.Duration, err error) {
	spec := peer.At(t.Set, t.URLs()...)
	spec.Name, spec.Conns, spec.Keys, spec.Duration = "writes beside a snapshot", 1, b.BigKeys, time.Hour
	stop := make(chan struct{})
	spec.Stop = stop
	done := make(chan error, 1)
	go func() {
		r, err := load.Run(ctx, spec)
		done <- errors.Join(err, r.Failed())
	}()
	node := t.Nodes[0]
	quiet, err = worstDuring(ctx, node, func() error { sleep(ctx, b.Warm); return nil })
	if err == nil {
		during, err = worstDuring(ctx, node, func() error { return node.Snapshot(ctx) })
	}
	close(stop)
	return during, quiet, errors.Join(err, <-done)
}

// worstDuring reads the histograms around f.
func worstDuring(ctx context.Context, node *peer.Node, f func() error) (time.Duration, error) {
	before, err := node.Metrics(ctx)
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	after, err := node.Metrics(ctx)
	if err != nil {
		return 0, err
	}
	return worstBetween(before, after)
}

// worstBetween is the longest apply or fork between two scrapes.
func worstBetween(before, after []byte) (time.Duration, error) {
	worst := 0.0
	for _, name := range []string{applyMetric, forkMetric} {
		b, err := metrics.Read(before, name)
		if err != nil {
			return 0, err
		}
		a, err := metrics.Read(after, name)
		if err != nil {
			return 0, err
		}
		if name == applyMetric && metrics.Count(b, a) == 0 {
			return 0, errors.New("nothing was applied meanwhile")
		}
		worst = max(worst, metrics.Worst(b, a))
	}
	if math.IsInf(worst, 1) {
		return 0, fmt.Errorf("%s or %s lay above its last bucket", applyMetric, forkMetric)
	}
	return time.Duration(worst * float64(time.Second)), nil
}
