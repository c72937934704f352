package resp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestConversations holds what is sent and what comes back, line by line, against each
// other.
func TestConversations(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	for _, path := range scripts(t) {
		t.Run(strings.TrimSuffix(path, ".txt"), func(t *testing.T) { resptest.Converse(t, nodes.Addrs[0], "testdata/"+path, nil) })
	}
}

func scripts(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".txt") {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		t.Fatal("no conversations")
	}
	return names
}

// TestPipelines sends thousands of commands before it reads, in pieces that cut anywhere.
func TestPipelines(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	c := resptest.Login(t, nodes.Addrs[0])
	var b strings.Builder
	const n = 5000
	for i := range n {
		b.WriteString(resptest.Encode("SET", fmt.Sprint("p:", i%100), fmt.Sprint(i)))
		b.WriteString(resptest.Encode("GET", fmt.Sprint("p:", i%100)))
		if i%7 == 0 {
			b.WriteString("PING\r\n")
		}
		if i%501 == 0 {
			b.WriteString(resptest.Encode("NOSUCH"))
		}
	}
	text := b.String()
	go func() {
		for at := 0; at < len(text); {
			size := min(1+at*7919%9973, len(text)-at)
			c.Send(text[at : at+size])
			at += size
		}
	}()
	for i := range n {
		c.WantNext("OK")
		c.WantNext(fmt.Sprintf("%q", fmt.Sprint(i)))
		if i%7 == 0 {
			c.WantNext("PONG")
		}
		if i%501 == 0 {
			c.WantNext("(error) ERR unknown command 'NOSUCH', with args beginning with: ")
		}
	}
	c.Want("OK", "SET", "p:end", "x")
}

// TestGoRedis drives the port with an ordinary client, in both protocols.
func TestGoRedis(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	for _, protocol := range []int{2, 3} {
		t.Run(fmt.Sprint("RESP", protocol), func(t *testing.T) {
			c := redis.NewClient(&redis.Options{Addr: nodes.Addrs[0], Username: "default", Password: resptest.Token, Protocol: protocol})
			defer c.Close()
			useClient(t, c)
		})
	}
}

// TestGoRedisCluster drives three nodes with a client that asks where the slots are.
func TestGoRedisCluster(t *testing.T) {
	nodes := resptest.Serve(t, 3, nil)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: nodes.Addrs, Password: resptest.Token})
	defer c.Close()
	ctx := t.Context()
	for i := range 30 {
		key := fmt.Sprint("c", i)
		if err := c.Set(ctx, key, i, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Get(ctx, key).Int(); err != nil || n != i {
			t.Fatal(n, err)
		}
	}
}

func useClient(t *testing.T, c *redis.Client) {
	ctx := t.Context()
	check := func(got, want any, err error) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) || err != nil {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
	c.FlushAll(ctx)
	check(c.Set(ctx, "s", "v", time.Hour).Val(), "OK", nil)
	_, err := c.Get(ctx, "none").Result()
	if !errors.Is(err, redis.Nil) {
		t.Error(err)
	}
	h, err := c.HSet(ctx, "h", "a", 1, "b", 2).Result()
	check(h, 2, err)
	all, err := c.HGetAll(ctx, "h").Result()
	check(all, map[string]string{"a": "1", "b": "2"}, err)
	z, err := c.ZAdd(ctx, "z", redis.Z{Score: 1.5, Member: "m"}, redis.Z{Score: 2, Member: "n"}).Result()
	check(z, 2, err)
	scored, err := c.ZRangeWithScores(ctx, "z", 0, -1).Result()
	check(scored, "[{1.5 m} {2 n}]", err)
	id, err := c.XAdd(ctx, &redis.XAddArgs{Stream: "x", ID: "1-1", Values: []string{"f", "v"}}).Result()
	check(id, "1-1", err)
	read, err := c.XRead(ctx, &redis.XReadArgs{Streams: []string{"x", "0"}, Block: -1}).Result()
	check(len(read), 1, err)
	pipeline(t, c)
	increments(t, c)
	messages(t, c)
	popped := make(chan error, 1)
	go func() {
		v, err := c.BLPop(ctx, 10*time.Second, "q").Result()
		if err == nil && fmt.Sprint(v) != "[q v]" {
			err = fmt.Errorf("popped %v", v)
		}
		popped <- err
	}()
	check(c.RPush(ctx, "q", "v").Val(), 1, nil)
	check(nil, nil, <-popped)
}

// pipeline sends a hundred commands at once and reads them back.
func pipeline(t *testing.T, c *redis.Client) {
	ctx := t.Context()
	p := c.Pipeline()
	for i := range 100 {
		p.Set(ctx, fmt.Sprint("p", i), i, 0)
	}
	got := p.Get(ctx, "p99")
	if _, err := p.Exec(ctx); err != nil || got.Val() != "99" {
		t.Errorf("%q, %v", got.Val(), err)
	}
}

// increments has eight clients add to one number by WATCH and MULTI: none gets lost.
func increments(t *testing.T, c *redis.Client) {
	const clients, each = 8, 10
	add := func(ctx context.Context) error {
		return c.Watch(ctx, func(tx *redis.Tx) error {
			n, err := tx.Get(ctx, "counter").Int()
			if err != nil && !errors.Is(err, redis.Nil) {
				return err
			}
			_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, "counter", n+1, 0)
				return nil
			})
			return err
		}, "counter")
	}
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for done := 0; done < each; {
				err := add(t.Context())
				if err == nil {
					done++
				} else if !errors.Is(err, redis.TxFailedErr) {
					t.Errorf("increment: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n, err := c.Get(t.Context(), "counter").Int(); n != clients*each || err != nil {
		t.Errorf("%d of %d increments, %v", n, clients*each, err)
	}
}

// messages subscribes, and hears what is published.
func messages(t *testing.T, c *redis.Client) {
	ctx := t.Context()
	sub := c.Subscribe(ctx, "news")
	defer sub.Close()
	if _, err := sub.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if n, err := c.Publish(ctx, "news", i).Result(); n != 1 || err != nil {
			t.Fatalf("%d receivers, %v", n, err)
		}
	}
	for i := range 20 {
		if m, err := sub.ReceiveMessage(ctx); err != nil || m.Payload != fmt.Sprint(i) {
			t.Fatalf("message %d: %v, %v", i, m, err)
		}
	}
}
