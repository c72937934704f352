package deliveries

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// Once is a run in which many clients publish under one deduplication id at the same
// moment, through all nodes; in every second round the leader is killed meanwhile.
type Once struct {
	Cluster         *testcluster.Cluster
	Label           string
	Rounds, Clients int
	Down, Patience  time.Duration
}

// OnceResult is the result of Once.
type OnceResult struct {
	Rounds, Kills, Answers, Messages int
	Again                            int64
}

// String is a line for people.
func (r OnceResult) String() string {
	return fmt.Sprintf("%d rounds: %d answers (%d publications sent again), %d messages, %d leaders killed", r.Rounds, r.Answers, r.Again, r.Messages, r.Kills)
}

// Run publishes, kills and judges.
func (o Once) Run(ctx context.Context) (out OnceResult, err error) {
	sink, err := NewSinkAt(o.Cluster.Host, func(string, int, int) Answer { return Answer{Status: 200} })
	if err != nil {
		return out, err
	}
	defer sink.Close()
	publisher := &Publisher{Cluster: o.Cluster}
	killer := &Killer{Cluster: o.Cluster, Down: o.Down}
	answers := make([][]Receipt, o.Rounds)
	for round := range o.Rounds {
		if answers[round], err = o.round(ctx, publisher, killer, sink, round); err != nil {
			return out, err
		}
	}
	all, err := publisher.settled(ctx, o.Label, o.Rounds, o.Patience)
	if err != nil {
		return out, err
	}
	out = OnceResult{Rounds: o.Rounds, Kills: len(killer.Kills()), Again: publisher.Again.Load()}
	return out, judgeOnce(&out, answers, all)
}

// round has all clients publish at once.
func (o Once) round(ctx context.Context, publisher *Publisher, killer *Killer, sink *Sink, round int) ([]Receipt, error) {
	got, errs := make([]Receipt, o.Clients), make([]error, o.Clients+1)
	header := map[string]string{"Upstash-Label": o.Label, "Upstash-Deduplication-Id": fmt.Sprintf("%s-%d", o.Label, round)}
	var all sync.WaitGroup
	for i := range o.Clients {
		all.Go(func() {
			got[i], errs[i] = publisher.Publish(ctx, i, "/v2/publish/"+sink.URL(o.Label, round), header, nil)
		})
	}
	if round%2 == 1 {
		errs[o.Clients] = killer.Kill(ctx)
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return got, nil
}

// judgeOnce: each round made one message, and every answer names it.
func judgeOnce(out *OnceResult, answers [][]Receipt, all []Event) error {
	var wrong problems
	made := lives(all)
	out.Messages = len(made)
	known := map[string]bool{}
	for round, got := range answers {
		firsts := 0
		for _, r := range got {
			out.Answers++
			if r.MessageID != got[0].MessageID {
				wrong.add("round %d: answers name %s and %s", round, got[0].MessageID, r.MessageID)
			}
			if !r.Deduplicated {
				firsts++
			}
		}
		if firsts > 1 {
			wrong.add("round %d: %d answers say that they made the message", round, firsts)
		}
		known[got[0].MessageID] = true
	}
	if len(known) != len(answers) || len(made) != len(answers) {
		wrong.add("%d messages and %d ids in answers for %d rounds", len(made), len(known), len(answers))
	}
	for id := range made {
		if !known[id] {
			wrong.add("message %s is in no answer", id)
		}
	}
	return wrong.err()
}
