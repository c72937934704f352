package resp_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestTrackingOnEveryNode has a client of each of three nodes keep a copy; a write on one
// node makes all three void. Over the older protocol a second connection hears of it.
func TestTrackingOnEveryNode(t *testing.T) {
	nodes := resptest.Serve(t, 3, nil)
	var readers []*resptest.Client
	for _, addr := range nodes.Addrs {
		c := resptest.Login(t, addr)
		c.Do("HELLO", "3")
		c.Want("OK", "CLIENT", "TRACKING", "ON")
		c.Want("(nil)", "GET", "k")
		readers = append(readers, c)
	}
	listener := resptest.Login(t, nodes.Addrs[1])
	id := fmt.Sprint(listener.Do("CLIENT", "ID").Int())
	listener.Do("SUBSCRIBE", "__redis__:invalidate")
	old := resptest.Login(t, nodes.Addrs[1])
	old.Want("OK", "CLIENT", "TRACKING", "ON", "REDIRECT", id)
	old.Want("(integer) "+id, "CLIENT", "GETREDIR")
	old.Want("(nil)", "GET", "k")
	resptest.Login(t, nodes.Addrs[2]).Want("OK", "SET", "k", "v")
	for _, c := range readers {
		c.WantNext("1> \"invalidate\"\n2> 1) \"k\"")
	}
	listener.WantNext("1) \"message\"\n2) \"__redis__:invalidate\"\n3) 1) \"k\"")
	old.Want(`"v"`, "GET", "k")
	resptest.Login(t, nodes.Addrs[0]).Want("OK", "FLUSHALL")
	listener.WantNext("1) \"message\"\n2) \"__redis__:invalidate\"\n3) (nil array)")
	for _, c := range readers {
		c.WantNext("1> \"invalidate\"\n2> (nil)")
	}
}

// TestTrackingForgets lets a client read more keys than are remembered: it is told of those
// that are forgotten, as if they had changed.
func TestTrackingForgets(t *testing.T) {
	nodes := resptest.Serve(t, 1, func(o *resp.Options) { o.Limits.TrackedKeys = 10 })
	c := resptest.Login(t, nodes.Addrs[0])
	c.Do("HELLO", "3")
	c.Want("OK", "CLIENT", "TRACKING", "ON")
	for i := range 15 {
		c.Start("GET", fmt.Sprint("k", i))
	}
	answers, forgotten := 0, 0
	for answers < 15 || forgotten < 5 {
		switch v := c.Next(); v.Kind() {
		case reply.KindPush:
			forgotten += len(v.Elems()[1].Elems())
		default:
			answers++
		}
	}
	if forgotten != 5 {
		t.Errorf("told of %d keys", forgotten)
	}
}

// TestTrackedExpiry: a key that is swept is told too. On a slow machine it may expire before it is read; then one that lives
// twice as long is tried.
func TestTrackedExpiry(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	for life := 50; ; life *= 2 {
		c := resptest.Login(t, nodes.Addrs[0])
		c.Do("HELLO", "3")
		c.Want("OK", "CLIENT", "TRACKING", "ON")
		key := fmt.Sprint("k", life)
		c.Want("OK", "SET", key, "v", "PX", fmt.Sprint(life))
		if c.Do("GET", key).Text() == "v" {
			c.WantNext("1> \"invalidate\"\n2> 1) \"" + key + "\"")
			return
		}
		c.Close()
	}
}

// TestCopiesNeverStayOld has clients with copies, and writers, on three nodes: when all is
// quiet, every copy that was not told to be void is the value that the key has.
func TestCopiesNeverStayOld(t *testing.T) {
	nodes := resptest.Serve(t, 3, nil)
	const keys, rounds = 8, 60
	copies := make([]map[string]string, 3)
	var readers, writers sync.WaitGroup
	quiet := make(chan struct{})
	for i, addr := range nodes.Addrs {
		copies[i] = map[string]string{}
		c := resptest.Login(t, addr)
		c.Do("HELLO", "3")
		c.Want("OK", "CLIENT", "TRACKING", "ON")
		readers.Go(func() { keepCopies(c, copies[i], keys, quiet) })
		w := resptest.Login(t, addr)
		writers.Go(func() {
			for n := range rounds {
				if v := w.Do("SET", fmt.Sprint("k", (n*7+i)%keys), fmt.Sprint(i, "-", n)); v.IsError() {
					t.Errorf("SET: %s", v.Text())
				}
			}
		})
	}
	writers.Wait()
	close(quiet)
	readers.Wait()
	for i, addr := range nodes.Addrs {
		c := resptest.Login(t, addr)
		for key, kept := range copies[i] {
			v := c.Do("GET", key)
			for strings.HasPrefix(v.Text(), "TRYAGAIN ") {
				v = c.Do("GET", key)
			}
			if v.Text() != kept {
				t.Errorf("node %d keeps %s of %s, which is %s", i, kept, key, scripttest.Print(v))
			}
		}
	}
}

// keepCopies reads keys that it has no copy of, and forgets those that it is told of, until
// it has been quiet and a last change of its own was told.
func keepCopies(c *resptest.Client, copies map[string]string, keys int, quiet <-chan struct{}) {
	void := func(v reply.Value) bool {
		if v.Kind() != reply.KindPush {
			return false
		}
		for _, key := range v.Elems()[1].Elems() {
			delete(copies, key.Text())
		}
		return true
	}
	last := ""
	for n := 0; ; n++ {
		key := fmt.Sprint("k", n%keys)
		select {
		case <-quiet:
			last = "end-" + strings.ReplaceAll(c.Addr(), ":", "-")
			key = last
		default:
		}
		if _, kept := copies[key]; kept && last == "" {
			key = "k0" // always asked, so that what was told is read
		}
		if n%3 == 0 { // through the log
			c.Start("EVAL", "return redis.call('GET', KEYS[1])", "1", key)
		} else {
			c.Start("GET", key)
		}
		v := c.Next()
		for void(v) {
			v = c.Next()
		}
		if last == "" {
			copies[key] = v.Text()
			continue
		}
		c.Start("SET", last, "x") // told behind everything that was written before
		for {
			v := c.Next()
			if v.Kind() == reply.KindPush && len(v.Elems()[1].Elems()) > 0 && v.Elems()[1].Elems()[len(v.Elems()[1].Elems())-1].Text() == last {
				void(v)
				return
			}
			void(v)
		}
	}
}

// TestInvalidationsInAPipeline sends commands together: what each changes is told right behind
// its reply, and what others have changed before is told before the replies. redis-server
// writes the same bytes.
func TestInvalidationsInAPipeline(t *testing.T) {
	const changed = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n"
	try := func(t *testing.T, c, other *resptest.Client) {
		c.Do("HELLO", "3")
		c.Want("OK", "CLIENT", "TRACKING", "ON")
		for range 20 {
			c.Send(resptest.Encode("SET", "k", "1") + resptest.Encode("GET", "k") + resptest.Encode("SET", "k", "2") + resptest.Encode("GET", "k") +
				resptest.Encode("MULTI") + resptest.Encode("INCR", "k") + resptest.Encode("GET", "k") + resptest.Encode("EXEC") +
				resptest.Encode("SET", "k", "4") + resptest.Encode("GET", "k") + resptest.Encode("PING"))
			c.WantBytes("+OK\r\n$1\r\n1\r\n+OK\r\n" + changed + "$1\r\n2\r\n" +
				"+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:3\r\n$1\r\n3\r\n" + changed + "+OK\r\n" + changed + "$1\r\n4\r\n+PONG\r\n")
			other.Want("OK", "SET", "k", "5")
			c.Send(resptest.Encode("PING"))
			c.WantBytes(changed + "+PONG\r\n")
		}
	}
	t.Run("node", func(t *testing.T) {
		addr := resptest.Serve(t, 1, nil).Addrs[0]
		try(t, resptest.Login(t, addr), resptest.Login(t, addr))
	})
	t.Run("redis-server", func(t *testing.T) {
		addr := resptest.RedisServer(t)
		try(t, resptest.Dial(t, addr), resptest.Dial(t, addr))
	})
}

// TestInvalidations holds the conversation of testdata/invalidation.txt with redis-server;
// TestConversations holds it with a node.
func TestInvalidations(t *testing.T) {
	addr := resptest.RedisServer(t, "--requirepass", resptest.Token)
	resptest.Converse(t, addr, "testdata/invalidation.txt", nil)
}
