package sim

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// Found is a history that has broken a rule, made as small as it goes.
type Found struct {
	// Seed draws the history as it was found.
	Seed      uint64
	History   History
	Violation *Violation
}

func (f *Found) Error() string {
	return fmt.Sprintf("seed %d: %v\nwith %v", f.Seed, f.Violation, f.History)
}

// First simulates the histories of the seeds from first on, on all processors, until one breaks a rule or ctx ends.
// The violation is nil if none did.
func First(ctx context.Context, first uint64) (seed uint64, v *Violation) {
	_, seed, v = sweep(ctx, first, 1<<62)
	return seed, v
}

// Search simulates the histories of count seeds from first on, on all processors, until ctx ends. done is the number of
// simulated histories. The error is the *Found of the least seed that failed.
func Search(ctx context.Context, first, count uint64) (done uint64, err error) {
	done, seed, v := sweep(ctx, first, count)
	if v == nil {
		return done, nil
	}
	h, v := Shrink(Draw(seed))
	return done, &Found{seed, h, v}
}

// sweep simulates histories until one breaks a rule: of those that do, it gives the least seed.
func sweep(ctx context.Context, first, count uint64) (done, seed uint64, found *Violation) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var next, ran atomic.Uint64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < count && ctx.Err() == nil; i = next.Add(1) - 1 {
				v := Run(Draw(first + i))
				ran.Add(1)
				if v == nil {
					continue
				}
				mu.Lock()
				if found == nil || first+i < seed {
					seed, found = first+i, v
				}
				mu.Unlock()
				cancel()
			}
		})
	}
	wg.Wait()
	return ran.Load(), seed, found
}
