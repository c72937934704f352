package deliveries

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// Publisher publishes to a cluster and reads what became of it.
type Publisher struct {
	Cluster *testcluster.Cluster
	// Again counts publications that had to be sent again, because the answer was an
	// error or none.
	Again atomic.Int64
}

// Receipt is the answer to a publication.
type Receipt struct {
	MessageID    string `json:"messageId"`
	ScheduleID   string `json:"scheduleId"`
	Deduplicated bool   `json:"deduplicated"`
}

// publishTime bounds the tries of a publication: a majority always lives.
const publishTime = 60 * time.Second

// Publish sends one publication, through a node first and then through the others, until
// it is acknowledged. It needs a deduplication id in the header, or may be stored twice.
func (p *Publisher) Publish(ctx context.Context, node int, path string, header map[string]string, body []byte) (r Receipt, err error) {
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	err = testcluster.Poll(ctx, 10*time.Millisecond, func() error {
		status, _, reply, err := p.Cluster.Nodes[node%p.Cluster.Size()].Messages().Call(ctx, http.MethodPost, path, header, body)
		if err == nil && status/100 == 2 {
			return json.Unmarshal(reply, &r)
		}
		node++
		p.Again.Add(1)
		if err == nil && status/100 == 4 {
			return testcluster.Permanent(fmt.Errorf("%s: status %d: %.200s", path, status, reply))
		}
		return fmt.Errorf("%s: status %d: %.200s: %w", path, status, reply, err)
	})
	return r, err
}

// Queue makes a queue of a parallelism, or changes one, trying for as long as publications.
func (p *Publisher) Queue(ctx context.Context, name string, parallelism int) error {
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	node := 0
	return testcluster.Poll(ctx, 10*time.Millisecond, func() error {
		body := fmt.Appendf(nil, `{"queueName":%q,"parallelism":%d}`, name, parallelism)
		status, _, reply, err := p.Cluster.Nodes[node%p.Cluster.Size()].Messages().Call(ctx, http.MethodPost, "/v2/queues", nil, body)
		if err == nil && status/100 == 2 {
			return nil
		}
		node++
		return fmt.Errorf("make the queue %s: status %d: %.200s: %w", name, status, reply, err)
	})
}

// Read gets a path of /v2 from any node into v, trying for as long as publications.
func (p *Publisher) Read(ctx context.Context, path string, v any) error {
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	node := 0
	return testcluster.Poll(ctx, 50*time.Millisecond, func() error {
		status, _, reply, err := p.Cluster.Nodes[node%p.Cluster.Size()].Messages().Call(ctx, http.MethodGet, path, nil, nil)
		if err == nil && status == http.StatusOK {
			return json.Unmarshal(reply, v)
		}
		node++
		return fmt.Errorf("%s: status %d: %.200s: %w", path, status, reply, err)
	})
}
