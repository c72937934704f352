package resp_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// attached is a client served by the event loop: the server's n-th.
func attached(t *testing.T, s *resp.Server, addr string, n int) *resptest.Client {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("no event loop on this system")
	}
	c := resptest.Login(t, addr)
	for range resp.AttachRounds + 1 {
		c.Want("(nil)", "GET", "none")
	}
	until(t, "simple commands don't attach the connection", func() bool { return s.Attached() == n })
	return c
}

// TestEventLoop sends, over many connections at once, simple commands and others, in
// pipelines and pieces that cut anywhere, and checks every reply.
func TestEventLoop(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	most := 0
	var wg sync.WaitGroup
	done := make(chan struct{})
	for i := range 16 {
		c := resptest.Login(t, nodes.Addrs[0])
		wg.Go(func() { converse(c, rand.New(rand.NewPCG(uint64(i), 7)), fmt.Sprint("loop:", i)) })
	}
	go func() { wg.Wait(); close(done) }()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		case <-time.After(time.Millisecond):
			most = max(most, nodes.Servers[0].Attached())
		}
	}
	if runtime.GOOS == "linux" && most < 4 {
		t.Errorf("at most %d connections were served by the event loop", most)
	}
}

// converse counts in a key of its own, in all the ways there are, and looks at it.
func converse(c *resptest.Client, r *rand.Rand, key string) {
	c.Want("OK", "SET", key, "0")
	count := 0
	for range 150 {
		var text strings.Builder
		var wants []string
		say := func(want string, words ...string) {
			text.WriteString(resptest.Encode(words...))
			wants = append(wants, want)
		}
		for range 1 + r.IntN(3) {
			switch r.IntN(16) {
			case 0:
				say("PONG", "PING")
			case 1:
				count++
				say("OK", "MULTI")
				say("QUEUED", "INCR", key)
				say(fmt.Sprintf("1) (integer) %d", count), "EXEC")
			case 2:
				say("(error) ERR wrong number of arguments for 'get' command", "GET")
			case 3:
				say("(error) WRONGTYPE Operation against a key holding the wrong kind of value", "LPUSH", key, "x")
			case 4:
				say("OK", "SET", key+":large", strings.Repeat("v", 1+r.IntN(20_000)))
			case 5:
				say("(integer) 1", "RPUSH", key+":list", "e")
				say(fmt.Sprintf("1) %q\n2) \"e\"", key+":list"), "BLPOP", key+":list", "0")
			case 6, 7, 8:
				say(fmt.Sprintf("%q", fmt.Sprint(count)), "GET", key)
			default:
				count++
				say(fmt.Sprintf("(integer) %d", count), "INCR", key)
			}
		}
		for rest := text.String(); rest != ""; {
			n := len(rest)
			if r.IntN(4) == 0 {
				n = 1 + r.IntN(n)
			}
			c.Send(rest[:n])
			rest = rest[n:]
		}
		for _, want := range wants {
			c.WantNext(want)
		}
	}
}

// TestKillAttached closes idle attached connections, from the server and from the client.
func TestKillAttached(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	s, addr := nodes.Servers[0], nodes.Addrs[0]
	killed, left := attached(t, s, addr, 1), attached(t, s, addr, 2)
	admin := resptest.Login(t, addr)
	admin.Want("OK", "CLIENT", "KILL", killed.Addr())
	if !killed.Gone() {
		t.Error("a killed connection is open")
	}
	left.Close()
	until(t, "closed connections stay attached", func() bool { return s.Attached() == 0 })
	until(t, "closed connections stay in the list", func() bool { return strings.Count(admin.Do("CLIENT", "LIST").Text(), "\n") == 1 })
}

// TestShutdownAttached ends attached connections at once, without an error.
func TestShutdownAttached(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	a, b := attached(t, nodes.Servers[0], nodes.Addrs[0], 1), attached(t, nodes.Servers[0], nodes.Addrs[0], 2)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := nodes.Servers[0].Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if !a.Gone() || !b.Gone() {
		t.Error("an attached connection outlives its server")
	}
}

// TestRevokeAttached deletes the user of an attached connection, and takes a right from that of another.
func TestRevokeAttached(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	s, addr := nodes.Servers[0], nodes.Addrs[0]
	admin := resptest.Login(t, addr)
	var users []*resptest.Client
	for i, name := range []string{"gone", "less"} {
		password := strings.Repeat(name, 8)
		admin.Want("OK", "ACL", "SETUSER", name, "on", ">"+password, "+@all", "~*", "&*")
		c := attached(t, s, addr, i+1)
		c.Want("OK", "AUTH", name, password)
		for range resp.AttachRounds + 1 {
			c.Want("OK", "SET", "k", "v")
		}
		until(t, "a user with every right is not attached", func() bool { return s.Attached() == i+1 })
		users = append(users, c)
	}
	admin.Want("(integer) 1", "ACL", "DELUSER", "gone")
	admin.Want("OK", "ACL", "SETUSER", "less", "resetkeys", "~a*")
	users[0].Want("(error) NOAUTH Authentication required.", "SET", "k", "v")
	users[0].Want("(error) NOAUTH Authentication required.", "GET", "k")
	users[1].Want("(error) NOPERM No permissions to access a key", "SET", "k", "v")
	users[1].Want("(error) NOPERM No permissions to access a key", "GET", "k")
	users[1].Want("OK", "SET", "a", "v")
	until(t, "a user with restricted rights is attached", func() bool { return s.Attached() == 0 })
}

// TestAttachedReadsSlowly sends an attached connection more than it reads, and loses nothing.
func TestAttachedReadsSlowly(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	s, addr := nodes.Servers[0], nodes.Addrs[0]
	value := strings.Repeat("0123456789", 200_000)
	resptest.Login(t, addr).Want("OK", "SET", "large", value)
	c := attached(t, s, addr, 1)
	const times = 30
	for range times {
		c.Start("GET", "large")
	}
	for range times {
		if got := c.Next().Text(); got != value {
			t.Fatalf("%d bytes came", len(got))
		}
	}
	c.Want("(nil)", "GET", "none")
}

// TestPauseAttached pauses the write of an attached connection, and checks that MONITOR shows
// what attached connections execute.
func TestPauseAttached(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	s, addr := nodes.Servers[0], nodes.Addrs[0]
	c, admin, monitor := attached(t, s, addr, 1), resptest.Login(t, addr), resptest.Login(t, addr)
	monitor.Want("OK", "MONITOR")
	admin.Want("OK", "CLIENT", "PAUSE", "100000", "WRITE")
	c.Start("SET", "k", "v")
	if !c.Silent(50 * time.Millisecond) {
		t.Error("a write was not paused")
	}
	admin.Want("OK", "CLIENT", "UNPAUSE")
	c.WantNext("OK")
	for range resp.AttachRounds + 1 {
		c.Want(`"v"`, "GET", "k")
	}
	until(t, "it is not attached again", func() bool { return s.Attached() == 1 })
	c.Want("OK", "SET", "k", "last")
	for seen := ""; !strings.HasSuffix(seen, `"SET" "k" "last"`); {
		if seen = monitor.Next().Text(); !strings.Contains(seen, c.Addr()) && !strings.Contains(seen, admin.Addr()) {
			t.Fatalf("%s is of no connection of this test", seen)
		}
	}
}
