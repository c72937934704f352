package resp_test

import (
	"crypto/tls"
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// pooled is a client whose connection can be examined as pools do before they use one.
type pooled struct {
	*resptest.Client
	conn *net.TCPConn
}

func newPooled(t *testing.T, addr string) pooled {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	c := pooled{resptest.On(t, conn), conn.(*net.TCPConn)}
	c.Want("OK", "AUTH", resptest.Token)
	return c
}

// ended reports whether the end of the connection has arrived, without waiting for it.
func (p pooled) ended(t *testing.T) (end bool) {
	t.Helper()
	raw, err := p.conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		end = n == 0 && err == nil
		if n > 0 || err != nil && !errors.Is(err, syscall.EAGAIN) {
			t.Errorf("%d bytes and %v where a reply has been read", n, err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return end
}

// TestDrain has connections end together with a reply: a client that has read it sees the end without waiting.
func TestDrain(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	s, addr := nodes.Servers[0], nodes.Addrs[0]
	leaves := map[string]func(c pooled){
		"a write": func(c pooled) { c.Want("OK", "SET", "k", "v") },
		"a read":  func(c pooled) { c.Want(`(nil)`, "GET", "none") },
		"a pipeline": func(c pooled) {
			c.Send(resptest.Encode("SET", "a", "1") + resptest.Encode("GET", "a") + resptest.Encode("PING") + resptest.Encode("INCR", "a"))
			for _, want := range []string{"OK", `"1"`, "PONG", "(integer) 2"} {
				c.WantNext(want)
			}
		},
		"an error": func(c pooled) {
			c.Want("(error) ERR wrong number of arguments for 'get' command", "GET")
			c.Want("OK", "SET", "k", "v")
		},
		"a ping first": func(c pooled) { c.Want("PONG", "PING"); c.Want("OK", "SET", "k", "v") },
		"a transaction": func(c pooled) {
			c.Want("OK", "WATCH", "k")
			c.Want("OK", "MULTI")
			c.Want("QUEUED", "SET", "k", "v")
			c.Want("1) OK", "EXEC")
		},
		"what was watched": func(c pooled) {
			c.Want("OK", "WATCH", "k")
			c.Want(`(nil)`, "GET", "none")
			c.Want("OK", "UNWATCH")
		},
		"a wait that ends": func(c pooled) { c.Want("(nil array)", "BLPOP", "none", "0.01") },
		"many rounds":      func(c pooled) { c.Want("OK", "SET", "k", "v") },
	}
	old := map[string]pooled{}
	for name := range leaves {
		c := newPooled(t, addr)
		if name == "many rounds" { // it is served by the event loop then
			for range resp.AttachRounds + 1 {
				c.Want("OK", "SET", "k", "v")
			}
			until(t, "a connection is not attached", func() bool { return s.Attached() == 1 })
		}
		old[name] = c
	}
	s.Drain()
	for name, run := range leaves {
		run(old[name])
		if !old[name].ended(t) {
			t.Errorf("%s: the connection goes on", name)
		}
	}
}

// TestDrainKeeps has connections stay that hold something on the node, or that were opened later, until Shutdown.
func TestDrainKeeps(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	s, addr := nodes.Servers[0], nodes.Addrs[0]
	idle, login, queueing, subscriber, blocked := newPooled(t, addr), newPooled(t, addr), newPooled(t, addr), newPooled(t, addr), newPooled(t, addr)
	subscriber.Send(resptest.Encode("SUBSCRIBE", "news"))
	subscriber.Next()
	s.Drain()
	login.Want("OK", "AUTH", resptest.Token)
	queueing.Want("OK", "MULTI")
	queueing.Want("QUEUED", "SET", "k", "v")
	fresh := newPooled(t, addr)
	for range resp.AttachRounds + 1 {
		fresh.Want("OK", "SET", "k", "v")
	}
	fresh.Want("(integer) 1", "PUBLISH", "news", "hello")
	subscriber.WantNext("1) \"message\"\n2) \"news\"\n3) \"hello\"")
	blocked.Start("BLPOP", "none", "0")
	fresh.AwaitBlocked("1")
	for name, c := range map[string]pooled{"idle": idle, "login": login, "queueing": queueing, "subscriber": subscriber, "blocked": blocked, "fresh": fresh} {
		if c.ended(t) {
			t.Errorf("%s: the connection has ended", name)
		}
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	blocked.WantNext("(nil array)")
	if !blocked.ended(t) {
		t.Error("a wait ended without its connection")
	}
	for _, c := range []pooled{idle, login, queueing, subscriber, fresh} {
		if !c.Gone() {
			t.Error("a connection outlives its server")
		}
	}
}

// TestDrainTLS has an encrypted connection end with a reply, too.
func TestDrainTLS(t *testing.T) {
	certificate, pool := selfSigned(t)
	nodes := resptest.Serve(t, 1, func(o *resp.Options) { o.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}} })
	conn, err := tls.Dial("tcp", nodes.Addrs[0], &tls.Config{RootCAs: pool})
	if err != nil {
		t.Fatal(err)
	}
	c := resptest.On(t, conn)
	c.Want("OK", "AUTH", resptest.Token)
	nodes.Servers[0].Drain()
	c.Want("PONG", "PING")
	c.Want("OK", "SET", "k", "v")
	if !c.Gone() {
		t.Error("the connection goes on")
	}
}
