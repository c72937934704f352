package scenario

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// The lines of Memory: the live heap, and the resident memory some seconds after the last write, as redis-server has them.
const (
	liveLine, liveAim         = 1.5, 1.3
	residentLine, residentAim = 2, 1.6
)

// settleTime passes between the last write and the look at the resident memory.
const settleTime = 8 * time.Second

// A shape is a kind of value: what one unit of it is, and the commands that make it.
type shape struct {
	name, unit string
	part       int // b.BigKeys divided by it are the units
	command    func(i int) []string
}

// elementsOf is a command on a key of its own with ten elements, each of which words makes.
func elementsOf(name string, words func(j int) []string) func(i int) []string {
	return func(i int) []string {
		argv := []string{name, fmt.Sprintf("key:%07d", i)}
		for j := range 10 {
			argv = append(argv, words(j)...)
		}
		return argv
	}
}

var shapes = []shape{
	{"strings of 64 bytes", "key", 1, func(i int) []string { return []string{"SET", fmt.Sprintf("key:%09d", i), fmt.Sprintf("%064d", i)} }},
	{"hashes of 10 fields", "key", 2, elementsOf("HSET", func(j int) []string { return []string{fmt.Sprint("field:", j), fmt.Sprint("value:", j)} })},
	{"sorted sets of 10 members", "key", 2, elementsOf("ZADD", func(j int) []string { return []string{strconv.Itoa(j), fmt.Sprint("member:", j)} })},
	{"sets of 10 members", "key", 2, elementsOf("SADD", func(j int) []string { return []string{fmt.Sprint("member:", j)} })},
	{"lists of 10 elements", "key", 2, elementsOf("RPUSH", func(j int) []string { return []string{fmt.Sprint("element:", j)} })},
	{"one large list", "element", 1, func(i int) []string { return []string{"RPUSH", "list", fmt.Sprint("element:", i)} }},
	{"one large hash", "field", 1, func(i int) []string {
		return []string{"HSET", "hash", fmt.Sprint("field:", i), fmt.Sprint("value:", i)}
	}},
	{"one large set", "member", 1, func(i int) []string { return []string{"SADD", "set", fmt.Sprint("member:", i)} }},
	{"one large sorted set", "member", 1, func(i int) []string { return []string{"ZADD", "zset", strconv.Itoa(i), fmt.Sprint("member:", i)} }},
	{"one large stream", "entry", 1, func(i int) []string {
		return []string{"XADD", "stream", fmt.Sprintf("%d-0", i+1), "field", fmt.Sprint("value:", i)}
	}},
}

// Memory measures what values of each kind take in memory, on one node and on one redis-server: the live heap a unit after a
// collection, beside used_memory, and the resident memory of the process eight seconds after the last write.
func (b *Bench) Memory(ctx context.Context, put func([]*report.Row)) {
	defer func(was bool) { b.Env.Pprof = was }(b.Env.Pprof)
	b.Env.Pprof = true // the heap is read there
	for _, s := range shapes {
		n := b.BigKeys / s.part
		live := &report.Row{ID: "memory", Part: s.name, Work: fmt.Sprintf("%s (%d %ss), live", s.name, n, s.unit), Against: "redis used_memory", Unit: "B a " + s.unit,
			Ratio: true, AtMost: true, Line: liveLine, AimAt: liveAim}
		resident := &report.Row{ID: "memory", Part: s.name + ", resident", Work: fmt.Sprintf("%s, resident after %v", s.name, settleTime), Against: "redis", Unit: "B a " + s.unit,
			Ratio: true, AtMost: true, Line: residentLine, AimAt: residentAim}
		rows := []*report.Row{live, resident}
		for range b.Pairs {
			ours, err := b.ourShape(ctx, s, n)
			var theirs [2]float64
			if err == nil {
				theirs, err = b.redisShape(ctx, s, n)
			}
			if err != nil {
				for _, row := range rows {
					row.Fail(verdictOf(nil, err), err)
				}
				break
			}
			b.Log("  %s: ours %.0f B live, %.0f resident; redis %.0f, %.0f", s.name, ours[0], ours[1], theirs[0], theirs[1])
			for i, row := range rows {
				row.Add(ours[i], theirs[i])
			}
		}
		for _, row := range rows {
			row.Judge()
		}
		put(rows)
		if ctx.Err() != nil {
			return
		}
	}
}

// fill writes n units of a shape.
func (s *shape) fill(ctx context.Context, c *peer.Client, n int) error {
	for at := 0; at < n; at += fillBatch {
		if err := ctx.Err(); err != nil {
			return err
		}
		var batch [][]string
		for i := at; i < min(at+fillBatch, n); i++ {
			batch = append(batch, s.command(i))
		}
		if err := c.RunAll(batch); err != nil {
			return err
		}
	}
	return nil
}

// ourShape returns the bytes of a unit, live and resident, each less what the process took without keys.
func (b *Bench) ourShape(ctx context.Context, s shape, n int) (bytes [2]float64, err error) {
	t, err := b.Env.StartDev(ctx)
	if err != nil {
		return bytes, err
	}
	defer b.stopping(t)()
	b.noteVersion(ctx, t)
	node := t.Nodes[0]
	var before, after [2]float64
	if before[1], err = node.Resident(); err != nil {
		return bytes, err
	}
	before[1] += newestBytes
	if err := b.onClient(node, fillNewest); err != nil {
		return bytes, err
	}
	if before[0], err = node.LiveHeap(ctx); err != nil {
		return bytes, err
	}
	if err := b.onClient(node, func(c *peer.Client) error { return s.fill(ctx, c, n) }); err != nil {
		return bytes, err
	}
	if err := waitSettled(ctx); err != nil {
		return bytes, err
	}
	if after[1], err = node.Resident(); err != nil {
		return bytes, err
	}
	if err := node.Snapshot(ctx); err != nil { // none is under way, which would hold older versions of the state
		return bytes, err
	}
	if after[0], err = node.LiveHeap(ctx); err != nil {
		return bytes, err
	}
	return perUnit(before, after, n), nil
}

// newestBytes is what a node keeps of the newest log entries in memory (cacheBytes of package logstore): a constant, which is not what a
// unit takes.
const newestBytes = 8 << 20

// fillNewest writes more than newestBytes, and no key.
func fillNewest(c *peer.Client) error {
	const values, size = 24, 512 << 10
	value := strings.Repeat("v", size)
	for range values {
		if err := c.RunAll([][]string{{"SET", "newest", value}}); err != nil {
			return err
		}
	}
	return c.RunAll([][]string{{"DEL", "newest"}})
}

// redisShape does the same for redis-server.
func (b *Bench) redisShape(ctx context.Context, s shape, n int) (bytes [2]float64, err error) {
	r, err := b.Env.StartRedis(ctx, "redis-memory", false)
	if err != nil {
		return bytes, err
	}
	defer b.stopping(r)()
	b.noteRedis(r)
	look := func() (now [2]float64, err error) {
		if now[0], err = usedMemory(r); err == nil {
			now[1], err = r.Resident()
		}
		return now, err
	}
	before, err := look()
	if err != nil {
		return bytes, err
	}
	if err := b.onClient(r, func(c *peer.Client) error { return s.fill(ctx, c, n) }); err != nil {
		return bytes, err
	}
	if err := waitSettled(ctx); err != nil {
		return bytes, err
	}
	after, err := look()
	return perUnit(before, after, n), err
}

func perUnit(before, after [2]float64, n int) [2]float64 {
	return [2]float64{(after[0] - before[0]) / float64(n), (after[1] - before[1]) / float64(n)}
}

// waitSettled waits for settleTime.
func waitSettled(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(settleTime):
		return nil
	}
}
