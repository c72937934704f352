package main

import (
	"context"
	"fmt"
	"time"

	"github.com/trireme-dev/trireme/jepsen/workload/deliveries"
	"github.com/trireme-dev/trireme/scheduler/egress/egresstest"
)

// deliveryFlags let nodes deliver to the sink, which is on loopback.
var deliveryFlags = []string{"--egress-allow", "127.0.0.0/8"}

const (
	mailDown     = time.Second // how long a killed leader stays away
	mailPatience = 5 * time.Minute
)

// label names a round's messages, apart from those of an interrupted one before it.
func (s *session) label(round int) string {
	return fmt.Sprintf("%s-%d-%d", s.line, round, time.Now().Unix())
}

// mailed performs rounds on the line's cluster and prints what came of each.
func mailed[T fmt.Stringer](ctx context.Context, s *session, name string, rounds int, perform func(round int) (T, error)) ([]T, error) {
	return repeat(s.progress, name, s.count(rounds), func(i int) (T, error) {
		var none T
		if _, err := s.nodes(ctx); err != nil {
			return none, err
		}
		out, err := perform(i)
		s.printf("%s %d: %v", name, i+1, out)
		return out, err
	})
}

const (
	clientBlocks  = 4
	blockMessages = 25_000 // in a block: 100,000 in all
	// blockKills is the time between two kills. A block is over within some seconds: with
	// 10 s between them a leader was killed when hardly anything was under way any more.
	blockKills = 2 * time.Second
)

// deliveredOnce is delivered-once.
func deliveredOnce(ctx context.Context, s *session) error {
	name := fmt.Sprintf("block of %d", blockMessages)
	blocks, err := mailed(ctx, s, name, clientBlocks, func(i int) (deliveries.DeliveryResult, error) {
		return deliveries.Delivery{
			Cluster: s.cluster, Label: s.label(i), Messages: blockMessages, Clients: 64, Retries: 3, Failing: 20,
			KillEvery: blockKills, Down: mailDown, Patience: mailPatience,
		}.Run(ctx)
	})
	if err != nil {
		return err
	}
	var all deliveries.DeliveryResult
	for _, b := range blocks {
		all.Messages, all.Kills, all.Delivered, all.Dead = all.Messages+b.Messages, all.Kills+b.Kills, all.Delivered+b.Delivered, all.Dead+b.Dead
		all.Attempts, all.Arrivals, all.Lost, all.Repeats = all.Attempts+b.Attempts, all.Arrivals+b.Arrivals, all.Lost+b.Lost, all.Repeats+b.Repeats
		all.Again, all.Publishing, all.Took = all.Again+b.Again, all.Publishing+b.Publishing, all.Took+b.Took
	}
	s.printf("in all: %v", all)
	return nil
}

// inOrder is fifo.
func inOrder(ctx context.Context, s *session) error {
	_, err := mailed(ctx, s, "queue of 5,000", 1, func(i int) (deliveries.QueueResult, error) {
		return deliveries.Queue{
			Cluster: s.cluster, Label: s.label(i), Messages: 5000, Retries: 2, Failing: 5, Poison: 200, Work: time.Millisecond,
			Kills: 3, Down: mailDown, Patience: mailPatience,
		}.Run(ctx)
	})
	return err
}

// onTime is schedules.
func onTime(ctx context.Context, s *session) error {
	_, err := mailed(ctx, s, "timetables", 1, func(i int) (deliveries.TimetablesResult, error) {
		return deliveries.Timetables{
			Cluster: s.cluster, Label: s.label(i), Schedules: 50, Kills: 10, KillEvery: 10 * time.Second, Down: mailDown,
			Jump: time.Hour, Seed: uint64(time.Now().UnixNano()),
		}.Run(ctx)
	})
	return err
}

// flowControlled is flow-control: first in peace, then with a leader killed.
func flowControlled(ctx context.Context, s *session) error {
	run := func(killAfter ...time.Duration) func(int) (flows, error) {
		return func(i int) (flows, error) {
			return deliveries.Flow{
				Cluster: s.cluster, Label: s.label(i), Clients: 16, KillAfter: killAfter, Down: mailDown, Patience: mailPatience,
				Limits: []deliveries.FlowLimit{
					{Key: "rate", Rate: 100, Period: time.Second, Messages: 3000},
					{Key: "period", Rate: 150, Period: 3 * time.Second, Messages: 1500},
					{Key: "parallel", Parallelism: 8, Messages: 3000, Work: 20 * time.Millisecond},
					{Key: "single", Parallelism: 1, Messages: 300, Work: 5 * time.Millisecond},
					{Key: "both", Rate: 60, Period: 2 * time.Second, Parallelism: 4, Messages: 600, Work: 30 * time.Millisecond},
				},
			}.Run(ctx)
		}
	}
	if _, err := mailed(ctx, s, "in peace", 1, run()); err != nil {
		return err
	}
	_, err := mailed(ctx, s, "two leaders killed", 1, run(5*time.Second, 15*time.Second))
	return err
}

// flows are the keys of one run.
type flows []deliveries.FlowResult

// String is a line for each key.
func (f flows) String() (text string) {
	for _, one := range f {
		text += "\n  " + one.String()
	}
	return text
}

// onceOnly is deduplication.
func onceOnly(ctx context.Context, s *session) error {
	_, err := mailed(ctx, s, "ids", 1, func(i int) (deliveries.OnceResult, error) {
		return deliveries.Once{Cluster: s.cluster, Label: s.label(i), Rounds: 20, Clients: 64, Down: mailDown / 2, Patience: mailPatience}.Run(ctx)
	})
	return err
}

// outbox is outbox.
func outbox(ctx context.Context, s *session) error {
	_, err := mailed(ctx, s, "transactions", 1, func(i int) (deliveries.OutboxResult, error) {
		return deliveries.Outbox{
			Cluster: s.cluster, Label: s.label(i), Transactions: 10_000, Clients: 8, KillEvery: 2 * time.Second, Down: mailDown / 2, Patience: mailPatience,
		}.Run(ctx)
	})
	return err
}

// hostile is hostile-endpoints.
func hostile(ctx context.Context, s *session) error {
	resolver, err := egresstest.Start()
	if err != nil {
		return err
	}
	defer resolver.Close()
	s.flags = deliveries.HostileFlags(resolver)
	s.env = []string{"GOGC=100"} // so that the memory taken tells what is kept; with room, nodes let five times that lie
	_, err = mailed(ctx, s, "destinations", 1, func(i int) (deliveries.HostileResult, error) {
		return deliveries.Hostile{Cluster: s.cluster, Resolver: resolver, Label: s.label(i), Messages: 50, Good: 500, Patience: mailPatience, MostGrown: 256 << 20}.Run(ctx)
	})
	return err
}
