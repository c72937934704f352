package balancer_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster/balancer"
)

// node stands for a node: it answers with its name over HTTP, and echoes lines after its name over RESP.
type node struct {
	name     string
	unready  atomic.Bool
	breaks   atomic.Bool // closes connections instead of answering
	requests atomic.Int64
	backend  balancer.Backend
}

func newNode(t *testing.T, name string) *node {
	n := &node{name: name}
	web := httptest.NewServer(n)
	t.Cleanup(web.Close)
	lines, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lines.Close() })
	go func() { // ends with the listener
		for {
			c, err := lines.Accept()
			if err != nil {
				return
			}
			go n.echo(c)
		}
	}()
	n.backend = balancer.Backend{Name: name, HTTP: web.Listener.Addr().String(), RESP: lines.Addr().String()}
	return n
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != "/readyz":
		n.requests.Add(1)
		if n.breaks.Load() {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, n.name)
	case n.unready.Load():
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func (n *node) echo(c net.Conn) {
	defer c.Close()
	for in := bufio.NewScanner(c); in.Scan(); {
		fmt.Fprintf(c, "%s:%s\n", n.name, in.Text())
	}
}

// start runs a balancer in front of nodes, and waits until all are ready.
func start(t *testing.T, nodes ...*node) *balancer.Balancer {
	t.Helper()
	o := balancer.Options{Every: 5 * time.Millisecond}
	for _, n := range nodes {
		o.Backends = append(o.Backends, n.backend)
	}
	b, err := balancer.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	for _, n := range nodes {
		if err := b.WaitReady(limit(t), n.name); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func limit(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// answers counts who answers requests.
func answers(t *testing.T, b *balancer.Balancer, count int) map[string]int {
	t.Helper()
	got := map[string]int{}
	for range count {
		res, err := http.Post("http://"+b.HTTP()+"/", "text/plain", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		got[string(text)]++
	}
	return got
}

func TestFollowsReadyz(t *testing.T) {
	one, two := newNode(t, "one"), newNode(t, "two")
	b := start(t, one, two)
	if got := answers(t, b, 20); got["one"] != 10 || got["two"] != 10 {
		t.Errorf("not in turn: %v", got)
	}
	one.unready.Store(true)
	if err := b.WaitUnready(limit(t), "one"); err != nil {
		t.Fatal(err)
	}
	if got := answers(t, b, 20); got["two"] != 20 {
		t.Errorf("a node that isn't ready gets requests: %v", got)
	}
	one.unready.Store(false)
	if err := b.WaitReady(limit(t), "one"); err != nil {
		t.Fatal(err)
	}
	if err := b.TakeOut("two"); err != nil {
		t.Fatal(err)
	}
	if got := answers(t, b, 20); got["one"] != 20 {
		t.Errorf("a node that was taken out gets requests: %v", got)
	}
	if err := b.PutBack("two"); err != nil {
		t.Fatal(err)
	}
	if got := answers(t, b, 20); got["one"] == 0 || got["two"] == 0 {
		t.Errorf("a node that was put back gets no requests: %v", got)
	}
	if b.TakeOut("three") == nil || b.WaitReady(limit(t), "three") == nil || b.WaitQuiet(limit(t), "three") == nil {
		t.Error("a node that isn't there was found")
	}
}

// TestNothingTwice: a request that breaks off at its node fails, and no node gets it again.
func TestNothingTwice(t *testing.T) {
	one, two := newNode(t, "one"), newNode(t, "two")
	b := start(t, one, two)
	answers(t, b, 4) // connections that are open already, as a proxy has them
	one.breaks.Store(true)
	two.breaks.Store(true)
	before := one.requests.Load() + two.requests.Load()
	res, err := http.Post("http://"+b.HTTP()+"/", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if got := one.requests.Load() + two.requests.Load() - before; got != 1 || res.StatusCode != http.StatusBadGateway {
		t.Errorf("sent %d times, then status %d", got, res.StatusCode)
	}
	if len(b.Failures()) != 1 {
		t.Errorf("failures: %v", b.Failures())
	}
}

// TestConnections: a connection stays with its node, passes ends on, and is counted until it is over.
func TestConnections(t *testing.T) {
	one, two := newNode(t, "one"), newNode(t, "two")
	b := start(t, one, two)
	if err := b.TakeOut("two"); err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", b.RESP())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewScanner(c)
	say := func(word, want string) {
		t.Helper()
		fmt.Fprintln(c, word)
		if !in.Scan() || in.Text() != want {
			t.Fatalf("%q, %v, want %q", in.Text(), in.Err(), want)
		}
	}
	say("a", "one:a")
	one.unready.Store(true)
	if err := b.WaitUnready(limit(t), "one"); err != nil {
		t.Fatal(err)
	}
	say("b", "one:b") // what is open goes on
	soon, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.WaitQuiet(soon, "one"); err == nil || !strings.Contains(err.Error(), "one still has 1 ") {
		t.Errorf("a connection is not counted: %v", err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if in.Scan() || in.Err() != nil {
		t.Errorf("%q, %v after the end", in.Text(), in.Err())
	}
	if err := b.WaitQuiet(limit(t), "one"); err != nil {
		t.Error(err)
	}
}
