package resp_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/internal/connlimit"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestBreaches checks that whoever breaks the protocol hears why and is closed, and that
// what came before is answered.
func TestBreaches(t *testing.T) {
	nodes := resptest.Serve(t, 1, func(o *resp.Options) { o.Limits.RequestBytes = 100_000 })
	for text, want := range map[string]string{
		"*2\r\nGET\r\n":             "ERR Protocol error: expected '$', got 'G'",
		"*x\r\n":                    "ERR Protocol error: invalid multibulk length",
		"*99999999\r\n":             "ERR Protocol error: invalid multibulk length",
		"*1\r\n$100001\r\n":         "ERR Protocol error: invalid bulk length",
		"SET k \"open\r\n":          "ERR Protocol error: unbalanced quotes in request",
		strings.Repeat("x", 70_000): "ERR Protocol error: too big inline request",
		"*2\r\n$90000\r\n" + strings.Repeat("x", 90_000) + "\r\n$20000\r\n": "ERR Protocol error: command is longer than 100000 bytes",
	} {
		c := resptest.Login(t, nodes.Addrs[0])
		c.Send("PING\r\n" + resptest.Encode("SET", "k", "v") + text)
		c.WantNext("PONG")
		c.WantNext("OK")
		c.WantNext("(error) " + want)
		if !c.Gone() {
			t.Errorf("%.40q leaves the connection open", text)
		}
	}
	stranger := resptest.Dial(t, nodes.Addrs[0])
	stranger.Send("*11\r\n")
	stranger.WantNext("(error) ERR Protocol error: unauthenticated multibulk length")
	stranger = resptest.Dial(t, nodes.Addrs[0])
	stranger.Send("*2\r\n$20000\r\n")
	stranger.WantNext("(error) ERR Protocol error: unauthenticated bulk length")
}

// TestLargeCommands carries values near the limit in pieces, and back.
func TestLargeCommands(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	c := resptest.Login(t, nodes.Addrs[0])
	value := string(bytes.Repeat([]byte("0123456789\r\n"), 400_000))
	c.Want("OK", "SET", "large", value)
	if got := c.Do("GET", "large").Text(); got != value {
		t.Fatalf("%d bytes came back", len(got))
	}
	c.Send(strings.Repeat(resptest.Encode("GET", "large"), 20)) // 96 MB of replies, read late
	for range 20 {
		if got := c.Next().Text(); got != value {
			t.Fatalf("%d bytes came back", len(got))
		}
	}
}

// TestConnectionLimits: beyond the limit, and the reserve for loopback, a connection is
// refused if all others have a user; one without a user is closed for it.
func TestConnectionLimits(t *testing.T) {
	nodes := resptest.Serve(t, 1, func(o *resp.Options) { o.Limits.Connections = 2 })
	a, b := resptest.Login(t, nodes.Addrs[0]), resptest.Dial(t, nodes.Addrs[0])
	b.Want("(error) NOAUTH Authentication required.", "PING") // open by now
	var reserve []*resptest.Client
	for range connlimit.ReserveFor(2) {
		reserve = append(reserve, resptest.Login(t, nodes.Addrs[0]))
	}
	last := resptest.Login(t, nodes.Addrs[0])
	if !b.Gone() {
		t.Error("a connection without a user is open although the table is full")
	}
	c := resptest.Dial(t, nodes.Addrs[0])
	c.WantNext("(error) ERR max number of clients reached")
	if !c.Gone() {
		t.Error("a refused connection is open")
	}
	for _, r := range reserve {
		r.Want("PONG", "PING")
	}
	last.Close()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		d := resptest.Dial(t, nodes.Addrs[0])
		if v := d.Do("AUTH", resptest.Token); v.Text() == "OK" {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no room for the next one")
		}
	}
	a.Want("PONG", "PING")
}

// TestSlowStrangers closes those who don't say who they are, and those who don't finish
// what they began.
func TestSlowStrangers(t *testing.T) {
	nodes := resptest.Serve(t, 1, func(o *resp.Options) {
		o.Limits.LoginTime, o.Limits.CommandTime = 100*time.Millisecond, 100*time.Millisecond
	})
	stranger := resptest.Dial(t, nodes.Addrs[0])
	friend := resptest.Login(t, nodes.Addrs[0])
	if !stranger.Gone() {
		t.Error("a silent stranger stays")
	}
	friend.Want("PONG", "PING") // who may be silent
	friend.Send("*2\r\n$3\r\nGET\r\n")
	if !friend.Gone() {
		t.Error("half a command stays for ever")
	}
}

// TestAbsoluteLimits has clients send something all the time: neither a first AUTH nor a
// command that has begun gets more time for that.
func TestAbsoluteLimits(t *testing.T) {
	nodes := resptest.Serve(t, 1, func(o *resp.Options) {
		o.Limits.LoginTime, o.Limits.CommandTime = 300*time.Millisecond, 300*time.Millisecond
	})
	for name, c := range map[string]struct {
		login       bool
		start, next string
	}{
		"handshake":      {false, "*1\r\n$9000\r\n", "x"},
		"refused":        {false, "", "PING\r\n"},
		"wrong password": {false, "", "AUTH wrong\r\n"},
		"command":        {true, "*2\r\n$3\r\nGET\r\n$90000\r\n", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", nodes.Addrs[0])
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			text := c.start
			if c.login {
				text = "AUTH " + resptest.Token + "\r\n" + text
			}
			go io.Copy(io.Discard, conn) // what it is answered
			for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
				if _, err := io.WriteString(conn, text); err != nil {
					return // closed
				}
				if text = c.next; time.Now().After(end) {
					t.Fatal("a connection that trickles stays open")
				}
			}
		})
	}
}

// TestHTTPIsRejected sends a request of HTTP: the connection is closed before the body, whose
// lines would be commands. It holds for those that have a user too.
func TestHTTPIsRejected(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	try := func(t *testing.T, dial func() *resptest.Client) {
		for _, line := range []string{"POST / HTTP/1.1", "Host: localhost", "hOsT: x", "post"} {
			c := dial()
			c.Want("OK", "SET", "before", "1")
			c.Send(line + "\r\n\r\nSET after 1\r\n")
			if !c.Gone() {
				t.Errorf("%q leaves the connection open", line)
			}
			admin := dial()
			admin.Want("(integer) 0", "EXISTS", "after")
		}
	}
	t.Run("trireme", func(t *testing.T) {
		try(t, func() *resptest.Client { return resptest.Login(t, nodes.Addrs[0]) })
		stranger := resptest.Dial(t, nodes.Addrs[0])
		stranger.Send("POST / HTTP/1.1\r\n")
		if !stranger.Gone() {
			t.Error("HTTP without a user leaves the connection open")
		}
	})
	t.Run("redis-server", func(t *testing.T) {
		addr := resptest.RedisServer(t)
		try(t, func() *resptest.Client { return resptest.Dial(t, addr) })
	})
}

// TestClients looks at the connections of a node, names and closes them.
func TestClients(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	a, b := resptest.Login(t, nodes.Addrs[0]), resptest.Login(t, nodes.Addrs[0])
	a.Want("OK", "CLIENT", "SETNAME", "first")
	a.Want("OK", "CLIENT", "SETINFO", "LIB-NAME", "lib")
	a.Want("(error) ERR Client names cannot contain spaces, newlines or special characters.", "CLIENT", "SETNAME", "a b")
	list := b.Do("CLIENT", "LIST").Text()
	for _, want := range []string{" name=first ", " lib-name=lib ", " user=default ", "addr=" + a.Addr() + " ", " cmd=client|list "} {
		if !strings.Contains(list, want) {
			t.Errorf("no %q in\n%s", want, list)
		}
	}
	if n := strings.Count(list, "\n"); n != 2 {
		t.Errorf("%d connections", n)
	}
	if info := a.Do("CLIENT", "INFO").Text(); strings.Count(info, "\n") != 1 || !strings.Contains(info, " name=first ") {
		t.Errorf("%q", info)
	}
	b.Want("(error) ERR No such client", "CLIENT", "KILL", "127.0.0.1:1")
	b.Want("(integer) 0", "CLIENT", "KILL", "ID", "999999")
	b.Want("(error) ERR syntax error", "CLIENT", "KILL", "ID", "1", "TYPE")
	b.Want("OK", "CLIENT", "KILL", a.Addr())
	if !a.Gone() {
		t.Error("a killed connection is open")
	}
	b.Want("(integer) 0", "CLIENT", "KILL", "TYPE", "normal")
	b.Want("(integer) 1", "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")
	if !b.Gone() {
		t.Error("a connection that killed itself is open")
	}
}

// TestReplyModes checks that commands run that are not answered.
func TestReplyModes(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	c := resptest.Login(t, nodes.Addrs[0])
	c.Send("CLIENT REPLY SKIP\r\nSET r:a 1\r\nGET r:a\r\nCLIENT REPLY OFF\r\nSET r:b 2\r\nNOSUCH\r\nGET r:b\r\nCLIENT REPLY ON\r\nGET r:b\r\n")
	c.WantNext(`"1"`)
	c.WantNext("OK")
	c.WantNext(`"2"`)
}

// TestPushesWithoutReplies turns replies off: confirmations of subscriptions, messages and
// invalidations come all the same, one by one.
func TestPushesWithoutReplies(t *testing.T) {
	onBoth(t, func(t *testing.T, dial func() *resptest.Client) {
		c, other := dial(), dial()
		c.Do("HELLO", "3")
		c.Want("OK", "CLIENT", "TRACKING", "ON")
		c.Do("MGET", "k", "j")
		c.Start("CLIENT", "REPLY", "OFF")
		c.Start("PING")
		c.Start("SUBSCRIBE", "ch", "other")
		c.WantNext("1> \"subscribe\"\n2> \"ch\"\n3> (integer) 1")
		c.WantNext("1> \"subscribe\"\n2> \"other\"\n3> (integer) 2")
		other.Want("(integer) 1", "PUBLISH", "ch", "m")
		c.WantNext("1> \"message\"\n2> \"ch\"\n3> \"m\"")
		other.Want("OK", "SET", "k", "1")
		c.WantNext("1> \"invalidate\"\n2> 1) \"k\"")
		c.Start("SET", "j", "1")
		c.WantNext("1> \"invalidate\"\n2> 1) \"j\"")
		c.Start("UNSUBSCRIBE", "ch")
		c.WantNext("1> \"unsubscribe\"\n2> \"ch\"\n3> (integer) 1")
		c.Start("UNSUBSCRIBE")
		c.WantNext("1> \"unsubscribe\"\n2> \"other\"\n3> (integer) 0")
		c.Start("PUNSUBSCRIBE")
		c.WantNext("1> \"punsubscribe\"\n2> (nil)\n3> (integer) 0")
		c.Want("OK", "CLIENT", "REPLY", "ON")
		c.Start("CLIENT", "REPLY", "SKIP")
		c.Start("PSUBSCRIBE", "c*")
		c.WantNext("1> \"psubscribe\"\n2> \"c*\"\n3> (integer) 1")
		c.Want("PONG", "PING")
		c.Start("CLIENT", "REPLY", "SKIP")
		c.Start("GET", "k")
		c.Want("PONG", "PING") // the read is done
		other.Want("OK", "SET", "k", "2")
		c.WantNext("1> \"invalidate\"\n2> 1) \"k\"")
	})
}

// TestPause lets writes wait, not reads, until it is over or ended.
func TestPause(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	a, b := resptest.Login(t, nodes.Addrs[0]), resptest.Login(t, nodes.Addrs[0])
	a.Want("OK", "CLIENT", "PAUSE", "100000", "WRITE")
	a.Want("(nil)", "GET", "k")
	a.Start("SET", "k", "v")
	b.Want("(nil)", "GET", "k")
	if !a.Silent(50 * time.Millisecond) {
		t.Error("a write was not paused")
	}
	b.Want("OK", "CLIENT", "UNPAUSE")
	a.WantNext("OK")
	begin := time.Now()
	b.Want("OK", "CLIENT", "PAUSE", "50")
	b.Want(`"v"`, "GET", "k")
	if took := time.Since(begin); took < 50*time.Millisecond {
		t.Errorf("the pause was over after %v", took)
	}
}

// TestMonitor shows what is executed, without secrets, also by other connections.
func TestMonitor(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	m, c := resptest.Login(t, nodes.Addrs[0]), resptest.Login(t, nodes.Addrs[0])
	m.Want("OK", "MONITOR")
	c.Do("SET", "k", "v")
	c.Do("AUTH", "default", resptest.Token)
	c.Do("GET", "k")
	for _, want := range []string{`"SET" "k" "v"`, `"AUTH" "(redacted)" "(redacted)"`, `"GET" "k"`} {
		if line := m.Next().Text(); !strings.HasSuffix(line, " [0 "+c.Addr()+"] "+want) {
			t.Errorf("%s, want %s", line, want)
		}
	}
	m.Want("RESET", "RESET")
	c.Do("GET", "k")
	if !m.Silent(50 * time.Millisecond) {
		t.Error("a monitor goes on after RESET")
	}
}

// TestRevocation ends what a credential has opened when it is taken away.
func TestRevocation(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	admin := resptest.Login(t, nodes.Addrs[0])
	password := strings.Repeat("pa55word-", 4)
	admin.Want("OK", "ACL", "SETUSER", "u", "on", ">"+password, "+@all", "~a*", "&a*")
	u, s := resptest.Dial(t, nodes.Addrs[0]), resptest.Dial(t, nodes.Addrs[0])
	u.Want("OK", "AUTH", "u", password)
	s.Want("OK", "AUTH", "u", password)
	s.Do("SUBSCRIBE", "a1")
	u.Want("OK", "SET", "a", "1")
	u.Want("(error) NOPERM No permissions to access a key", "GET", "b")
	u.Want("(error) NOPERM No permissions to access a key", "SET", "b", "1")
	u.Want("(error) NOPERM No permissions to access a channel", "SUBSCRIBE", "b")
	admin.Want("OK", "ACL", "SETUSER", "u", "~b*")
	u.Want("OK", "SET", "b", "1")
	admin.Want("(integer) 1", "PUBLISH", "a1", "x")
	s.WantNext("1) \"message\"\n2) \"a1\"\n3) \"x\"")
	admin.Want("(integer) 1", "ACL", "DELUSER", "u")
	u.Want("(error) NOAUTH Authentication required.", "GET", "a")
	u.Want("(error) NOAUTH Authentication required.", "SET", "a", "2")
	admin.Do("PUBLISH", "a1", "secret")
	if !s.Gone() {
		t.Error("a revoked subscriber stays")
	}
	admin.Want(`"1"`, "GET", "a")
	u.Want("OK", "AUTH", resptest.Token)
	u.Want(`"1"`, "GET", "a")
}

// TestThreeNodes writes on one node and reads on the others, by pipelines.
func TestThreeNodes(t *testing.T) {
	nodes := resptest.Serve(t, 3, nil)
	clients := make([]*resptest.Client, 3)
	for i := range clients {
		clients[i] = resptest.Login(t, nodes.Addrs[i])
	}
	for i := range 60 {
		key := fmt.Sprint("k", i)
		clients[i%3].Want("OK", "SET", key, key)
		clients[(i+1)%3].Want(`"`+key+`"`, "GET", key)
	}
	clients[0].Want("OK", "WATCH", "k1")
	clients[1].Want("OK", "SET", "k1", "changed")
	clients[0].Want("OK", "MULTI")
	clients[0].Want("QUEUED", "SET", "k2", "lost")
	clients[0].Want("(nil array)", "EXEC")
	sub := resptest.Login(t, nodes.Addrs[2])
	sub.Do("SUBSCRIBE", "c")
	clients[0].Want("(integer) 1", "PUBLISH", "c", "m")
	sub.WantNext("1) \"message\"\n2) \"c\"\n3) \"m\"")
}
