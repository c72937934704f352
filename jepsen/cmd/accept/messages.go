package main

import (
	"context"
	"fmt"
	"time"

	"trireme/egress/egresstest"
	"trireme/jepsen/mail"
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
	crowdBlocks   = 4
	crowdMessages = 25_000 // in a block: 100,000 in all
	// crowdKills is the time between two kills. A block is over within some seconds: with
	// 10 s between them a leader was killed when hardly anything was under way any more.
	crowdKills = 2 * time.Second
)

// deliveredOnce is messages.3.
func deliveredOnce(ctx context.Context, s *session) error {
	name := fmt.Sprintf("block of %d", crowdMessages)
	blocks, err := mailed(ctx, s, name, crowdBlocks, func(i int) (mail.Delivered, error) {
		return mail.Delivery{
			Cluster: s.cluster, Label: s.label(i), Messages: crowdMessages, Clients: 64, Retries: 3, Failing: 20,
			KillEvery: crowdKills, Down: mailDown, Patience: mailPatience,
		}.Run(ctx)
	})
	if err != nil {
		return err
	}
	var all mail.Delivered
	for _, b := range blocks {
		all.Messages, all.Kills, all.Delivered, all.Dead = all.Messages+b.Messages, all.Kills+b.Kills, all.Delivered+b.Delivered, all.Dead+b.Dead
		all.Attempts, all.Arrivals, all.Lost, all.Repeats = all.Attempts+b.Attempts, all.Arrivals+b.Arrivals, all.Lost+b.Lost, all.Repeats+b.Repeats
		all.Again, all.Publishing, all.Took = all.Again+b.Again, all.Publishing+b.Publishing, all.Took+b.Took
	}
	s.printf("in all: %v", all)
	return nil
}

// inOrder is messages.4.
func inOrder(ctx context.Context, s *session) error {
	_, err := mailed(ctx, s, "queue of 5,000", 1, func(i int) (mail.Queued, error) {
		return mail.Queue{
			Cluster: s.cluster, Label: s.label(i), Messages: 5000, Retries: 2, Failing: 5, Poison: 200, Work: time.Millisecond,
			Kills: 3, Down: mailDown, Patience: mailPatience,
		}.Run(ctx)
	})
	return err
}

// onTime is messages.5.
func onTime(ctx context.Context, s *session) error {
	_, err := mailed(ctx, s, "timetables", 1, func(i int) (mail.Ticked, error) {
		return mail.Timetables{
			Cluster: s.cluster, Label: s.label(i), Schedules: 50, Kills: 10, KillEvery: 10 * time.Second, Down: mailDown,
			Jump: time.Hour, Seed: uint64(time.Now().UnixNano()),
		}.Run(ctx)
	})
	return err
}

// flowControlled is messages.6: first in peace, then with a leader killed.
func flowControlled(ctx context.Context, s *session) error {
	run := func(killAfter ...time.Duration) func(int) (flows, error) {
		return func(i int) (flows, error) {
			return mail.Flow{
				Cluster: s.cluster, Label: s.label(i), Clients: 16, KillAfter: killAfter, Down: mailDown, Patience: mailPatience,
				Limits: []mail.FlowLimit{
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
type flows []mail.Flowed

// String is a line for each key.
func (f flows) String() (text string) {
	for _, one := range f {
		text += "\n  " + one.String()
	}
	return text
}

// onceOnly is messages.7.
func onceOnly(ctx context.Context, s *session) error {
	_, err := mailed(ctx, s, "ids", 1, func(i int) (mail.Deduplicated, error) {
		return mail.Once{Cluster: s.cluster, Label: s.label(i), Rounds: 20, Clients: 64, Down: mailDown / 2, Patience: mailPatience}.Run(ctx)
	})
	return err
}

// outbox is messages.8.
func outbox(ctx context.Context, s *session) error {
	_, err := mailed(ctx, s, "transactions", 1, func(i int) (mail.Posted, error) {
		return mail.Outbox{
			Cluster: s.cluster, Label: s.label(i), Transactions: 10_000, Clients: 8, KillEvery: 2 * time.Second, Down: mailDown / 2, Patience: mailPatience,
		}.Run(ctx)
	})
	return err
}

// hostile is messages.10.
func hostile(ctx context.Context, s *session) error {
	resolver, err := egresstest.Start()
	if err != nil {
		return err
	}
	defer resolver.Close()
	s.flags = mail.HostileFlags(resolver)
	s.env = []string{"GOGC=100"} // so that the memory taken tells what is kept; with room, nodes let five times that lie
	_, err = mailed(ctx, s, "destinations", 1, func(i int) (mail.Survived, error) {
		return mail.Hostile{Cluster: s.cluster, Resolver: resolver, Label: s.label(i), Messages: 50, Good: 500, Patience: mailPatience, MostGrown: 256 << 20}.Run(ctx)
	})
	return err
}
