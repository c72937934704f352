package jepsen

import (
	"context"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// watchEvery is the interval between two checks for the leader.
const watchEvery = 100 * time.Millisecond

// standstill is a time in which even the watch itself did not run: the machine was busy
// with something else, or stopped. What happens then is nobody's fault.
const standstill = time.Second

// stall is a standstill, in time since the run began.
type stall struct{ From, Until time.Duration }

// stalls notes standstills until the context ends.
func stalls(ctx context.Context, began time.Time) (all []stall) {
	last := time.Now()
	for ctx.Err() == nil {
		time.Sleep(watchEvery)
		now := time.Now()
		if now.Sub(last) > standstill {
			all = append(all, stall{last.Sub(began), now.Sub(began)})
		}
		last = now
	}
	return all
}

// watch counts leader changes from outside, as an operator would.
type watch struct {
	stalls    []stall
	changes   int
	firstTerm uint64
	lastTerm  uint64
	leader    int
}

// run looks until the context ends.
func (w *watch) run(ctx context.Context, c *testcluster.Cluster) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		w.look(ctx, c)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (w *watch) look(ctx context.Context, c *testcluster.Cluster) {
	l, err := c.Leader(ctx)
	switch {
	case err != nil || l.Term < w.lastTerm:
		return // no node answers, or an answer is outdated
	case w.firstTerm == 0:
		w.firstTerm, w.leader = l.Term, l.Node
	case l.Node != w.leader:
		w.changes++
		w.leader = l.Node
	}
	w.lastTerm = l.Term
}
