package jepsen

import (
	"context"
	"time"

	"trireme/jepsen/lab"
)

// watchEvery is how often the watch looks who leads.
const watchEvery = 100 * time.Millisecond

// watch counts leader changes from outside, as an operator would.
type watch struct {
	changes   int
	firstTerm uint64
	lastTerm  uint64
	leader    int
}

// run looks until the context ends.
func (w *watch) run(ctx context.Context, c *lab.Cluster) {
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

func (w *watch) look(ctx context.Context, c *lab.Cluster) {
	l, err := c.Leader(ctx)
	switch {
	case err != nil || l.Term < w.lastTerm:
		return // nobody to ask, or an answer from the past
	case w.firstTerm == 0:
		w.firstTerm, w.leader = l.Term, l.Node
	case l.Node != w.leader:
		w.changes++
		w.leader = l.Node
	}
	w.lastTerm = l.Term
}
