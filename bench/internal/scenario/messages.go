package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

const (
	// nowhere is a destination that no message reaches while it is measured: they wait
	// for a day.
	nowhere = "http://nowhere.test/"
	aDay    = "upstash-delay=1d"
	// The figures of acceptance run message-cost.
	latencyLine = 5.0  // ms
	costLine    = 1000 // bytes
	slowLine    = 0.9
	// latencyProbes are measured one after the other, latencyPause apart.
	latencyProbes = 300
	latencyPause  = 10 * time.Millisecond
)

// runPublish measures row 12: publish against SET of the same cluster, and against three
// NATS servers.
func runPublish(ctx context.Context, b *Bench, rows []*report.Row) {
	ours := b.ourCluster(ctx)
	defer ours.stop()
	publish := &subject{name: "ours publish", err: ours.set.err}
	if ours.leader != nil {
		publish = b.loading("ours publish", b.over(peer.Publish(nowhere, aDay), b.writeURLs(ours.leader.URL, ours.urls)...))
	}
	subjects := []*subject{publish}
	nats := &subject{name: "NATS publish"}
	if asked(rows, "12NATS") {
		n, err := b.Env.StartNATS(ctx)
		if nats.err = err; err == nil {
			defer b.stopping(n)()
		}
		nats.measure = func(ctx context.Context) (load.Result, error) {
			per, err := n.Publish(ctx, httpConns, b.Duration)
			return load.Result{Name: nats.name, Conns: httpConns, Commands: per, Seconds: b.Duration.Seconds()}, err
		}
		subjects = append(subjects, nats)
	}
	if asked(rows, "12SET") {
		subjects = append(subjects, ours.set)
	}
	b.rounds(ctx, subjects...)
	b.profile(ctx, publish, ours.leader, "publish")
	for _, row := range rows {
		other := ours.set
		if row.Part == "NATS" {
			other = nats
		}
		compare(row, publish, other, rate)
	}
}

// Messages is acceptance run message-cost but for rows 12 and 13: how soon a message
// reaches its destination on an idle node, and what b.BigKeys waiting messages cost.
func (b *Bench) Messages(ctx context.Context) []*report.Row {
	latency := &report.Row{ID: "message-cost", Part: "latency", Work: "publish to the sink, one node, idle, p50", Against: "none", Unit: "ms", AtMost: true, Line: latencyLine, AimAt: latencyLine / 2}
	cost := &report.Row{ID: "message-cost", Part: "cost", Work: fmt.Sprintf("live heap of a waiting message above its body, %d wait", b.BigKeys), Against: "none", Unit: "B", AtMost: true, Line: costLine, AimAt: costLine / 2}
	slow := &report.Row{ID: "message-cost", Part: "rate", Work: fmt.Sprintf("publish while %d messages wait, one node", b.BigKeys), Against: "a node where none wait", Unit: "req/s", Ratio: true, Line: slowLine, AimAt: 1}
	rows := []*report.Row{latency, cost, slow}
	b.Env.Pprof = true
	settle := func(row *report.Row, err error) {
		if err != nil {
			row.Fail(report.Failed, err)
			return
		}
		row.Judge()
	}
	settle(latency, b.latency(ctx, latency))
	err := b.waiting(ctx, cost, slow)
	settle(cost, err)
	if err != nil {
		slow.Fail(report.Failed, err)
	}
	return rows
}

// latency publishes one message after the other to a sink of its own.
func (b *Bench) latency(ctx context.Context, row *report.Row) error {
	t, err := b.Env.StartDev(ctx)
	if err != nil {
		return err
	}
	defer b.stopping(t)()
	arrived := make(chan time.Time, 1)
	url, stop, err := sink(func() { arrived <- time.Now() })
	if err != nil {
		return err
	}
	defer stop()
	for i := range latencyProbes {
		sleep(ctx, latencyPause)
		begin := time.Now()
		if err := t.Nodes[0].PublishOne(ctx, url); err != nil {
			return err
		}
		select {
		case at := <-arrived:
			if i >= latencyProbes/10 { // the first warm up
				row.Add(float64(at.Sub(begin))/1e6, 0)
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Second):
			return errors.New("a message did not arrive")
		}
	}
	return nil
}

// sink is a destination in this process.
func sink(arrived func()) (url string, stop func(), err error) {
	return serveHere(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived() }))
}

// waiting loads a node with messages that wait, and compares it with one that has none.
func (b *Bench) waiting(ctx context.Context, cost, slow *report.Row) error {
	full, err := b.Env.StartDev(ctx)
	if err != nil {
		return err
	}
	defer b.stopping(full)()
	before, err := full.Nodes[0].LiveHeap(ctx)
	if err != nil {
		return err
	}
	b.Log("  publishing %d messages that wait", b.BigKeys)
	fill := peer.At(peer.PublishMany(nowhere), full.URLs()...)
	fill.Name, fill.Conns, fill.Requests = "messages that wait", 8, uint64(b.BigKeys/fill.Rows)
	fill.Timeout = time.Minute
	r, err := load.Run(ctx, fill)
	if err := errors.Join(err, r.Failed()); err != nil {
		return err
	}
	after, err := full.Nodes[0].LiveHeap(ctx)
	if err != nil {
		return err
	}
	cost.Add((after-before)/float64(b.BigKeys)-peer.ValueSize, 0)
	cost.Note("live heap %.0f MB before, %.0f MB after; bodies of %d bytes", before/1e6, after/1e6, peer.ValueSize)
	empty, err := b.Env.StartOther(ctx)
	if err != nil {
		return err
	}
	defer b.stopping(empty)()
	many := b.loading("beside many", b.over(peer.Publish(nowhere, aDay), full.URLs()...))
	none := b.loading("beside none", b.over(peer.Publish(nowhere, aDay), empty.URLs()...))
	b.rounds(ctx, many, none)
	compare(slow, many, none, rate)
	return nil
}
