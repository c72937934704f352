package scenario

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// The figures of acceptance runs workflow-step-cost and workflow-growth.
const (
	stepLine = 1024 // bytes above the output
	// growthLine bounds the factor by which the cost may grow with twice as many steps: two, and room for noise. Quadratic
	// growth has a factor of four.
	growthLine = 2.4
	// costRuns of costSteps each are kept while their memory is measured.
	costRuns, costSteps = 40, 250
	// longSteps is the longest run whose growth is measured.
	longSteps = 1000
	// stepOutput is the length of an output, fetchedLog that of a log from which on it is fetched.
	stepOutput = 256
	fetchedLog = "64KiB"
)

// Workflows is the rest of the acceptance runs workflow-step-cost and workflow-growth: what a finished step costs in memory and in
// the log, and how a run's cost grows with its steps.
func (b *Bench) Workflows(ctx context.Context) []*report.Row {
	heap := &report.Row{ID: "workflow-step-cost", Part: "heap", Work: fmt.Sprintf("live heap of a finished step above its output, %d runs of %d", costRuns, costSteps), Against: "none", Unit: "B", AtMost: true, Line: stepLine, AimAt: stepLine / 2}
	log := &report.Row{ID: "workflow-step-cost", Part: "log", Work: "log entries of a step (submission, claim, outcome), above its output", Against: "none", Unit: "B", AtMost: true, Line: stepLine, AimAt: stepLine / 2}
	rows := []*report.Row{heap, log}
	b.Env.Pprof = true
	conclude(b.stepCost(ctx, heap, log), heap, log)
	grown := []*report.Row{}
	for _, g := range []struct{ part, work string }{
		{"heap", "live heap of a run"}, {"log", "log of a run"}, {"posted", "bodies posted to an endpoint that fetches the log"},
	} {
		row := &report.Row{ID: "workflow-growth", Part: g.part, Work: fmt.Sprintf("%s of %d steps", g.work, longSteps), Against: fmt.Sprintf("of %d steps", longSteps/2), Unit: "B", Ratio: true, AtMost: true, Line: growthLine, AimAt: 2.1}
		grown = append(grown, row)
	}
	conclude(b.growth(ctx, grown), grown...)
	return append(rows, grown...)
}

// conclude judges rows, or gives them up.
func conclude(err error, rows ...*report.Row) {
	for _, row := range rows {
		if err != nil {
			row.Fail(report.Failed, err)
			continue
		}
		row.Judge()
	}
}

// weight is the size of a node: its heap and its log in bytes, and the log's entries.
type weight struct{ heap, log, entries float64 }

func weigh(ctx context.Context, n *peer.Node) (w weight, err error) {
	if err := n.Settled(ctx); err != nil {
		return w, err
	}
	log, err := n.Figure(ctx, "trireme_apply_batch_bytes_sum")
	entries, err2 := n.Figure(ctx, "trireme_apply_batch_bytes_count")
	heap, err3 := n.LiveHeap(ctx)
	return weight{heap, log, entries}, errors.Join(err, err2, err3)
}

// stepCost keeps finished runs and weighs them.
func (b *Bench) stepCost(ctx context.Context, heap, log *report.Row) error {
	t, err := b.deliveringHere(func() (*peer.Trireme, error) { return b.Env.StartDev(ctx) })
	if err != nil {
		return err
	}
	defer b.stopping(t)()
	output := strings.Repeat("o", stepOutput)
	f, stop := newFlows(t.URLs(), &http.Transport{MaxIdleConnsPerHost: httpConns}, empty(costSteps, output))
	defer stop()
	if err := errors.Join(f.err, f.some(ctx, 1, 1)); err != nil { // what is made once is there
		return err
	}
	before, err := weigh(ctx, t.Nodes[0])
	if err != nil {
		return err
	}
	b.Log("  %d runs of %d steps", costRuns, costSteps)
	if err := f.some(ctx, costRuns, 8); err != nil {
		return err
	}
	after, err := weigh(ctx, t.Nodes[0])
	steps := float64(costRuns * costSteps)
	heap.Add((after.heap-before.heap)/steps-stepOutput, 0)
	log.Add((after.log-before.log)/steps-stepOutput, 0)
	log.Note("%.2f entries a step, 8 runs at once; outputs of %d bytes", (after.entries-before.entries)/steps, stepOutput)
	return err
}

// some runs n workflows, a few at a time.
func (f *flows) some(ctx context.Context, n, atOnce int) error {
	var mu sync.Mutex
	var all []error
	var group sync.WaitGroup
	var next atomic.Int64
	for range atOnce {
		group.Go(func() {
			for next.Add(1) <= int64(n) {
				if err := f.one(ctx); err != nil {
					mu.Lock()
					all = append(all, err)
					mu.Unlock()
					return
				}
			}
		})
	}
	group.Wait()
	return errors.Join(all...)
}

// growth runs workflows of 250, 500 and 1,000 steps, each on a node of its own, and compares the last two.
func (b *Bench) growth(ctx context.Context, rows []*report.Row) error {
	var halfway [3]float64
	for _, steps := range []int{longSteps / 4, longSteps / 2, longSteps} {
		now, fetched, err := b.long(ctx, steps)
		if err != nil {
			return err
		}
		b.Log("  %d steps: heap %.0f kB, log %.0f kB, posted %.0f kB, fetched %.0f kB", steps, now[0]/1e3, now[1]/1e3, now[2]/1e3, fetched/1e3)
		for i, row := range rows {
			row.Note("%d steps: %.0f kB", steps, now[i]/1e3)
			if steps == longSteps {
				row.Add(now[i], halfway[i])
			}
		}
		rows[2].Note("%d steps: the endpoint fetched %.0f kB (packed), the whole log with each delivery beyond %s", steps, fetched/1e3, fetchedLog)
		halfway = now
	}
	return nil
}

// long measures a run of a number of steps: heap, log and posted bodies, and the bytes that the endpoint fetched.
func (b *Bench) long(ctx context.Context, steps int) (now [3]float64, fetched float64, err error) {
	t, err := b.deliveringHere(func() (*peer.Trireme, error) { return b.Env.StartDev(ctx) }, "--max-inline-log", fetchedLog)
	if err != nil {
		return now, 0, err
	}
	defer b.stopping(t)()
	const runs = 4 // so that what is to be seen stands out of the heap's noise
	count := &counting{RoundTripper: &http.Transport{MaxIdleConnsPerHost: httpConns, DisableCompression: true}}
	f, stop := newFlows(t.URLs(), count, empty(steps, strings.Repeat("o", stepOutput)))
	defer stop()
	if f.err != nil {
		return now, 0, f.err
	}
	before, err := weigh(ctx, t.Nodes[0])
	if err != nil {
		return now, 0, err
	}
	posted := f.posted.Load()
	if err := f.some(ctx, runs, runs); err != nil {
		return now, 0, err
	}
	after, err := weigh(ctx, t.Nodes[0])
	per := func(v float64) float64 { return v / runs }
	now = [3]float64{per(after.heap - before.heap), per(after.log - before.log), per(float64(f.posted.Load() - posted))}
	return now, per(float64(count.fetched.Load())), err
}

// counting counts what is fetched, as it comes over the wire.
type counting struct {
	http.RoundTripper
	fetched atomic.Int64
}

// RoundTrip asks for packed answers, as the fetch of JavaScript does, and unpacks them.
func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		return c.RoundTripper.RoundTrip(r)
	}
	r = r.Clone(r.Context())
	r.Header.Set("Accept-Encoding", "gzip")
	answer, err := c.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body := &counted{answer.Body, &c.fetched}
	answer.Body = body
	if answer.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			return nil, errors.Join(err, body.Close())
		}
		answer.Body = struct {
			io.Reader
			io.Closer
		}{z, body}
	}
	return answer, nil
}

type counted struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}
