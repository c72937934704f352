package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	frozenRounds  = 20
	frozenFor     = 5 * time.Second
	frozenReaders = 6                     // on each node, all the time
	frozenProbe   = 10 * time.Millisecond // between reads sent to the frozen node
	thawedFor     = 1500 * time.Millisecond
)

// frozenRound is one node stopped for five seconds under readers and writers.
type frozenRound struct {
	Reads, Writes, Stale, Invented int64
	FailedReads, FailedWrites      int64
	Probes                         int64         // reads sent to the frozen node while it was
	FirstWrite                     time.Duration // from the stop to the first acknowledged write sent after it
	Problems                       []string
}

// frozen is leader-stop.
func frozen(ctx context.Context, s *session) error {
	n := s.count(frozenRounds)
	var all []frozenRound
	for _, who := range []string{"leader", "follower"} {
		rounds, err := repeat(s.progress, who, n, func(i int) (frozenRound, error) {
			return freeze(ctx, s, who, i)
		})
		if err != nil {
			return err
		}
		first := durations(rounds, func(r frozenRound) time.Duration { return r.FirstWrite })
		s.printf("%s stopped %d times: first write elsewhere p50 %v, max %v", who, len(rounds), middle(first), last(first))
		all = append(all, rounds...)
	}
	stale := total(all, func(r frozenRound) int64 { return r.Stale + r.Invented })
	s.printf("%d pauses: %d reads (%d of them sent to the frozen node), %d writes, %d stale reads, %d failed reads, %d failed writes", len(all),
		total(all, func(r frozenRound) int64 { return r.Reads }), total(all, func(r frozenRound) int64 { return r.Probes }),
		total(all, func(r frozenRound) int64 { return r.Writes }), stale,
		total(all, func(r frozenRound) int64 { return r.FailedReads }), total(all, func(r frozenRound) int64 { return r.FailedWrites }))
	if stale > 0 {
		return fmt.Errorf("%d reads answered what they must not, want 0", stale)
	}
	return nil
}

// freeze stops one node while registers advance on the others and everyone reads.
func freeze(ctx context.Context, s *session, who string, i int) (r frozenRound, err error) {
	c, err := s.nodes(ctx)
	if err != nil {
		return r, err
	}
	leader, err := c.WaitLeader(ctx)
	if err != nil {
		return r, err
	}
	victim := leader.Node
	if who == "follower" {
		victim = others(c, leader.Node)[i%2]
	}
	name := fmt.Sprintf("%s %d (n%d, term %d)", who, i+1, victim+1, leader.Term)
	t, err := watchFrozen(ctx, c, victim, fmt.Sprintf("frozen:%s:%d:%d", who, i, leader.Term))
	r = frozenRound{
		Reads: t.reads.Load(), Writes: t.writes.Load(), Stale: t.stale.Load(), Invented: t.invented.Load(),
		FailedReads: t.failedReads.Load(), FailedWrites: t.failedWrites.Load(), Probes: t.probes, FirstWrite: t.firstWrite(), Problems: t.problems,
	}
	s.printf("%s: %d reads, %d writes, first write after %v, %d stale, %d failed reads, %d failed writes", name,
		r.Reads, r.Writes, r.FirstWrite.Round(time.Millisecond), r.Stale+r.Invented, r.FailedReads, r.FailedWrites)
	for _, p := range r.Problems {
		s.printf("  %s", p)
	}
	return r, errors.Join(err, ctx.Err(), waitReady(ctx, c, 30*time.Second))
}

// watchFrozen runs the clients around the pause.
func watchFrozen(ctx context.Context, c *testcluster.Cluster, victim int, prefix string) (*tally, error) {
	t := &tally{}
	registers := []*register{{key: prefix + ":0"}, {key: prefix + ":1"}, {key: prefix + ":2"}}
	running, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	for i, reg := range registers {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			awake := others(c, victim)
			for running.Err() == nil {
				t.advance(c, awake[rng.IntN(len(awake))], reg)
			}
		})
	}
	for node := range c.Nodes {
		for i := range frozenReaders {
			all.Go(func() {
				for k := i; running.Err() == nil; k++ {
					t.read(c, node, registers[k%len(registers)])
				}
			})
		}
	}
	sleep(ctx, 300*time.Millisecond)
	err := pauseAndProbe(ctx, c, victim, t, registers, &all)
	sleep(ctx, thawedFor)
	stop()
	all.Wait()
	return t, err
}

// pauseAndProbe stops the victim and keeps sending it reads, each from a
// connection of its own, for it to find when it goes on.
func pauseAndProbe(ctx context.Context, c *testcluster.Cluster, victim int, t *tally, registers []*register, all *sync.WaitGroup) error {
	if err := c.Nodes[victim].Pause(); err != nil {
		return err
	}
	t.watchFrom(time.Now())
	ticker := time.NewTicker(frozenProbe)
	defer ticker.Stop()
	for until := time.Now().Add(frozenFor); time.Now().Before(until) && ctx.Err() == nil; t.probes++ {
		reg := registers[t.probes%int64(len(registers))]
		all.Go(func() { t.read(c, victim, reg) })
		<-ticker.C
	}
	return c.Nodes[victim].Resume()
}
