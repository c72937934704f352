package deliveries

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// Shares is a run of one queue that tenants of different weights share, while leaders are killed.
type Shares struct {
	Cluster *testcluster.Cluster
	Label   string
	// Messages is the number of messages of the tenant of weight 1; the others have as many for each of their weight.
	Messages int
	// Work is the time that the sink takes for a message.
	Work            time.Duration
	KillEvery, Down time.Duration
	Patience        time.Duration
}

// SharesResult is the result of Shares.
type SharesResult struct {
	Messages, Kills int
	// Off is the most that two tenants were apart, in messages of weight 1.
	Off  float64
	Took time.Duration
}

// String is a line for people.
func (r SharesResult) String() string {
	return fmt.Sprintf("%d messages of %d tenants in %v, %d leaders killed: at most %.2f messages of weight 1 apart",
		r.Messages, len(sharers), r.Took.Round(100*time.Millisecond), r.Kills, r.Off)
}

// sharers are the weights of the tenants.
var sharers = []int{1, 2, 5}

// Run fills the queue while it is paused, has it go on, and judges in which order it was claimed.
func (s Shares) Run(ctx context.Context) (out SharesResult, err error) {
	sink, err := NewSinkAt(s.Cluster.Host, func(string, int, int) Answer { return Answer{Wait: s.Work, Status: http.StatusOK} })
	if err != nil {
		return out, err
	}
	defer sink.Close()
	publisher := &Publisher{Cluster: s.Cluster}
	if err := publisher.Queue(ctx, s.Label, 1); err != nil {
		return out, err
	}
	if err := publisher.post(ctx, "/v2/queues/"+s.Label+"/pause"); err != nil {
		return out, err
	}
	tenant := map[string]int{} // of a message
	number := 0
	for i, weight := range sharers {
		for range weight * s.Messages {
			header := map[string]string{
				"Upstash-Label": s.Label, "Upstash-Deduplication-Id": fmt.Sprintf("%s-%d", s.Label, number), "Upstash-Retry-Delay": "20",
				"Svc-Tenant": fmt.Sprint("tenant-", i), "Svc-Weight": strconv.Itoa(weight),
			}
			r, err := publisher.Publish(ctx, number, "/v2/enqueue/"+s.Label+"/"+sink.URL(s.Label, number), header, []byte("x"))
			if err != nil {
				return out, err
			}
			tenant[r.MessageID] = i
			number++
		}
	}
	killer := &Killer{Cluster: s.Cluster, Down: s.Down}
	killing, stop := context.WithCancel(ctx)
	defer stop()
	killed := make(chan error, 1)
	go func() {
		if s.KillEvery == 0 {
			killed <- nil
			return
		}
		killed <- killer.Every(killing, s.KillEvery)
	}()
	began := time.Now()
	err = publisher.post(ctx, "/v2/queues/"+s.Label+"/resume")
	var all []Event
	if err == nil {
		all, err = publisher.settled(ctx, s.Label, number, s.Patience)
	}
	stop()
	if e := <-killed; err == nil {
		err = e
	}
	out = SharesResult{Messages: number, Kills: len(killer.Kills()), Took: time.Since(began)}
	if err == nil {
		err = judgeShares(&out, tenant, all, s.Messages)
	}
	return out, err
}

// judgeShares: while all tenants have messages waiting, what two of them got differs from their weights by at most one message of each.
func judgeShares(out *SharesResult, tenant map[string]int, all []Event, each int) error {
	var wrong problems
	got := make([]int, len(sharers))
	begun := map[string]bool{}
	for _, v := range all {
		i, known := tenant[v.MessageID]
		if !known {
			wrong.add("message %s was never acknowledged: invented", v.MessageID)
			continue
		}
		if v.State != "ACTIVE" || begun[v.MessageID] {
			continue
		}
		begun[v.MessageID] = true
		got[i]++
		if got[i] == each*sharers[i] { // from now on it has nothing waiting
			break
		}
		for a := range got {
			for b := range a {
				share := func(i int) float64 { return float64(got[i]) / float64(sharers[i]) }
				off := max(share(a)-share(b), share(b)-share(a))
				if out.Off = max(out.Off, off); off > 1/float64(sharers[a])+1/float64(sharers[b])+1e-9 {
					wrong.add("tenants of weights %d and %d had %d and %d messages", sharers[a], sharers[b], got[a], got[b])
				}
			}
		}
	}
	if len(begun) == 0 {
		wrong.add("no message was claimed")
	}
	return wrong.err()
}

// post posts to a path of any node until it is done, trying for as long as publications.
func (p *Publisher) post(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	node := 0
	return testcluster.Poll(ctx, 10*time.Millisecond, func() error {
		status, _, reply, err := p.Cluster.Nodes[node%p.Cluster.Size()].Messages().Call(ctx, http.MethodPost, path, nil, nil)
		if err == nil && status/100 == 2 {
			return nil
		}
		node++
		return fmt.Errorf("%s: status %d: %.200s: %w", path, status, reply, err)
	})
}
