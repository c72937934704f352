package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// What the clients of one node are.
const (
	poolHTTP      = 6
	poolRESP      = 2
	poolMessages  = 1
	mailRest      = 10 * time.Millisecond // between two messages of one client
	sharedCounter = "operate:shared"
)

// pool is the clients of one node: over HTTP and over RESP they count and read, and one publishes messages. None sends
// anything twice.
type pool struct {
	traffic *traffic
	name    string
	stop    context.CancelFunc
	ctx     context.Context
	all     sync.WaitGroup
	workers []*worker

	place sync.RWMutex // held for reading while a request is under way
	node  *testcluster.Node
	redis *redis.Client

	mu      sync.Mutex
	samples []sample
}

// worker is one client that counts, on a key of its own.
type worker struct {
	key   string
	count int64 // acknowledged additions
}

func newPool(t *traffic, n *testcluster.Node) *pool {
	c := &pool{traffic: t, name: n.ID}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.settle(n)
	return c
}

// settle has the clients use a node, by connections that are made then.
func (p *pool) settle(n *testcluster.Node) {
	p.node = n
	for _, client := range []*testcluster.Client{n.Client(), n.Messages()} {
		client.Close() // idle connections to a former process
	}
	p.redis = redis.NewClient(&redis.Options{
		Addr: n.RESP, Password: testcluster.Token, TLSConfig: n.TLS(), MaxRetries: -1, DialTimeout: 5 * time.Second,
		ReadTimeout: testcluster.RequestTimeout, WriteTimeout: testcluster.RequestTimeout,
	})
}

// at returns the node to which the clients connect.
func (p *pool) at() *testcluster.Node {
	p.place.RLock()
	defer p.place.RUnlock()
	return p.node
}

// move has the clients finish what is under way and go on at another node.
func (p *pool) move(to *testcluster.Node) {
	p.place.Lock()
	defer p.place.Unlock()
	p.redis.Close()
	p.settle(to)
}

// start starts the clients.
func (p *pool) start() {
	for i := range poolHTTP + poolRESP {
		h := &worker{key: fmt.Sprintf("operate:%s:%d", p.name, i)}
		p.workers = append(p.workers, h)
		add, read := p.addHTTP, p.readHTTP
		if i >= poolHTTP {
			add, read = p.addRESP, p.readRESP
		}
		p.loop(func(turn int) { p.work(h, turn, add, read) })
	}
	for range poolMessages {
		p.loop(func(int) {
			p.publish()
			sleep(p.ctx, mailRest)
		})
	}
}

// loop runs one client until the end. Each turn is at one node.
func (p *pool) loop(turn func(int)) {
	p.all.Go(func() {
		for i := 0; p.ctx.Err() == nil; i++ {
			p.place.RLock()
			turn(i)
			p.place.RUnlock()
		}
	})
}

// work is one request: of four, two add to the client's own counter, one to that of all, and one reads.
func (p *pool) work(h *worker, turn int, add func(key string) (int64, error), read func(key string) (int64, error)) {
	began := time.Now()
	var n int64
	var err error
	switch turn % 4 {
	case 0, 1:
		if n, err = add(h.key); err == nil {
			if h.count++; n != h.count {
				err = fmt.Errorf("answered %d after %d additions", n, h.count)
			}
			p.acknowledged(began)
		}
	case 2:
		if _, err = add(sharedCounter); err == nil {
			p.traffic.shared.Add(1)
			p.acknowledged(began)
		}
	default:
		if n, err = read(h.key); err == nil && n != h.count {
			err = fmt.Errorf("read as %d after %d additions", n, h.count)
		}
		p.traffic.reads.Add(1)
	}
	if err != nil {
		p.traffic.fail("%s: %s: after %v: %v", p.node.ID, h.key, time.Since(began).Round(time.Millisecond), err)
	}
}

// acknowledged notes a write.
func (p *pool) acknowledged(sent time.Time) {
	p.traffic.writes.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.samples = append(p.samples, sample{sent: sent, replied: time.Now()})
}

func (p *pool) addHTTP(key string) (int64, error) {
	r := p.node.Client().Do(context.Background(), "INCR", key)
	if r.Outcome != history.OK {
		return 0, fmt.Errorf("INCR: %s: %s", r.Outcome, r.Error)
	}
	return strconv.ParseInt(string(r.Result), 10, 64)
}

func (p *pool) readHTTP(key string) (int64, error) {
	return count(p.node.Client().Do(context.Background(), "GET", key))
}

func (p *pool) addRESP(key string) (int64, error) {
	n, err := p.redis.Incr(context.Background(), key).Result()
	if err != nil {
		return 0, fmt.Errorf("INCR over RESP: %w", err)
	}
	return n, nil
}

func (p *pool) readRESP(key string) (int64, error) {
	n, err := p.redis.Get(context.Background(), key).Int64()
	if err != nil {
		return 0, fmt.Errorf("GET over RESP: %w", err)
	}
	return n, nil
}

// publish sends one message to the sink. It counts once it has arrived there.
func (p *pool) publish() {
	number := p.traffic.number()
	header := map[string]string{"Upstash-Retries": "5", "Upstash-Retry-Delay": "200"}
	status, _, reply, err := p.node.Messages().Call(context.Background(), http.MethodPost, "/v2/publish/"+p.traffic.sink.URL(trafficLabel, number), header, []byte("message "+strconv.Itoa(number)))
	var receipt struct{ MessageID string }
	if err == nil && status/100 == 2 {
		err = json.Unmarshal(reply, &receipt)
	}
	if err != nil || receipt.MessageID == "" {
		p.traffic.fail("%s: publish message %d: status %d: %.200s: %v", p.node.ID, number, status, reply, err)
		return
	}
	p.traffic.acknowledge(number, receipt.MessageID)
}
