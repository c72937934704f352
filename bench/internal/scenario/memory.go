package scenario

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// rewrites is the number of times that each key is overwritten before row 10b reads the resident memory.
const rewrites = 5

// runMemory measures rows 10, 10b and 11 on one node and one redis-server that hold the same
// many keys: what a key takes in memory, what the process takes after the keys were written
// again and again, and how long each needs until it serves them again after it was killed
// beside a fresh snapshot.
func runMemory(ctx context.Context, b *Bench, rows []*report.Row) {
	if err := b.memory(ctx, rows); err != nil {
		for _, row := range rows {
			row.Fail(verdictOf(nil, err), err)
		}
		return
	}
	for _, row := range rows {
		row.Judge()
	}
}

func (b *Bench) memory(ctx context.Context, rows []*report.Row) error {
	defer func(was bool) { b.Env.Pprof = was }(b.Env.Pprof)
	b.Env.Pprof = true // the heap is read there
	rewrite := slices.ContainsFunc(rows, func(r *report.Row) bool { return r.ID == "10b" })
	for i := range b.Pairs {
		ours, err := b.ourFootprint(ctx, rewrite)
		if err != nil {
			return err
		}
		theirs, err := b.redisFootprint(ctx, rewrite)
		if err != nil {
			return err
		}
		b.Log("  %d/%d ours %.0f B a key, back in %v; redis %.0f B, %v", i+1, b.Pairs, ours.perKey, ours.back, theirs.perKey, theirs.back)
		for _, row := range rows {
			switch row.ID {
			case "10":
				row.Add(ours.perKey, theirs.perKey)
			case "10b":
				row.Add(ours.resident, theirs.resident)
			case "11":
				row.Add(ours.back.Seconds()*1e3, theirs.back.Seconds()*1e3)
			}
		}
	}
	for _, row := range rows {
		switch row.ID {
		case "10":
			row.Note("live heap after a collection, and redis's used_memory, each less what it was without keys")
		case "10b":
			row.Note("the process's resident memory after each key was written six times, right then")
		default:
			row.Note("kill -9 right after a snapshot, and right after SAVE; until a key is read")
		}
	}
	return nil
}

// footprint is the memory of a server with many keys.
type footprint struct {
	perKey   float64 // bytes
	resident float64 // MB, if asked for
	back     time.Duration
	used     time.Duration // processor time of the product meanwhile
}

func (b *Bench) ourFootprint(ctx context.Context, rewrite bool) (f footprint, err error) {
	t, err := b.Env.StartDev(ctx)
	if err != nil {
		return f, err
	}
	defer b.stopping(t)()
	node := t.Nodes[0]
	before, err := node.LiveHeap(ctx)
	if err != nil {
		return f, err
	}
	if err := t.Preload(ctx, b.BigKeys); err != nil {
		return f, err
	}
	b.noteVersion(ctx, t)
	if rewrite {
		fill := func() error { return t.Preload(ctx, b.BigKeys) }
		if f.resident, err = resident(fill, node.Resident); err != nil {
			return f, err
		}
	}
	if err := node.Snapshot(ctx); err != nil { // none is under way, which would hold older versions of the state
		return f, err
	}
	after, err := node.LiveHeap(ctx)
	if err != nil {
		return f, err
	}
	f.perKey = (after - before) / float64(b.BigKeys)
	if err := node.Kill(); err != nil {
		return f, err
	}
	begin := time.Now()
	if err := t.Restart(ctx, node); err != nil {
		return f, err
	}
	f.back = time.Since(begin)
	f.used, err = node.ProcessorTime()
	return f, err
}

func (b *Bench) redisFootprint(ctx context.Context, rewrite bool) (f footprint, err error) {
	r, err := b.Env.StartRedis(ctx, "redis-memory", false)
	if err != nil {
		return f, err
	}
	defer b.stopping(r)()
	b.noteRedis(r)
	before, err := usedMemory(r)
	if err != nil {
		return f, err
	}
	if err := r.Fill(b.BigKeys); err != nil {
		return f, err
	}
	if rewrite {
		fill := func() error { return r.Fill(b.BigKeys) }
		if f.resident, err = resident(fill, r.Resident); err != nil {
			return f, err
		}
	}
	after, err := usedMemory(r)
	if err != nil {
		return f, err
	}
	f.perKey = (after - before) / float64(b.BigKeys)
	if _, err := r.Do("SAVE"); err != nil {
		return f, err
	}
	f.back, err = r.Restart(ctx)
	return f, err
}

// resident writes all keys again and returns the server's memory after that, in MB.
func resident(fill func() error, read func() (float64, error)) (float64, error) {
	for range rewrites {
		if err := fill(); err != nil {
			return 0, err
		}
	}
	bytes, err := read()
	return bytes / 1e6, err
}

func usedMemory(r *peer.Redis) (float64, error) {
	text, err := r.Info("used_memory")
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}
