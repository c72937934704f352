package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/workload/deliveries"
)

// trafficLabel is the label of the messages of a round.
const trafficLabel = "operate"

// traffic is clients of all kinds on nodes that come and go: those of each node are a pool. A reply that doesn't fit is
// a failure as much as an error is.
type traffic struct {
	sink                    *deliveries.Sink
	shared                  atomic.Int64 // acknowledged additions to the counter of all
	writes, reads, messages atomic.Int64
	failed                  atomic.Int64
	pools                   []*pool
	mu                      sync.Mutex
	problems                []string // the first few failures
	published               []string // ids of the messages that were acknowledged, by number
}

func newTraffic() (*traffic, error) {
	sink, err := deliveries.NewSink(func(string, int, int) deliveries.Answer { return deliveries.Answer{Status: 200} })
	if err != nil {
		return nil, err
	}
	return &traffic{sink: sink}, nil
}

// start gives a node its clients.
func (t *traffic) start(n *testcluster.Node) {
	c := newPool(t, n)
	t.pools = append(t.pools, c)
	c.start()
}

// evacuate has the clients of a node go to another, as a balancer does before a restart: what is under way is finished.
// What it returns brings them back.
func (t *traffic) evacuate(from, to *testcluster.Node) (back func()) {
	var gone []*pool
	for _, c := range t.pools {
		if c.at() == from {
			c.move(to)
			gone = append(gone, c)
		}
	}
	return func() {
		for _, c := range gone {
			c.move(from)
		}
	}
}

func (t *traffic) fail(format string, args ...any) {
	t.failed.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.problems) < 10 {
		t.problems = append(t.problems, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
	}
}

// number is the number of the next message.
func (t *traffic) number() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.published = append(t.published, "")
	return len(t.published) - 1
}

func (t *traffic) acknowledge(number int, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.published[number] = id
}

// end lets the clients finish their requests.
func (t *traffic) end() {
	for _, c := range t.pools {
		c.stop()
	}
	for _, c := range t.pools {
		c.all.Wait()
		c.redis.Close()
		slices.SortFunc(c.samples, func(a, b sample) int { return a.replied.Compare(b.replied) })
	}
}

// close ends the sink too.
func (t *traffic) close() { t.sink.Close() }

// pause is the longest time between two moments in which the clients of one node had no write acknowledged. Only after
// end.
func (t *traffic) pause(begin, end time.Time) (longest time.Duration) {
	for _, c := range t.pools {
		for i := 1; i < len(c.samples); i++ {
			from, to := c.samples[i-1].replied, c.samples[i].replied
			if to.After(begin) && from.Before(end) {
				longest = max(longest, to.Sub(from))
			}
		}
	}
	return longest
}

// verify compares every counter, read through every node, with what was acknowledged, and waits for the messages. Only
// after end.
func (t *traffic) verify(ctx context.Context, nodes []*testcluster.Node) {
	for _, n := range nodes {
		t.equal(ctx, n, sharedCounter, t.shared.Load())
		for _, c := range t.pools {
			for _, h := range c.workers {
				t.equal(ctx, n, h.key, h.count)
			}
		}
	}
	t.delivered(ctx)
}

func (t *traffic) equal(ctx context.Context, n *testcluster.Node, key string, want int64) {
	if got, err := count(n.Client().Do(ctx, "GET", key)); err != nil || got != want {
		t.fail("%s through %s is %d (%v), acknowledged were %d", key, n.ID, got, err, want)
	}
}

// delivered waits until every message that was acknowledged has arrived.
func (t *traffic) delivered(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := testcluster.Poll(ctx, 50*time.Millisecond, t.missing); err != nil {
		t.fail("%v", err)
	}
}

// missing is an error as long as an acknowledged message has not arrived.
func (t *traffic) missing() error {
	arrived := map[int]bool{}
	for _, a := range t.sink.Arrivals(trafficLabel) {
		arrived[a.Number] = true
	}
	count := int64(0)
	for number, id := range t.published {
		switch {
		case id == "":
		case arrived[number]:
			count++
		default:
			return fmt.Errorf("message %d, %s, was acknowledged and never delivered", number, id)
		}
	}
	t.messages.Store(count)
	return nil
}
