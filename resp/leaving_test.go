package resp_test

import (
	"crypto/tls"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// departures are the ways in which a subscriber leaves. Each sends what the subscriber has to
// send and reads nothing; after then reads what comes, or is nil if the connection has ended.
var departures = []struct {
	name, subscribe string
	leave           func(t *testing.T, sub, other *resptest.Client)
	after           func(sub *resptest.Client)
}{
	{"UNSUBSCRIBE by name", "SUBSCRIBE", func(_ *testing.T, sub, _ *resptest.Client) { sub.Start("UNSUBSCRIBE", "a") }, next},
	{"UNSUBSCRIBE", "SUBSCRIBE", func(_ *testing.T, sub, _ *resptest.Client) { sub.Start("UNSUBSCRIBE") }, next},
	{"PUNSUBSCRIBE", "PSUBSCRIBE", func(_ *testing.T, sub, _ *resptest.Client) { sub.Start("PUNSUBSCRIBE") }, next},
	{"SUNSUBSCRIBE", "SSUBSCRIBE", func(_ *testing.T, sub, _ *resptest.Client) { sub.Start("SUNSUBSCRIBE") }, next},
	{"behind other commands", "SUBSCRIBE", func(_ *testing.T, sub, _ *resptest.Client) {
		sub.Send(resptest.Encode("PING") + resptest.Encode("UNSUBSCRIBE", "never") + resptest.Encode("UNSUBSCRIBE", "a"))
	}, func(sub *resptest.Client) { next(sub); next(sub); next(sub) }},
	{"RESET", "SUBSCRIBE", func(_ *testing.T, sub, _ *resptest.Client) { sub.Start("RESET") }, nil},
	{"the end of the connection", "SUBSCRIBE", func(_ *testing.T, sub, _ *resptest.Client) { sub.Close() }, nil},
	{"CLIENT KILL", "SUBSCRIBE", func(t *testing.T, sub, other *resptest.Client) {
		if n := other.Do("CLIENT", "KILL", "ADDR", sub.Addr()).Int(); n != 1 {
			t.Errorf("%d connections were killed", n)
		}
	}, nil},
}

func next(sub *resptest.Client) { sub.Next() }

// counters are the ways in which a client learns how many subscribers a has.
var counters = []struct {
	name  string
	count func(c *resptest.Client, subscribe string) int64
}{
	{"PUBLISH", func(c *resptest.Client, subscribe string) int64 { return c.Do(publishTo(subscribe), "a", "m").Int() }},
	{"a transaction", func(c *resptest.Client, subscribe string) int64 {
		c.Send(resptest.Encode("MULTI") + resptest.Encode("SET", "k", "v") + resptest.Encode(publishTo(subscribe), "a", "m") + resptest.Encode("EXEC"))
		c.Next()
		c.Next()
		c.Next()
		if v := c.Next(); len(v.Elems()) == 2 {
			return v.Elems()[1].Int()
		}
		return -1
	}},
	{"a script", func(c *resptest.Client, subscribe string) int64 {
		return c.Do("EVAL", "return redis.call(ARGV[1], 'a', 'm')", "0", publishTo(subscribe)).Int()
	}},
	{"a pipeline", func(c *resptest.Client, subscribe string) int64 {
		c.Send(resptest.Encode("SET", "k", "v") + resptest.Encode(publishTo(subscribe), "a", "m"))
		c.Next()
		return c.Next().Int()
	}},
	{"PUBSUB", func(c *resptest.Client, subscribe string) int64 {
		switch subscribe {
		case "PSUBSCRIBE":
			return c.Do("PUBSUB", "NUMPAT").Int()
		case "SSUBSCRIBE":
			return c.Do("PUBSUB", "SHARDNUMSUB", "a").Elems()[1].Int()
		}
		return c.Do("PUBSUB", "NUMSUB", "a").Elems()[1].Int()
	}},
}

func publishTo(subscribe string) string {
	if subscribe == "SSUBSCRIBE" {
		return "SPUBLISH"
	}
	return "PUBLISH"
}

// depart has subscribers leave in each way, and counts them by another connection before they
// are answered. It returns how often one was counted.
func depart(t *testing.T, rounds int, login func() *resptest.Client) (counted []string) {
	pub, other := login(), login()
	for _, d := range departures {
		sub := login()
		for i := range rounds {
			how := counters[i%len(counters)]
			sub.Do(d.subscribe, "a")
			d.leave(t, sub, other)
			if n := how.count(pub, d.subscribe); n != 0 {
				counted = append(counted, d.name+", "+how.name)
			}
			if d.after == nil {
				sub.Close()
				sub = login()
				continue
			}
			d.after(sub)
		}
		sub.Close()
	}
	return counted
}

// occupy keeps the processors busy until the test ends, so that a goroutine that has something
// to read waits for its turn.
func occupy(t *testing.T) {
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	for range runtime.GOMAXPROCS(0) {
		go func() { // ends with stop
			for n := 0; ; n++ {
				if n%1000 == 0 {
					select {
					case <-stop:
						return
					default:
					}
				}
			}
		}()
	}
}

// TestDepartedIsNotCounted has subscribers leave, and counts them by another connection of the
// node as soon as what they sent is on its way: none is counted, as by redis-server.
func TestDepartedIsNotCounted(t *testing.T) {
	const rounds = 5
	report := func(t *testing.T, counted []string) {
		t.Helper()
		if len(counted) > 0 {
			t.Errorf("%d of %d were counted: %s", len(counted), rounds*len(departures), strings.Join(counted, "; "))
		}
	}
	t.Run("redis-server", func(t *testing.T) {
		addr := resptest.RedisServer(t)
		report(t, depart(t, rounds, func() *resptest.Client { return resptest.Dial(t, addr) }))
	})
	t.Run("node", func(t *testing.T) {
		occupy(t)
		addr := resptest.Serve(t, 1, nil).Addrs[0]
		report(t, depart(t, rounds, func() *resptest.Client { return resptest.Login(t, addr) }))
	})
	t.Run("TLS", func(t *testing.T) {
		certificate, pool := selfSigned(t)
		addr := resptest.Serve(t, 1, func(o *resp.Options) { o.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}} }).Addrs[0]
		report(t, depart(t, rounds, func() *resptest.Client {
			conn, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: pool})
			if err != nil {
				t.Fatal(err)
			}
			c := resptest.On(t, conn)
			c.Want("OK", "AUTH", resptest.Token)
			return c
		}))
	})
	t.Run("follower", func(t *testing.T) {
		nodes := resptest.Serve(t, 3, nil)
		addr := nodes.Addrs[(nodes.Leader()+1)%3]
		report(t, depart(t, rounds, func() *resptest.Client { return resptest.Login(t, addr) }))
	})
}

// TestDepartedIsNotCountedElsewhere publishes through the other entry points of the node, which
// execute as HTTP does.
func TestDepartedIsNotCountedElsewhere(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	occupy(t)
	sub := resptest.Login(t, nodes.Addrs[0])
	for i := range 10 {
		row := [][]byte{[]byte("publish"), []byte("a"), []byte("m")}
		if i%2 == 1 {
			row = [][]byte{[]byte("EVAL"), []byte("return redis.call('PUBLISH', 'a', 'm')"), []byte("0")}
		}
		sub.Do("SUBSCRIBE", "a")
		sub.Start("UNSUBSCRIBE")
		out, err := fsm.Execute(t.Context(), nodes.Engines[0], fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.OriginHTTP, Rows: [][][]byte{row}})
		if err != nil {
			t.Fatal(err)
		}
		if n := out.Values[0].Int(); n != 0 {
			t.Errorf("round %d: %d were counted", i, n)
		}
		sub.Next()
	}
}

// TestPublishersThatSubscribe has connections that subscribe publish at the same time: none
// waits for another one that waits.
func TestPublishersThatSubscribe(t *testing.T) {
	registry := prometheus.NewRegistry()
	nodes := resptest.Serve(t, 1, func(o *resp.Options) { o.Metrics = registry })
	const connections, rounds = 4, 20
	done := make(chan string, connections)
	for i := range connections {
		c := resptest.Login(t, nodes.Addrs[0])
		c.Do("HELLO", "3")
		c.Do("SUBSCRIBE", fmt.Sprint("own:", i))
		go func() {
			for range rounds {
				if v := c.Do("PUBLISH", "nobody", "m"); v.Int() != 0 {
					done <- fmt.Sprintf("%d receivers", v.Int())
					return
				}
			}
			done <- ""
		}()
	}
	blocked := resptest.Login(t, nodes.Addrs[0])
	blocked.Do("HELLO", "3")
	blocked.Do("SUBSCRIBE", "own")
	blocked.Start("BLPOP", "never", "0") // nobody waits for it either
	blocked.Start("UNSUBSCRIBE")
	for range connections {
		if wrong := <-done; wrong != "" {
			t.Error(wrong)
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	told := false
	for _, f := range families {
		if f.GetName() != "trireme_resp_unsettled_counts_total" {
			continue
		}
		told = true
		if n := f.GetMetric()[0].GetCounter().GetValue(); n != 0 {
			t.Errorf("%v times a PUBLISH has waited in vain", n)
		}
	}
	if !told {
		t.Error("no metric of waits in vain")
	}
}
