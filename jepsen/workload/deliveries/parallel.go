package deliveries

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// parallel has clients perform numbered tasks, each once, until all are done or one fails.
func parallel(ctx context.Context, clients, tasks int, do func(ctx context.Context, client, number int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for n := int(next.Add(1)) - 1; n < tasks && ctx.Err() == nil; n = int(next.Add(1)) - 1 {
				if err := do(ctx, client, n); err != nil {
					cancel(fmt.Errorf("task %d: %w", n, err))
				}
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// problems collects what was found wrong, the first few in words.
type problems struct {
	count int
	texts []string
}

const shownProblems = 8

func (p *problems) add(format string, args ...any) {
	if p.count++; p.count <= shownProblems {
		p.texts = append(p.texts, fmt.Sprintf(format, args...))
	}
}

// err is nil if nothing was wrong.
func (p *problems) err() error {
	if p.count == 0 {
		return nil
	}
	all := []error{fmt.Errorf("%d things are wrong", p.count)}
	for _, text := range p.texts {
		all = append(all, errors.New(text))
	}
	return errors.Join(all...)
}

// whileKilling performs work while leaders are killed, each so long after the one before;
// without a time nobody is killed. A kill that has begun is undone.
func whileKilling(ctx context.Context, k *Killer, every time.Duration, work func(ctx context.Context) error) error {
	if every <= 0 {
		return work(ctx)
	}
	killCtx, stopKills := context.WithCancel(ctx)
	killed := make(chan error, 1)
	go func() { killed <- k.Every(killCtx, every) }()
	err := work(ctx)
	stopKills()
	return errors.Join(err, <-killed)
}
