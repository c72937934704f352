package scenario

import (
	"context"
	"fmt"

	"github.com/trireme-dev/trireme/bench/internal/report"
)

// Restart is row 11 with b.Keys keys.
func (b *Bench) Restart(ctx context.Context) *report.Row {
	row := &report.Row{ID: "restart", Work: fmt.Sprintf("kill -9 and back with %d keys, one node", b.Keys), Against: "redis loading its dump",
		Unit: "ms", Ratio: true, AtMost: true, Line: 1, AimAt: .8}
	b.Env.Pprof = true
	b.BigKeys = b.Keys
	for i := range b.Pairs {
		ours, err := b.ourFootprint(ctx, false)
		if err != nil {
			row.Fail(verdictOf(err, nil), err)
			return row
		}
		theirs, err := b.redisFootprint(ctx, false)
		if err != nil {
			row.Fail(verdictOf(nil, err), err)
			return row
		}
		b.Log("  %d/%d ours back in %v (processor time %v), redis in %v", i+1, b.Pairs, ours.back, ours.used, theirs.back)
		row.Add(ours.back.Seconds()*1e3, theirs.back.Seconds()*1e3)
		row.Note("ours in %.2f s with %.2f s of processor time, redis in %.2f s", ours.back.Seconds(), ours.used.Seconds(), theirs.back.Seconds())
	}
	row.Judge()
	return row
}
