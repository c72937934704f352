package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/testcluster/balancer"
)

// route is a way through the balancer, with clients that use it. None of them sends anything twice.
type route struct {
	name    string
	clients int
	dial    func(b *balancer.Balancer) counter
}

// counter is one client: it adds one to a key and reads it.
type counter interface {
	incr(ctx context.Context, key string) (int64, error)
	get(ctx context.Context, key string) (int64, error)
	close()
}

// respLifetime bounds a RESP connection of clients that give each a maximum age.
const respLifetime = time.Second

// The routes. Versions that don't drain keep connections over TCP until they stop, so clients of those have to leave by
// themselves: RESP connections by their age.
var (
	viaHTTP = route{"http", 6, func(b *balancer.Balancer) counter {
		return httpCounter{testcluster.NewClient(b.HTTP(), testcluster.Token)}
	}}
	viaTCP = route{"http over tcp", 4, func(b *balancer.Balancer) counter {
		return httpCounter{testcluster.NewClient(b.TCP(), testcluster.Token)}
	}}
	viaRESP        = route{"resp", 4, func(b *balancer.Balancer) counter { return newRESPCounter(b, 0) }}
	viaAging       = route{"resp, connections of 1 s", 4, func(b *balancer.Balancer) counter { return newRESPCounter(b, respLifetime) }}
	allRoutes      = []route{viaHTTP, viaTCP, viaRESP, viaAging}
	previousRoutes = []route{viaHTTP, viaAging}
)

type httpCounter struct{ c *testcluster.Client }

func (c httpCounter) close() { c.c.Close() }

func (c httpCounter) incr(ctx context.Context, key string) (int64, error) {
	return c.do(ctx, "INCR", key)
}

func (c httpCounter) get(ctx context.Context, key string) (int64, error) {
	return c.do(ctx, "GET", key)
}

func (c httpCounter) do(ctx context.Context, args ...string) (int64, error) {
	r := c.c.Do(ctx, args...)
	if r.Outcome != history.OK {
		return 0, fmt.Errorf("%s, status %d: %s", r.Outcome, r.Status, r.Error)
	}
	return strconv.ParseInt(strings.Trim(string(r.Result), `"`), 10, 64)
}

type respCounter struct{ c *redis.Client }

// newRESPCounter is a client with one connection, which it examines before each command, as a pool does.
func newRESPCounter(b *balancer.Balancer, age time.Duration) counter {
	return respCounter{redis.NewClient(&redis.Options{
		Addr: b.RESP(), Password: testcluster.Token, MaxRetries: -1, PoolSize: 1, ConnMaxLifetime: age, DialTimeout: testcluster.RequestTimeout,
		ReadTimeout: testcluster.RequestTimeout, WriteTimeout: testcluster.RequestTimeout, Dialer: dialOnce,
	})}
}

// dialOnce opens a connection without the client's own further tries.
func dialOnce(ctx context.Context, network, addr string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, addr)
}

func (c respCounter) close() { c.c.Close() }

func (c respCounter) incr(ctx context.Context, key string) (int64, error) {
	return c.c.Incr(ctx, key).Result()
}

func (c respCounter) get(ctx context.Context, key string) (int64, error) {
	return c.c.Get(ctx, key).Int64()
}

// proxyClients are the clients of all routes.
type proxyClients struct {
	b      *balancer.Balancer
	stop   context.CancelFunc
	all    sync.WaitGroup
	routes []*routeClients
	failed atomic.Int64

	mu       sync.Mutex
	problems []string // the first few failures
}

// routeClients holds the clients of one route.
type routeClients struct {
	route
	done    atomic.Int64 // requests that were answered
	workers []*proxyWorker
}

// proxyWorker is one client and the key that it counts on.
type proxyWorker struct {
	counter
	key       string
	count     int64 // acknowledged additions
	uncertain int64 // additions that failed: they may have happened
}

func startProxyClients(b *balancer.Balancer, routes []route) *proxyClients {
	ctx, stop := context.WithCancel(context.Background())
	p := &proxyClients{b: b, stop: stop}
	for _, d := range routes {
		group := &routeClients{route: d}
		p.routes = append(p.routes, group)
		for i := range d.clients {
			w := &proxyWorker{counter: d.dial(b), key: fmt.Sprintf("proxied:%s:%d", strings.ReplaceAll(d.name, " ", "-"), i)}
			group.workers = append(group.workers, w)
			p.all.Go(func() {
				for ctx.Err() == nil {
					p.step(group, w)
				}
			})
		}
	}
	return p
}

// step makes one addition and one read, and judges both.
func (c *proxyClients) step(d *routeClients, w *proxyWorker) {
	ctx := context.Background() // a request that began is finished
	n, err := w.incr(ctx, w.key)
	switch {
	case err != nil:
		w.uncertain++
		c.fail(d, "INCR after %d additions: %v", w.count, err)
	default:
		w.count++
		c.compare(d, w, n, "INCR")
	}
	if n, err = w.get(ctx, w.key); err != nil && w.count > 0 {
		c.fail(d, "GET after %d additions: %v", w.count, err)
		return
	}
	c.compare(d, w, n, "GET")
}

func (c *proxyClients) compare(d *routeClients, w *proxyWorker, n int64, name string) {
	d.done.Add(1)
	if n < w.count || n > w.count+w.uncertain {
		c.fail(d, "%s answered %d after %d additions", name, n, w.count)
	}
}

func (c *proxyClients) fail(d *routeClients, format string, args ...any) {
	c.failed.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.problems) < 20 {
		c.problems = append(c.problems, time.Now().Format("15:04:05.000 ")+d.name+": "+fmt.Sprintf(format, args...))
	}
}

// requests counts those that were answered or failed.
func (c *proxyClients) requests() int64 {
	sum := c.failed.Load()
	for _, d := range c.routes {
		sum += d.done.Load()
	}
	return sum
}

// String returns the number of requests of each route.
func (c *proxyClients) String() string {
	var parts []string
	for _, d := range c.routes {
		parts = append(parts, fmt.Sprintf("%s %d", d.name, d.done.Load()))
	}
	return fmt.Sprintf("%d requests (%s), %d failed", c.requests(), strings.Join(parts, ", "), c.failed.Load())
}

// end lets the clients finish.
func (c *proxyClients) end() {
	c.stop()
	c.all.Wait()
}

// verify reads every counter once more, and closes the clients.
func (c *proxyClients) verify(ctx context.Context) {
	for _, d := range c.routes {
		for _, w := range d.workers {
			n, err := w.get(ctx, w.key)
			if err != nil || n < w.count || n > w.count+w.uncertain {
				c.fail(d, "%s is %d in the end (%v), acknowledged were %d", w.key, n, err, w.count)
			}
			w.close()
		}
	}
}
