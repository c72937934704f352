package scenario

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
)

// caller makes one call after the other; n counts up over all callers.
type caller func(n int) error

// looping is a subject that calls from parallel goroutines for the measured time, each one call after the other. open makes
// what a goroutine calls, and what ends it. Any error fails the measurement.
func (b *Bench) looping(name string, parallel int, open func() (caller, func(), error)) *subject {
	return &subject{name: name, measure: func(ctx context.Context) (load.Result, error) {
		var counted atomic.Int64
		var all sync.WaitGroup
		errs := make([]error, parallel)
		from := time.Now().Add(b.Warm)
		for i := range parallel {
			all.Go(func() { errs[i] = b.loop(ctx, i, parallel, from, &counted, open) })
		}
		all.Wait()
		took := time.Since(from).Seconds()
		return load.Result{Name: name, Conns: parallel, Seconds: took, Commands: float64(counted.Load()) / took}, errors.Join(errs...)
	}}
}

// loop is one goroutine of looping, the first-th of so many; calls that begin at from or later are counted.
func (b *Bench) loop(ctx context.Context, first, step int, from time.Time, counted *atomic.Int64, open func() (caller, func(), error)) error {
	call, end, err := open()
	if err != nil {
		return err
	}
	defer end()
	for n := first; ctx.Err() == nil; n += step {
		began := time.Now()
		if began.Sub(from) >= b.Duration {
			return nil
		}
		if err := call(n); err != nil {
			return err
		}
		if !began.Before(from) {
			counted.Add(1)
		}
	}
	return ctx.Err()
}
