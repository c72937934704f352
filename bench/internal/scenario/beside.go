package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/hist"
	"github.com/trireme-dev/trireme/bench/internal/metrics"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// probeKeys is the number of small keys that the probes read and write.
const probeKeys = 1000

// How long a command may hold the state at a time, in ms: a large write for as long as --max-request-work and
// --max-script-steps let it, which is about a second and a half.
const (
	heldLimit      = 2
	heldWriteLimit = 1500
)

// Beside measures the p99.9 of GET and of SET, on a connection each, while a third one runs a command on a million
// elements (b.BigKeys), on one node and on redis-server, which both sync every write; and for how long at a time the state of
// the node was held meanwhile.
func (b *Bench) Beside(ctx context.Context, put func([]*report.Row)) {
	commands := chosen(largeCommands(), b.Commands)
	rows := make([][]*report.Row, len(commands))
	for i, l := range commands {
		for _, probe := range []string{"GET", "SET"} {
			if l.ours {
				break
			}
			rows[i] = append(rows[i], &report.Row{ID: "beside", Part: l.name + " " + probe, Work: fmt.Sprintf("p99.9 of %s beside %s, %d elements", probe, l.name, b.BigKeys),
				Against: "redis", Unit: "ms", Ratio: true, AtMost: true, Line: 1, AimAt: 0.25})
		}
		line := float64(heldLimit)
		if l.write {
			line = heldWriteLimit
		}
		rows[i] = append(rows[i], &report.Row{ID: "beside", Part: l.name + " held", Work: fmt.Sprintf("state held at a time beside %s, %d elements", l.name, b.BigKeys),
			Against: "none", Unit: "ms", AtMost: true, Line: line, AimAt: heldLimit / 2})
	}
	var failed error
	for range b.Pairs {
		if failed = b.besideOnce(ctx, commands, rows); failed != nil {
			break
		}
	}
	for _, of := range rows {
		for _, row := range of {
			if failed != nil {
				row.Fail(verdictOf(nil, failed), failed)
				continue
			}
			row.Judge()
		}
		put(of)
	}
}

// chosen are the commands of these names, separated by commas, or all.
func chosen(commands []largeCommand, names string) []largeCommand {
	if names == "" {
		return commands
	}
	all := strings.Split(names, ",")
	return slices.DeleteFunc(commands, func(l largeCommand) bool { return !slices.Contains(all, l.name) })
}

// connector makes connections to a server.
type connector interface {
	Connect() (*peer.Client, error)
}

// besideOnce measures a pair of each row.
func (b *Bench) besideOnce(ctx context.Context, commands []largeCommand, rows [][]*report.Row) error {
	t, err := b.Env.StartDev(ctx)
	if err != nil {
		return err
	}
	defer b.stopping(t)()
	b.noteVersion(ctx, t)
	r, err := b.Env.StartRedis(ctx, "redis-beside", true)
	if err != nil {
		return err
	}
	defer b.stopping(r)()
	b.noteRedis(r)
	servers := [2]connector{t.Nodes[0], r}
	for _, s := range servers {
		if err := b.onClient(s, func(c *peer.Client) error { return fillLarge(ctx, c, b.BigKeys) }); err != nil {
			return err
		}
	}
	for i, l := range commands {
		if err := b.besideCommand(ctx, servers, l, rows[i]); err != nil {
			for _, row := range rows[i] {
				row.Note("%v", err)
			}
		}
	}
	return ctx.Err()
}

// besideCommand measures a pair of the rows of one command.
func (b *Bench) besideCommand(ctx context.Context, servers [2]connector, l largeCommand, rows []*report.Row) error {
	var found [2]*probeResult
	for j, s := range servers {
		if l.ours && j > 0 {
			break
		}
		var err error
		if found[j], err = b.beside(ctx, s, l); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	ours := found[0]
	held := rows[len(rows)-1]
	held.Add(ours.held*1e3, 0)
	held.Note("the command took %v; GET beside it p50 %v, p99.9 %v, max %v; SET %v, %v, %v", ours.once, ours.took[0].Quantile(.5), ours.took[0].Quantile(.999), ours.took[0].Max(),
		ours.took[1].Quantile(.5), ours.took[1].Quantile(.999), ours.took[1].Max())
	b.Log("  %s: at most %g ms", held.Work, ours.held*1e3)
	for k, row := range rows[:len(rows)-1] {
		ours, theirs := &found[0].took[k], &found[1].took[k]
		row.Add(ours.Quantile(.999).Seconds()*1e3, theirs.Quantile(.999).Seconds()*1e3)
		row.Note("ours p50 %v, max %v of %d; redis p50 %v, max %v of %d; the command took %v, %v", ours.Quantile(.5), ours.Max(), ours.N(),
			theirs.Quantile(.5), theirs.Max(), theirs.N(), found[0].once, found[1].once)
		b.Log("  %s: %v, redis %v", row.Work, ours.Quantile(.999), theirs.Quantile(.999))
	}
	return nil
}

func (b *Bench) onClient(s connector, f func(*peer.Client) error) error {
	c, err := s.Connect()
	if err != nil {
		return err
	}
	return errors.Join(f(c), c.Close())
}

// probeResult holds the latencies of GET and SET while a command was under way, and the last duration of the command.
type probeResult struct {
	took [2]hist.H
	once time.Duration
	held float64 // the longest time that a node's state was held meanwhile, rounded up to the next bucket of the metric, in seconds
}

// holds are the times that a node's state was held so far; nil of another server.
func holds(ctx context.Context, s connector) (metrics.Histogram, error) {
	n, ours := s.(*peer.Node)
	if !ours {
		return nil, nil
	}
	scrape, err := n.Metrics(ctx)
	if err != nil {
		return nil, err
	}
	return metrics.Read(scrape, "trireme_state_held_seconds")
}

// beside runs a command again and again for the measured time, at least once, beside the probes.
func (b *Bench) beside(ctx context.Context, s connector, l largeCommand) (*probeResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var p probeResult
	var running atomic.Int64     // odd while the command is under way
	var answered [2]atomic.Int64 // commands of each probe
	var wg sync.WaitGroup
	failed := make([]error, 2)
	for i, probe := range [2]func(key string) []string{
		func(key string) []string { return []string{"GET", key} },
		func(key string) []string { return []string{"SET", key, "value"} },
	} {
		wg.Go(func() {
			failed[i] = b.onClient(s, func(c *peer.Client) error { return probing(ctx, c, probe, &running, &answered[i], &p.took[i]) })
			if failed[i] != nil {
				cancel()
			}
		})
	}
	err := b.onClient(s, func(c *peer.Client) error {
		sleep(ctx, b.Warm)
		for begin := time.Now(); ; {
			if l.before != nil {
				if err := l.before(ctx, c, b.BigKeys); err != nil {
					return err
				}
			}
			before, err := holds(ctx, s)
			if err != nil {
				return err
			}
			for i := range answered { // what overlaps the preparations is over then
				for n := answered[i].Load(); answered[i].Load() < n+2 && ctx.Err() == nil; {
					time.Sleep(10 * time.Microsecond)
				}
			}
			began := time.Now()
			running.Add(1)
			err = l.run(ctx, c, b.BigKeys)
			running.Add(1)
			p.once = time.Since(began)
			after, failed := holds(ctx, s)
			p.held = max(p.held, min(metrics.Worst(before, after), p.once.Seconds()))
			if err := errors.Join(err, failed); err != nil || time.Since(begin) > b.Duration {
				return err
			}
		}
	})
	cancel()
	wg.Wait()
	return &p, errors.Join(err, failed[0], failed[1])
}

// probing runs small commands until ctx ends and counts those that overlap the large one.
func probing(ctx context.Context, c *peer.Client, probe func(key string) []string, running, answered *atomic.Int64, took *hist.H) error {
	for i := 0; ctx.Err() == nil; i++ {
		args := probe(fmt.Sprintf("probe:%d", i%probeKeys))
		before, began := running.Load(), time.Now()
		if err := c.Run(args...); err != nil {
			return err
		}
		answered.Add(1)
		if after := time.Since(began); before%2 == 1 || running.Load() != before {
			took.Add(after)
		}
	}
	return nil
}
