package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

const (
	// settle is the time under load before each kill: long enough for every
	// node to know the leader and to hold connections to it.
	settle = 1500 * time.Millisecond
	// failoverLimit ends a probe that never gets its write through.
	failoverLimit = 20 * time.Second
)

// runFailover measures row 8: the leader is killed again and again while
// clients write to the other two.
func runFailover(ctx context.Context, b *Bench, rows []*report.Row) {
	row := rows[0]
	if err := b.failovers(ctx, row); err != nil {
		row.Fail(report.Failed, err)
		return
	}
	row.Judge()
	row.Note("worst of %d kills: %.0f ms", len(row.Pairs), row.Max)
}

// failovers adds one figure to row for each kill.
func (b *Bench) failovers(ctx context.Context, row *report.Row) error {
	t, err := b.cluster(ctx)
	if err != nil {
		return err
	}
	defer b.stopping(t)()
	var failed, total uint64
	for i := range b.Kills {
		took, background, err := b.killLeader(ctx, t)
		if err != nil {
			return fmt.Errorf("kill %d: %w", i+1, err)
		}
		row.Add(float64(took)/1e6, 0)
		total, failed = total+background.Requests, failed+background.Bad+background.Errors
		b.Log("  kill %d/%d: %v to the first write; %d requests on the survivors, %d failed %s", i+1, b.Kills,
			took.Round(time.Millisecond), background.Requests, background.Bad+background.Errors, background.FirstFail)
	}
	row.Note("%d connections on the survivors made %d requests meanwhile, %d failed", b.KillClients, total, failed)
	return nil
}

// killLeader kills the leader under load and returns the time from the kill to
// the first acknowledged write that was sent after it, and what became of the
// load on the survivors. The killed node is started again.
func (b *Bench) killLeader(ctx context.Context, t *peer.Trireme) (time.Duration, load.Result, error) {
	leader, others, _, err := t.Leader(ctx)
	if err != nil {
		return 0, load.Result{}, err
	}
	survivors := []string{others[0].URL, others[1].URL}
	stop, background := b.background(ctx, t, survivors)
	sleep(ctx, settle)
	took, err := firstWriteAfter(ctx, leader, t.Set.Bearer, survivors)
	close(stop)
	result := <-background
	if err != nil {
		return 0, result, err
	}
	if err := t.Restart(ctx, leader); err != nil {
		return 0, result, err
	}
	return took, result, nil
}

// background writes to urls until stop is closed, then sends its result.
func (b *Bench) background(ctx context.Context, t *peer.Trireme, urls []string) (stop chan struct{}, done <-chan load.Result) {
	spec := b.over(t.Set, urls...)
	spec.Name, spec.Conns, spec.Duration, spec.Timeout = "writes on the survivors", b.KillClients, time.Hour, failoverLimit
	stop = make(chan struct{})
	spec.Stop = stop
	result := make(chan load.Result, 1)
	go func() {
		r, err := load.Run(ctx, spec)
		if err != nil {
			b.Log("  load: %v", err)
		}
		result <- r
	}()
	return stop, result
}

// firstWriteAfter kills the leader and sends writes to the survivors until one
// is acknowledged. Only writes sent after the process is gone count: an
// earlier one may be acknowledged late for something the dead leader did.
func firstWriteAfter(ctx context.Context, leader *peer.Node, bearer string, survivors []string) (time.Duration, error) {
	var probes []*load.Caller
	for _, url := range survivors {
		c, err := load.Dial(url, bearer)
		if err != nil {
			return 0, err
		}
		defer c.Close()
		probes = append(probes, c)
	}
	begin := time.Now()
	if err := leader.Kill(); err != nil {
		return 0, err
	}
	type answer struct {
		at  time.Time
		err error
	}
	answers := make(chan answer, len(probes))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, p := range probes {
		go func() {
			err := writeUntilOK(ctx, p)
			answers <- answer{time.Now(), err}
		}()
	}
	var errs []error
	for range probes {
		a := <-answers
		if a.err == nil {
			return a.at.Sub(begin), nil
		}
		errs = append(errs, a.err)
	}
	return 0, errors.Join(errs...)
}

// writeUntilOK repeats a write until it is acknowledged.
func writeUntilOK(ctx context.Context, c *load.Caller) error {
	for end := time.Now().Add(failoverLimit); ; {
		_, err := c.Want(`["SET","failover","probe"]`, `{"result":"OK"}`, failoverLimit)
		if err == nil {
			return nil
		}
		var refused *load.Unexpected
		if !errors.As(err, &refused) || time.Now().After(end) || ctx.Err() != nil {
			return err
		}
		sleep(ctx, time.Millisecond)
	}
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
