package scenario

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// Cache is the load of Eviction.
type Cache struct {
	Memory int // limit of either server by its own account, in bytes
	Value  int // bytes of a value
}

// Of a cache that holds n keys, so many times n are read, and so many times n reads are made, by Zipf's law with this
// exponent.
const (
	cacheKeys  = 10
	cacheReads = 30
	cacheSkew  = 1.01
	// keyOverhead is about what a key costs besides its value, for that n.
	keyOverhead = 120
)

func (c Cache) load(seed int64) peer.CacheLoad {
	fit := c.Memory / (c.Value + keyOverhead)
	return peer.CacheLoad{Keys: cacheKeys * fit, Reads: cacheReads * fit, Value: c.Value, Skew: cacheSkew, Seed: seed}
}

// Eviction compares the hit rates of a cache with redis-server's, by one policy and with the same memory: the reads are the
// same, in the same order.
func (b *Bench) Eviction(ctx context.Context, policy string, c Cache) *report.Row {
	row := &report.Row{ID: "eviction", Part: policy, Work: fmt.Sprintf("hit rate of a cache of %d MiB, points below redis-server's", c.Memory>>20),
		Against: "redis", Unit: "%", AtMost: true, Line: 2, AimAt: 0.5}
	for i := range b.Pairs {
		l := c.load(int64(i + 1))
		ours, err := b.ourHitRate(ctx, policy, c.Memory, l)
		if err != nil {
			row.Fail(report.Failed, err)
			return row
		}
		theirs, err := b.redisHitRate(ctx, policy, c.Memory, l)
		if err != nil {
			row.Fail(verdictOf(nil, err), err)
			return row
		}
		b.Log("  %d/%d %s: %s, redis-server %s", i+1, b.Pairs, policy, ours, theirs)
		row.Pairs = append(row.Pairs, report.Pair{Ours: ours.percent, Peer: theirs.percent, Value: theirs.percent - ours.percent})
		row.Note("%s, redis-server %s at the end, of %d that were read %d times", ours, theirs, l.Keys, l.Reads)
	}
	row.Judge()
	return row
}

// cacheResult is the result of the load on one server.
type cacheResult struct {
	percent float64
	keys    string
}

func (r cacheResult) String() string { return fmt.Sprintf("%.2f %% with %s keys", r.percent, r.keys) }

func (b *Bench) ourHitRate(ctx context.Context, policy string, memory int, l peer.CacheLoad) (c cacheResult, err error) {
	defer func(was []string) { b.Env.Args = was }(b.Env.Args)
	b.Env.Args = slices.Concat(b.Env.Args, []string{"--max-memory", strconv.Itoa(memory), "--max-memory-policy", policy})
	t, err := b.Env.StartDev(ctx)
	if err != nil {
		return c, err
	}
	defer b.stopping(t)()
	b.noteVersion(ctx, t)
	if c.percent, err = t.Nodes[0].HitRate(ctx, l); err != nil {
		return c, err
	}
	c.keys, err = t.Nodes[0].Keys()
	return c, err
}

func (b *Bench) redisHitRate(ctx context.Context, policy string, memory int, l peer.CacheLoad) (c cacheResult, err error) {
	r, err := b.Env.StartRedis(ctx, "redis-cache", false)
	if err != nil {
		return c, err
	}
	defer b.stopping(r)()
	b.noteRedis(r)
	if c.percent, err = r.HitRate(ctx, l, memory, policy); err != nil {
		return c, err
	}
	c.keys, err = r.Do("DBSIZE")
	return c, err
}
