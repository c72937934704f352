package deliveries

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// Outbox is a run of transactions that move a counter and publish a message, each sent
// once, while leaders are killed.
type Outbox struct {
	Cluster               *testcluster.Cluster
	Label                 string
	Transactions, Clients int
	KillEvery, Down       time.Duration
	Patience              time.Duration
}

// OutboxResult is the result of an Outbox.
type OutboxResult struct {
	Transactions, Counter, Messages, Arrived, Kills int
	Unknown, Refused                                int64
	Took                                            time.Duration
}

// String is a line for people.
func (r OutboxResult) String() string {
	return fmt.Sprintf("%d transactions in %v: %d of unknown outcome, %d not applied; the counter is %d, %d messages, %d of them at the sink, %d leaders killed",
		r.Transactions, r.Took.Round(100*time.Millisecond), r.Unknown, r.Refused, r.Counter, r.Messages, r.Arrived, r.Kills)
}

// Run performs the transactions and compares the counter with the messages.
func (o Outbox) Run(ctx context.Context) (out OutboxResult, err error) {
	sink, err := NewSinkAt(o.Cluster.Host, func(string, int, int) Answer { return Answer{Status: 200} })
	if err != nil {
		return out, err
	}
	defer sink.Close()
	publisher := &Publisher{Cluster: o.Cluster}
	killer := &Killer{Cluster: o.Cluster, Down: o.Down}
	var unknown, refused atomic.Int64
	began := time.Now()
	err = whileKilling(ctx, killer, o.KillEvery, func(ctx context.Context) error {
		return parallel(ctx, o.Clients, o.Transactions, func(ctx context.Context, client, number int) error {
			rows, r := o.Cluster.Nodes[client%o.Cluster.Size()].Client().Transaction(ctx, [][]string{
				{"INCR", o.Label}, {"MSG.PUBLISH", sink.URL(o.Label, number), strconv.Itoa(number), "LABEL", o.Label},
			})
			switch r.Outcome {
			case history.Unknown:
				unknown.Add(1)
			case history.NotApplied:
				refused.Add(1)
				Sleep(ctx, 20*time.Millisecond) // the node is away
			default:
				return errors.Join(rowError(rows[0]), rowError(rows[1]))
			}
			return nil
		})
	})
	if err != nil {
		return out, err
	}
	out = OutboxResult{Transactions: o.Transactions, Kills: len(killer.Kills()), Unknown: unknown.Load(), Refused: refused.Load(), Took: time.Since(began)}
	return out, o.judge(ctx, &out, publisher, sink)
}

func rowError(row testcluster.Row) error {
	if row.Error != "" {
		return errors.New(row.Error)
	}
	return nil
}

// counted reads the counter, through one node after the other until one answers.
func (o Outbox) counted(ctx context.Context) (counter string, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.Patience)
	defer cancel()
	node := 0
	err = testcluster.Poll(ctx, 50*time.Millisecond, func() error {
		r := o.Cluster.Do(ctx, node%o.Cluster.Size(), "GET", o.Label)
		if node++; r.Outcome != history.OK {
			return errors.New(r.Error)
		}
		return json.Unmarshal(r.Result, &counter)
	})
	return counter, err
}

// judge: what is counted was published, and what was published is delivered.
func (o Outbox) judge(ctx context.Context, out *OutboxResult, publisher *Publisher, sink *Sink) error {
	counter, err := o.counted(ctx)
	if err != nil {
		return fmt.Errorf("read the counter: %w", err)
	}
	out.Counter, _ = strconv.Atoi(counter)
	all, err := publisher.settled(ctx, o.Label, out.Counter, o.Patience)
	if err != nil {
		return err
	}
	made, arrived := lives(all), map[int]bool{}
	for _, a := range sink.Arrivals(o.Label) {
		arrived[a.Number] = true
	}
	out.Messages, out.Arrived = len(made), len(arrived)
	acknowledged := o.Transactions - int(out.Unknown+out.Refused)
	switch {
	case out.Counter != out.Messages || out.Counter != out.Arrived:
		return fmt.Errorf("the counter is %d, there are %d messages, and %d arrived", out.Counter, out.Messages, out.Arrived)
	case out.Counter < acknowledged || out.Counter > acknowledged+int(out.Unknown):
		return fmt.Errorf("the counter is %d with %d acknowledged and %d unknown transactions", out.Counter, acknowledged, out.Unknown)
	}
	return nil
}
