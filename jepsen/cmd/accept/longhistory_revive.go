package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// revived does something while nodes that end are started again. If one may not, its end is what the run failed by.
func (r *historyRun) revived(ctx context.Context, do func(context.Context) error) error {
	ctx, fail := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.revive(ctx, fail)
	}()
	err := do(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	fail(nil)
	<-over
	return err
}

// revive starts nodes again that have ended because the machine's disk stood still, as a service manager does: over hours beside
// other work that happens. Any other end of a process fails the run, which would wait for it in vain.
func (r *historyRun) revive(ctx context.Context, fail context.CancelCauseFunc) {
	looks := time.NewTicker(time.Second)
	defer looks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-looks.C:
		}
		for _, crash := range r.c.Crashes() {
			if !strings.Contains(crash.Log, "disk stalled") {
				fail(fmt.Errorf("%s ended with %d: %s", crash.Node, crash.ExitCode, crash.Log))
				return
			}
			for _, n := range r.c.Nodes {
				if n.ID != crash.Node {
					continue
				}
				r.c.Forgive(n)
				if err := n.Start(); err != nil {
					fail(fmt.Errorf("start %s after its disk stood still: %w", n.ID, err))
					return
				}
				r.s.printf("%s was started again: its disk stood still", n.ID)
			}
		}
	}
}
