package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/hist"
	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// runFollower measures rows 16 and 17: what a follower costs over the leader,
// on one connection.
func runFollower(ctx context.Context, b *Bench, rows []*report.Row) {
	t, err := b.cluster(ctx)
	if err != nil {
		for _, r := range rows {
			r.Fail(report.Failed, err)
		}
		return
	}
	defer b.stopping(t)()
	leader, others, _, err := t.Leader(ctx)
	if err != nil {
		for _, r := range rows {
			r.Fail(report.Failed, err)
		}
		return
	}
	for _, row := range rows {
		through := b.setThrough
		if row.ID == "17" {
			through = b.readAfterWrite
		}
		near, far := through(t, leader, leader, "leader"), through(t, leader, others[0], "follower")
		b.rounds(ctx, far, near)
		compare(row, far, near, p50ms)
	}
}

// setThrough is one connection that writes through node.
func (b *Bench) setThrough(t *peer.Trireme, _, node *peer.Node, name string) *subject {
	spec := b.over(t.Set, node.URL)
	spec.Conns = 1
	return b.loading("SET through the "+name, spec)
}

// readAfterWrite is one client that writes through the leader and at once reads
// the same key on node. Only the reads are timed, and each must return what was
// just written: a stale read fails the row.
func (b *Bench) readAfterWrite(t *peer.Trireme, leader, node *peer.Node, name string) *subject {
	s := &subject{name: "read on the " + name}
	s.measure = func(ctx context.Context) (load.Result, error) {
		writer, err := load.Dial(leader.URL, t.Set.Bearer)
		if err != nil {
			return load.Result{}, err
		}
		defer writer.Close()
		reader, err := load.Dial(node.URL, t.Set.Bearer)
		if err != nil {
			return load.Result{}, err
		}
		defer reader.Close()
		h, took, err := alternate(ctx, writer, reader, b.Warm, b.Duration)
		return timed(s.name, h, took), err
	}
	return s
}

// alternate writes and reads until the time is over and returns the latencies
// of the reads after the warm-up.
func alternate(ctx context.Context, writer, reader *load.Caller, warm, counted time.Duration) (*hist.H, time.Duration, error) {
	const limit = 10 * time.Second
	h := &hist.H{}
	begin := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		value := fmt.Sprintf("%064d", begin.UnixNano()+int64(n))
		if _, err := writer.Want(`["SET","after-write","`+value+`"]`, `{"result":"OK"}`, limit); err != nil {
			return h, 0, err
		}
		took, err := reader.Want(`["GET","after-write"]`, `{"result":"`+value+`"}`, limit)
		if err != nil {
			return h, 0, fmt.Errorf("read right after the write of %s: %w", value, err)
		}
		age := time.Since(begin)
		if age > warm {
			h.Add(took)
		}
		if age > warm+counted {
			return h, age - warm, nil
		}
	}
	return h, 0, ctx.Err()
}

// timed makes a result of latencies taken by hand on one connection.
func timed(name string, h *hist.H, took time.Duration) load.Result {
	us := func(q float64) float64 { return float64(h.Quantile(q)) / 1e3 }
	r := load.Result{Name: name, Conns: 1, Rows: 1, Seconds: took.Seconds(), Requests: h.N(),
		P50: us(.5), P99: us(.99), P999: us(.999), Max: float64(h.Max()) / 1e3}
	if took > 0 {
		r.Rate = float64(h.N()) / took.Seconds()
		r.Commands = r.Rate
	}
	return r
}
