package slowdisks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/internal/failpoint"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	// Clients write side by side.
	Clients = 64
	// valueBytes is the length of a value.
	valueBytes = 64
	// MovedWithin bounds the time until another node leads, from the first slow sync on.
	MovedWithin = 6 * time.Second
	// leastRate is the part of the rate before that must remain once leadership has moved.
	leastRate = 0.5
	// toldWithin bounds the time until a node says that its disk is slow.
	toldWithin = 40 * time.Second
)

// slowSyncs has every sync of a node's log take so much longer; 0 ends that.
func slowSyncs(n *testcluster.Node, by time.Duration) error {
	if by == 0 {
		return n.Arm("")
	}
	return n.Arm(fmt.Sprintf("%s=sleep(%s)", failpoint.AfterFsync, by))
}

// leaders follows who leads.
type leaders struct {
	stop context.CancelFunc
	done sync.WaitGroup

	mu    sync.Mutex
	seen  []testcluster.Leadership
	times []time.Time
}

func followLeaders(ctx context.Context, c *testcluster.Cluster) *leaders {
	ctx, stop := context.WithCancel(ctx)
	l := &leaders{stop: stop}
	l.done.Go(func() {
		for tick := time.NewTicker(50 * time.Millisecond); ; {
			if now, err := c.Leader(ctx); err == nil {
				l.mu.Lock()
				if n := len(l.seen); n == 0 || now.Term > l.seen[n-1].Term {
					l.seen, l.times = append(l.seen, now), append(l.times, time.Now())
				}
				l.mu.Unlock()
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				tick.Stop()
				return
			}
		}
	})
	return l
}

// end returns who led, and since when.
func (l *leaders) end() ([]testcluster.Leadership, []time.Time) {
	l.stop()
	l.done.Wait()
	return l.seen, l.times
}

// Times are the lengths of the parts of an experiment.
type Times struct{ Before, During, After time.Duration }

// Result is what an experiment has seen.
type Result struct {
	Before, During, After Phase
	// Moved is the time from the first slow sync until another node led, 0 if none did.
	Moved time.Duration
	// Waiting is During until then.
	Waiting Phase
	// Changes counts the changes of leader.
	Changes int
}

// run slows the disks of some nodes down under load; During does not count the time before leadership has moved.
func run(ctx context.Context, c *testcluster.Cluster, slow []*testcluster.Node, by time.Duration, t Times, during func(context.Context) error) (r Result, err error) {
	l, who := startLoad(ctx, c, Clients, valueBytes), followLeaders(ctx, c)
	sleep(ctx, time.Second) // connections are made
	began := time.Now()
	sleep(ctx, t.Before)
	slowed := time.Now()
	for _, n := range slow {
		err = errors.Join(err, slowSyncs(n, by))
	}
	if during != nil {
		err = errors.Join(err, during(ctx))
	}
	sleep(ctx, time.Until(slowed.Add(t.During)))
	mended := time.Now()
	for _, n := range slow {
		err = errors.Join(err, slowSyncs(n, 0))
	}
	sleep(ctx, t.After)
	ended := time.Now()
	err = errors.Join(err, l.end(), ctx.Err())
	seen, times := who.end()
	if len(seen) == 0 {
		return r, errors.Join(err, testcluster.ErrNoLeader)
	}
	moved := slowed
	for i := range seen[1:] {
		if at := times[i+1]; at.After(slowed) && at.Before(mended) && r.Moved == 0 {
			moved, r.Moved = at, at.Sub(slowed)
			r.Waiting = l.between(slowed, at)
		}
	}
	r.Changes = len(seen) - 1
	r.Before, r.During, r.After = l.between(began, slowed), l.between(moved, mended), l.between(mended, ended)
	return r, err
}

// Leader slows the leader's disk down. Leadership must move once, soon, and writes go on.
func Leader(ctx context.Context, c *testcluster.Cluster, by time.Duration, t Times) (Result, error) {
	leader, err := c.WaitLeader(ctx)
	if err != nil {
		return Result{}, err
	}
	n := c.Nodes[leader.Node]
	told := n.Logged(slowLine)
	r, err := run(ctx, c, []*testcluster.Node{n}, by, t, func(ctx context.Context) error { return awaitTold(ctx, n, told) })
	switch {
	case err != nil:
	case r.Moved == 0 || r.Moved > MovedWithin:
		err = fmt.Errorf("syncs of the leader took %v longer: another node led after %v, want within %v (0s: never)", by, ms(r.Moved), MovedWithin)
	case r.Changes != 1:
		err = fmt.Errorf("leadership changed %d times, want once", r.Changes)
	case r.During.Rate < leastRate*r.Before.Rate:
		err = fmt.Errorf("%.0f writes a second after leadership has moved, %.0f before", r.During.Rate, r.Before.Rate)
	}
	return r, err
}

// All slows all disks down. Nothing must move.
func All(ctx context.Context, c *testcluster.Cluster, by time.Duration, t Times) (Result, error) {
	r, err := run(ctx, c, c.Nodes, by, t, nil)
	if err == nil && r.Changes != 0 {
		err = fmt.Errorf("all disks are slow, and leadership changed %d times", r.Changes)
	}
	return r, err
}

// slowLine is in the log line with which a node says that its disk is slow.
const slowLine = "this node's disk is slow:"

// awaitTold waits until a node says by all means that its disk is slow. before is how often its log said so before.
func awaitTold(ctx context.Context, n *testcluster.Node, before int) error {
	ctx, cancel := context.WithTimeout(ctx, toldWithin)
	defer cancel()
	err := testcluster.Poll(ctx, 200*time.Millisecond, func() error {
		for _, c := range []struct{ path, want string }{
			{"/readyz", "slow disk: since "}, {"/metrics", "\ntrireme_disk_slow_seconds "}, {"/admin/doctor", "its disk has been slow for "},
		} {
			_, body, err := n.Admin().Get(ctx, c.path)
			if err != nil {
				return fmt.Errorf("%s of %s: %w", c.path, n.ID, err)
			}
			if !strings.Contains(string(body), c.want) || strings.Contains(string(body), c.want+"0\n") {
				return fmt.Errorf("%s of %s says nothing of its slow disk", c.path, n.ID)
			}
		}
		return nil
	})
	if lines := n.Logged(slowLine) - before; err == nil && lines != 1 {
		err = fmt.Errorf("%s has logged %d times that its disk is slow, want once", n.ID, lines)
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
