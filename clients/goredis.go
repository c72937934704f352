package clients

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// goRedis runs our program for go-redis: one client for each node, in both protocols, and
// a client of the cluster.
func goRedis(ctx context.Context, addrs []string, token string) (output []byte, err error) {
	for i, addr := range addrs {
		c := redis.NewClient(&redis.Options{Addr: addr, Password: token, Protocol: 2 + i%2})
		err = errors.Join(err, goRedisProgram(ctx, c), c.Close())
	}
	for _, o := range []redis.ClusterOptions{{}, {ReadOnly: true}, {RouteRandomly: true}} {
		o.Addrs, o.Password = addrs, token
		c := redis.NewClusterClient(&o)
		err = errors.Join(err, goRedisProgram(ctx, c), nodesKnown(ctx, c, addrs), c.Close())
	}
	return nil, err
}

// nodesKnown reports whether the client has found all nodes.
func nodesKnown(ctx context.Context, c *redis.ClusterClient, addrs []string) error {
	slots, err := c.ClusterSlots(ctx).Result()
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, slot := range slots {
		for _, node := range slot.Nodes {
			known[node.Addr] = true
		}
	}
	for _, addr := range addrs {
		if !known[addr] {
			return fmt.Errorf("clients: go-redis: CLUSTER SLOTS does not name %s but %v", addr, known)
		}
	}
	return nil
}

// goProgram is the state that the parts of the program share. It keeps the first check that
// failed.
type goProgram struct {
	c      redis.UniversalClient
	prefix string
	err    error
}

func goRedisProgram(ctx context.Context, c redis.UniversalClient) error {
	p := &goProgram{c: c, prefix: fmt.Sprintf("client-test:{%x}:", rand.Uint64())}
	for _, part := range []func(context.Context){p.values, p.streams, p.pipelines, p.watches, p.messages, p.blocking, p.scripts} {
		part(ctx)
	}
	if p.err != nil {
		return fmt.Errorf("clients: go-redis %T: %w", c, p.err)
	}
	return nil
}

func (p *goProgram) key(name string) string { return p.prefix + name }

// want keeps the first thing that isn't as it has to be.
func (p *goProgram) want(what string, got, want any, err error) {
	if p.err == nil && (err != nil || !reflect.DeepEqual(got, want)) {
		p.err = fmt.Errorf("%s: %v, %w; want %v", what, got, err, want)
	}
}

func (p *goProgram) values(ctx context.Context) {
	set, err := p.c.Set(ctx, p.key("s"), "value", time.Hour).Result()
	p.want("SET", set, "OK", err)
	got, err := p.c.Get(ctx, p.key("s")).Result()
	p.want("GET", got, "value", err)
	if _, err := p.c.Get(ctx, p.key("none")).Result(); !errors.Is(err, redis.Nil) {
		p.want("GET of nothing", err, redis.Nil, nil)
	}
	n, err := p.c.HSet(ctx, p.key("h"), "a", 1, "b", "two").Result()
	p.want("HSET", n, int64(2), err)
	all, err := p.c.HGetAll(ctx, p.key("h")).Result()
	p.want("HGETALL", all, map[string]string{"a": "1", "b": "two"}, err)
	n, err = p.c.RPush(ctx, p.key("l"), "a", "b", "c").Result()
	p.want("RPUSH", n, int64(3), err)
	list, err := p.c.LRange(ctx, p.key("l"), 0, -1).Result()
	p.want("LRANGE", list, []string{"a", "b", "c"}, err)
	n, err = p.c.SAdd(ctx, p.key("set"), "a", "b").Result()
	p.want("SADD", n, int64(2), err)
	members, err := p.c.SMembersMap(ctx, p.key("set")).Result()
	p.want("SMEMBERS", members, map[string]struct{}{"a": {}, "b": {}}, err)
	scored := []redis.Z{{Score: 1.5, Member: "m"}, {Score: 2, Member: "n"}}
	n, err = p.c.ZAdd(ctx, p.key("z"), scored...).Result()
	p.want("ZADD", n, int64(2), err)
	z, err := p.c.ZRangeWithScores(ctx, p.key("z"), 0, -1).Result()
	p.want("ZRANGE", z, scored, err)
}

func (p *goProgram) streams(ctx context.Context) {
	x := p.key("x")
	made, err := p.c.XGroupCreateMkStream(ctx, x, "g", "$").Result()
	p.want("XGROUP CREATE", made, "OK", err)
	id, err := p.c.XAdd(ctx, &redis.XAddArgs{Stream: x, ID: "1-1", Values: []string{"f", "v"}}).Result()
	p.want("XADD", id, "1-1", err)
	read, err := p.c.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "c", Streams: []string{x, ">"}, Block: -1}).Result()
	p.want("XREADGROUP", len(read), 1, err)
	if err == nil {
		p.want("XREADGROUP", read[0].Messages, []redis.XMessage{{ID: "1-1", Values: map[string]any{"f": "v"}}}, nil)
	}
	pending, err := p.c.XPending(ctx, x, "g").Result()
	p.want("XPENDING", pending, &redis.XPending{Count: 1, Lower: "1-1", Higher: "1-1", Consumers: map[string]int64{"c": 1}}, err)
	n, err := p.c.XAck(ctx, x, "g", "1-1").Result()
	p.want("XACK", n, int64(1), err)
}

// pipelined is the number of commands in the pipeline.
const pipelined = 500

func (p *goProgram) pipelines(ctx context.Context) {
	replies, err := p.c.Pipelined(ctx, func(r redis.Pipeliner) error {
		for i := range pipelined {
			r.Set(ctx, p.key(fmt.Sprint("p", i)), i, 0)
		}
		return nil
	})
	p.want("a pipeline", len(replies), pipelined, err)
	last, err := p.c.Get(ctx, p.key(fmt.Sprint("p", pipelined-1))).Int()
	p.want("GET after a pipeline", last, pipelined-1, err)
}

const (
	adders   = 6
	addsEach = 5
)

// watches has adders add to one number by WATCH and MULTI: nothing gets lost.
func (p *goProgram) watches(ctx context.Context) {
	counter := p.key("counter")
	add := func(tx *redis.Tx) error {
		n, err := tx.Get(ctx, counter).Int()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		_, err = tx.TxPipelined(ctx, func(r redis.Pipeliner) error { return r.Set(ctx, counter, n+1, 0).Err() })
		return err
	}
	failed := make([]error, adders)
	var wg sync.WaitGroup
	for i := range adders {
		wg.Go(func() {
			for done := 0; done < addsEach && failed[i] == nil; {
				if err := p.c.Watch(ctx, add, counter); err == nil {
					done++
				} else if !errors.Is(err, redis.TxFailedErr) {
					failed[i] = err
				}
			}
		})
	}
	wg.Wait()
	n, err := p.c.Get(ctx, counter).Int()
	p.want("additions", n, adders*addsEach, errors.Join(append(failed, err)...))
}

func (p *goProgram) messages(ctx context.Context) {
	channel := p.key("channel")
	sub := p.c.Subscribe(ctx, channel)
	defer sub.Close()
	if _, err := sub.Receive(ctx); err != nil {
		p.want("SUBSCRIBE", nil, nil, err)
		return
	}
	for i := range 10 {
		n, err := p.c.Publish(ctx, channel, i).Result()
		p.want("PUBLISH", n, int64(1), err)
	}
	for i := range 10 {
		m, err := sub.ReceiveMessage(ctx)
		if err != nil {
			p.want("a message", nil, nil, err)
			return
		}
		p.want("a message", m.Payload, fmt.Sprint(i), nil)
	}
}

// popTimeout bounds the wait of a pop.
const popTimeout = 20 * time.Second

func (p *goProgram) blocking(ctx context.Context) {
	popped := make(chan func(), 2)
	go func() {
		v, err := p.c.BLPop(ctx, popTimeout, p.key("q")).Result()
		popped <- func() { p.want("BLPOP", v, []string{p.key("q"), "element"}, err) }
	}()
	go func() {
		v, err := p.c.BZPopMin(ctx, popTimeout, p.key("zq")).Result()
		popped <- func() {
			p.want("BZPOPMIN", v, &redis.ZWithKey{Z: redis.Z{Score: 1, Member: "m"}, Key: p.key("zq")}, err)
		}
	}()
	n, err := p.c.RPush(ctx, p.key("q"), "element").Result()
	p.want("RPUSH for who waits", n, int64(1), err)
	n, err = p.c.ZAdd(ctx, p.key("zq"), redis.Z{Score: 1, Member: "m"}).Result()
	p.want("ZADD for who waits", n, int64(1), err)
	for range 2 {
		(<-popped)()
	}
}

func (p *goProgram) scripts(ctx context.Context) {
	script := redis.NewScript("return redis.call('INCRBY', KEYS[1], ARGV[1])")
	for _, want := range []int{3, 6} {
		n, err := script.Run(ctx, p.c, []string{p.key("script")}, 3).Int()
		p.want("a script", n, want, err)
	}
}
