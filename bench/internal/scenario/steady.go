package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/proc"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// runSteady measures row 18: how often the leadership changes without a fault
// while the machine has far too much to do.
func runSteady(ctx context.Context, b *Bench, rows []*report.Row) {
	b.steady(ctx, rows[0], b.BusyLoops)
}

// Steady is acceptance run steady-leader: as row 18, without busy loops.
func (b *Bench) Steady(ctx context.Context) *report.Row {
	row := &report.Row{ID: "steady-leader", Work: "leadership changes in a fault-free minute under full load", Against: "none",
		Unit: "changes", AtMost: true, Line: 0, AimAt: 0}
	b.steady(ctx, row, 0)
	return row
}

// steady loads all three nodes for b.Quiet and counts terms.
func (b *Bench) steady(ctx context.Context, row *report.Row, busy int) {
	changes, err := b.leadershipChanges(ctx, row, busy)
	if err != nil {
		row.Fail(report.Failed, err)
		return
	}
	row.Add(float64(changes), 0)
	row.Judge()
}

// leadershipChanges returns by how much the term rose under load.
func (b *Bench) leadershipChanges(ctx context.Context, row *report.Row, busy int) (uint64, error) {
	t, err := b.cluster(ctx)
	if err != nil {
		return 0, err
	}
	defer b.stopping(t)()
	first, err := t.Status(ctx)
	if err != nil {
		return 0, err
	}
	loops, err := b.busyLoops(busy)
	defer kill(loops)
	if err != nil {
		return 0, err
	}
	b.Log("  %v of full load beside %d busy loops", b.Quiet, busy)
	results, err := b.fullLoad(ctx, t)
	if err != nil {
		return 0, err
	}
	for _, r := range results {
		row.Note("%s: %.0f requests/s, p99 %.1f ms, max %.0f ms, %d failed %s", r.Name, r.Rate, r.P99/1e3, r.Max/1e3, r.Bad+r.Errors, r.FirstFail)
	}
	last, err := t.Status(ctx)
	if err != nil {
		return 0, err
	}
	row.Note("term %d led by %s before, %d by %s after", first.Term, first.Leader, last.Term, last.Leader)
	if last.Term == first.Term && last.Leader != first.Leader {
		return 0, fmt.Errorf("two leaders in term %d: %s and %s", last.Term, first.Leader, last.Leader)
	}
	return last.Term - first.Term, nil
}

// fullLoad writes and reads over 64 connections each, through all nodes.
func (b *Bench) fullLoad(ctx context.Context, t *peer.Trireme) ([]load.Result, error) {
	specs := []load.Spec{b.over(t.Set, t.URLs()...), b.over(t.Get, t.URLs()...)}
	specs[0].Name, specs[1].Name = "writes", "reads"
	results, errs := make([]load.Result, len(specs)), make([]error, len(specs))
	done := make(chan int)
	for i, s := range specs {
		s.Duration = b.Quiet
		go func() {
			results[i], errs[i] = load.Run(ctx, s)
			done <- i
		}()
	}
	for range specs {
		<-done
	}
	return results, errors.Join(errs...)
}

// busyLoops starts n children that do nothing but burn a core each. They end
// by themselves a little after b.Quiet.
func (b *Bench) busyLoops(n int) ([]*proc.Child, error) {
	var loops []*proc.Child
	for i := range n {
		c, err := proc.Start(b.Env.Logs, fmt.Sprintf("busy%d", i+1), nil, b.Self, "busy", "-for", (b.Quiet + 5*time.Second).String())
		if err != nil {
			return loops, err
		}
		loops = append(loops, c)
	}
	return loops, nil
}

// kill ends children; there is nothing to be done about one that can't be killed.
func kill(cs []*proc.Child) {
	for _, c := range cs {
		_ = c.Kill()
	}
}
