package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	leaderClients = 64
	leaderRounds  = 20
	// The figures of the issue, at the default heartbeat.
	killP50      = 300 * time.Millisecond
	killMax      = 3 * time.Second
	gracefulMax  = 500 * time.Millisecond
	stopGrace    = 12 * time.Second
	warm         = time.Second             // load before the leader goes
	after        = 1500 * time.Millisecond // load after the first write
	noWriteLimit = 15 * time.Second
)

// lostRound is one leader lost under load.
type lostRound struct {
	FirstWrite time.Duration // from the signal to the first acknowledged write sent after it
	Pause      time.Duration // longest time without an acknowledged write
	Longest    time.Duration // longest write of any client
	Writes     int64
	Reads      int64
	Failed     int64 // failed requests, wrong replies and wrong final values
	Problems   []string
}

// leaderLost is leader-kill.
func leaderLost(ctx context.Context, s *session) error {
	n := s.count(leaderRounds)
	kills, err := repeat(s.progress, "kill", n, func(i int) (lostRound, error) {
		return loseLeader(ctx, s, fmt.Sprint("kill", i+1), (*testcluster.Node).Kill)
	})
	if err != nil {
		return err
	}
	stops, err := repeat(s.progress, "stop", n, func(i int) (lostRound, error) {
		return loseLeader(ctx, s, fmt.Sprint("stop", i+1), func(n *testcluster.Node) error { return n.Stop(stopGrace) })
	})
	if err != nil {
		return err
	}
	return errors.Join(judgeKills(s, kills), judgeStops(s, stops))
}

// loseLeader puts load on the two followers, ends the leader, and holds every
// counter against what was acknowledged.
func loseLeader(ctx context.Context, s *session, name string, end func(*testcluster.Node) error) (r lostRound, err error) {
	c, err := s.nodes(ctx)
	if err != nil {
		return r, err
	}
	leader, err := c.WaitLeader(ctx)
	if err != nil {
		return r, err
	}
	l := startLoad(c, others(c, leader.Node), leaderClients, fmt.Sprintf("lost:%s:%d", name, leader.Term))
	sleep(ctx, warm)
	at := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- end(c.Nodes[leader.Node]) }()
	first, err := firstWrite(ctx, l, at)
	sleep(ctx, after)
	l.end()
	if err := errors.Join(err, <-ended); err != nil {
		return r, err
	}
	r = lostRound{
		FirstWrite: first.Sub(at), Pause: l.pause(), Longest: l.longest,
		Writes: int64(len(l.samples)), Reads: l.reads.Load(),
	}
	if err := c.Nodes[leader.Node].Start(); err != nil {
		return r, err
	}
	if err := waitReady(ctx, c, 30*time.Second); err != nil {
		return r, err
	}
	l.verify(ctx, c.Size())
	r.Failed, r.Problems = l.failed.Load(), l.problems
	r.print(s, name)
	return r, ctx.Err()
}

func (r lostRound) print(s *session, name string) {
	s.printf("%s: first write %4d ms, pause %4d ms, longest %4d ms, %d writes, %d reads, %d failed", name,
		r.FirstWrite.Milliseconds(), r.Pause.Milliseconds(), r.Longest.Milliseconds(), r.Writes, r.Reads, r.Failed)
	for _, p := range r.Problems {
		s.printf("  %s", p)
	}
}

// firstWrite waits for the first acknowledged write that was sent after at.
func firstWrite(ctx context.Context, l *load, at time.Time) (first time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, noWriteLimit)
	defer cancel()
	err = testcluster.Poll(ctx, 20*time.Millisecond, func() error {
		t, ok := l.firstAfter(at)
		if !ok {
			return errors.New("no acknowledged write")
		}
		first = t
		return nil
	})
	return first, err
}

func others(c *testcluster.Cluster, leader int) []int {
	var rest []int
	for i := range c.Nodes {
		if i != leader {
			rest = append(rest, i)
		}
	}
	return rest
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// judgeKills holds the kill rounds against the figures.
func judgeKills(s *session, rounds []lostRound) error {
	first := durations(rounds, func(r lostRound) time.Duration { return r.FirstWrite })
	p50, worst := middle(first), first[len(first)-1]
	s.printf("kill -9 of the leader, %d times: first write p50 %v (aim %v), max %v (aim %v); longest request %v; %d writes, %d failed requests",
		len(rounds), p50, killP50, worst, killMax, last(durations(rounds, longest)), total(rounds, writes), total(rounds, failed))
	return errors.Join(noFailures(rounds), atMost("first write after a kill, p50", p50, killP50), atMost("first write after a kill, max", worst, killMax))
}

// judgeStops holds the graceful stops against the figures.
func judgeStops(s *session, rounds []lostRound) error {
	pause := last(durations(rounds, func(r lostRound) time.Duration { return r.Pause }))
	s.printf("graceful stop of the leader, %d times: longest pause %v (aim %v); longest request %v; %d writes, %d failed requests",
		len(rounds), pause, gracefulMax, last(durations(rounds, longest)), total(rounds, writes), total(rounds, failed))
	return errors.Join(noFailures(rounds), atMost("pause at a graceful stop", pause, gracefulMax))
}

func longest(r lostRound) time.Duration { return r.Longest }
func writes(r lostRound) int64          { return r.Writes }
func failed(r lostRound) int64          { return r.Failed }

func noFailures(rounds []lostRound) error {
	if n := total(rounds, failed); n > 0 {
		return fmt.Errorf("%d requests failed on nodes that stayed, want 0", n)
	}
	return nil
}

func atMost(what string, got, limit time.Duration) error {
	if got > limit {
		return fmt.Errorf("%s: %v, want at most %v", what, got, limit)
	}
	return nil
}

// durations picks one figure of each round, sorted.
func durations[T any](rounds []T, pick func(T) time.Duration) []time.Duration {
	all := []time.Duration{}
	for _, r := range rounds {
		all = append(all, pick(r).Round(time.Millisecond/10))
	}
	slices.Sort(all)
	return all
}

func middle(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }
func last(sorted []time.Duration) time.Duration   { return sorted[len(sorted)-1] }

func total[T any](rounds []T, pick func(T) int64) int64 {
	var sum int64
	for _, r := range rounds {
		sum += pick(r)
	}
	return sum
}
