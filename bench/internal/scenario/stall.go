package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/hist"
	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// stallLimit is acceptance run snapshot-stall: the p99.9 of writes beside a snapshot.
const stallLimit = 10.0 // ms

// Stall is acceptance run snapshot-stall: one node with b.BigKeys keys, one connection
// (so at most one core) that writes for b.Quiet while snapshots are taken one
// after the other. Judged is the p99.9 of the writes that overlapped a
// snapshot. Beside it stands the p99.9 by which an idle loop overslept 1 ms in
// the same time, and before it: what the machine alone does.
func (b *Bench) Stall(ctx context.Context) *report.Row {
	row := &report.Row{ID: "snapshot-stall", Work: fmt.Sprintf("p99.9 of writes during snapshots of %d keys, one node", b.BigKeys), Against: "none",
		Unit: "ms", AtMost: true, Line: stallLimit, AimAt: stallLimit / 2}
	if err := b.stall(ctx, row); err != nil {
		row.Fail(report.Failed, err)
		return row
	}
	row.Judge()
	return row
}

// stall measures and fills row.
func (b *Bench) stall(ctx context.Context, row *report.Row) error {
	baseline, err := b.idle(ctx, min(b.Quiet, 10*time.Second))
	if err != nil {
		return err
	}
	t, err := b.bigNode(ctx)
	if err != nil {
		return err
	}
	defer b.stopping(t)()
	type slept struct {
		result load.Result
		err    error
	}
	idle := make(chan slept, 1)
	go func() {
		r, err := b.idle(ctx, b.Quiet)
		idle <- slept{r, err}
	}()
	w, err := b.writeThroughSnapshots(ctx, t)
	beside := <-idle
	if err := errors.Join(err, beside.err); err != nil {
		return err
	}
	row.Add(float64(w.during.Quantile(.999))/1e6, 0)
	row.Note("%d writes during %d snapshots: p50 %v, p99 %v, p99.9 %v, max %v", w.during.N(), w.snapshots,
		w.during.Quantile(.5), w.during.Quantile(.99), w.during.Quantile(.999), w.during.Max())
	row.Note("%d writes between snapshots: p50 %v, p99.9 %v, max %v", w.between.N(), w.between.Quantile(.5), w.between.Quantile(.999), w.between.Max())
	row.Note("idle loop beside the load: overslept p50 %.3f, p99.9 %.3f, max %.3f ms", beside.result.P50/1e3, beside.result.P999/1e3, beside.result.Max/1e3)
	row.Note("idle loop on the machine alone: overslept p50 %.3f, p99.9 %.3f, max %.3f ms", baseline.P50/1e3, baseline.P999/1e3, baseline.Max/1e3)
	return nil
}

// writerResult is the result of one writer.
type writerResult struct {
	during, between hist.H
	snapshots       int
}

// writeThroughSnapshots runs the writer beside a loop that takes snapshots with
// a pause as long as the snapshot, so that both kinds of writes are seen.
func (b *Bench) writeThroughSnapshots(ctx context.Context, t *peer.Trireme) (*writerResult, error) {
	ctx, cancel := context.WithTimeout(ctx, b.Quiet)
	defer cancel()
	w := &writerResult{}
	var taking atomic.Int64 // odd while a snapshot is under way
	done := make(chan error, 1)
	go func() {
		n, err := takeSnapshots(ctx, t.Nodes[0], &taking)
		w.snapshots = n
		cancel()
		done <- err
	}()
	err := b.writeUntil(ctx, t, w, &taking)
	cancel()
	if err := errors.Join(err, <-done); err != nil {
		return nil, err
	}
	if w.snapshots == 0 {
		return nil, errors.New("no snapshot was completed in time")
	}
	return w, nil
}

// takeSnapshots takes one after the other until ctx ends.
func takeSnapshots(ctx context.Context, n *peer.Node, taking *atomic.Int64) (taken int, err error) {
	for {
		begin := time.Now()
		taking.Add(1)
		err := n.Snapshot(ctx)
		taking.Add(1)
		if ctx.Err() != nil {
			return taken, nil
		}
		if err != nil {
			return taken, err
		}
		taken++
		sleep(ctx, time.Since(begin))
	}
}

// writeUntil writes random keys on one connection until ctx ends. A write
// belongs to a snapshot when one was under way at its begin or at its end.
func (b *Bench) writeUntil(ctx context.Context, t *peer.Trireme, w *writerResult, taking *atomic.Int64) error {
	c, err := load.Dial(t.Nodes[0].URL, t.Set.Bearer)
	if err != nil {
		return err
	}
	defer c.Close()
	bodies := load.NewBodies(t.Set.Body, b.BigKeys, peer.ValueSize)
	for ctx.Err() == nil {
		before := taking.Load()
		took, err := c.Want(bodies.Next(), `{"result":"OK"}`, 10*time.Second)
		if err != nil {
			return err
		}
		if after := taking.Load(); before%2 == 1 || after != before {
			w.during.Add(took)
		} else {
			w.between.Add(took)
		}
	}
	return nil
}

// idle runs this program's idle loop as a process of its own for d.
func (b *Bench) idle(ctx context.Context, d time.Duration) (load.Result, error) {
	cmd := exec.CommandContext(ctx, b.Self, "idle", "-for", d.String())
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.Output()
	if err != nil {
		return load.Result{}, fmt.Errorf("idle loop: %w", err)
	}
	var r load.Result
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("idle loop: %w", err)
	}
	return r, nil
}

// Idle sleeps 1 ms again and again for d and returns by how much it overslept.
func Idle(d time.Duration) load.Result {
	const nap = time.Millisecond
	var h hist.H
	begin := time.Now()
	for time.Since(begin) < d {
		t := time.Now()
		time.Sleep(nap)
		h.Add(time.Since(t) - nap)
	}
	return timed("idle loop", &h, time.Since(begin))
}

// Busy burns one core for d.
func Busy(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		for range 1 << 20 {
			spin.Add(1)
		}
	}
}

// spin gives Busy something that can't be optimized away.
var spin atomic.Int64
