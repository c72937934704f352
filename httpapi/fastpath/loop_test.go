package fastpath

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// together is a batcher that answers as echo does, and says how many requests ran together. It does not run requests to
// /alone, replies to /large are long, and replies to /broken are broken off.
type together struct {
	batches atomic.Int64
	blocks  atomic.Bool // each batch waits for go on
	goOn    chan bool
}

type echoed struct {
	w http.ResponseWriter
	r *http.Request
	n int
}

func (t *together) Prepare(w http.ResponseWriter, r *http.Request) Request {
	if strings.HasPrefix(r.RequestURI, "/notsimple") {
		return nil
	}
	return &echoed{w: w, r: r}
}

func (t *together) Run(_ context.Context, batch []Request) {
	t.batches.Add(1)
	if t.blocks.Load() {
		<-t.goOn
	}
	for _, one := range batch {
		one.(*echoed).n = len(batch)
	}
}

// Joins keeps the targets apart.
func (e *echoed) Joins(o Request) bool { return e.r.RequestURI == o.(*echoed).r.RequestURI }

func (e *echoed) Result() Result {
	switch {
	case strings.HasPrefix(e.r.RequestURI, "/alone"):
		return Alone
	case strings.HasPrefix(e.r.RequestURI, "/large"):
		return Large
	}
	return Small
}

func (e *echoed) Reply() {
	if e.r.RequestURI == "/broken" {
		panic(http.ErrAbortHandler)
	}
	e.w.Header().Set("Together", fmt.Sprint(e.n))
	if e.r.RequestURI == "/large" {
		e.w.Write(make([]byte, 16<<20))
		return
	}
	echo(e.w, e.r)
}

// startTogether starts a server whose connections attach.
func startTogether(t *testing.T, b *together) (addr string, s *Server) {
	t.Helper()
	addr, s = startWith(t, func(s *Server) { s.Batcher = b })
	if runtime.GOOS != "linux" {
		t.Skip("no poller on this system")
	}
	return addr, s
}

// client is one connection.
type client struct {
	t *testing.T
	c net.Conn
	r *bufio.Reader
}

func connect(t *testing.T, addr string) *client {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	return &client{t, c, bufio.NewReader(c)}
}

func request(target, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", target, len(body), body)
}

func (c *client) send(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c.c, s); err != nil {
		c.t.Fatal(err)
	}
}

// reply reads one reply. Of the body it returns only the end, which is the end of the request.
func (c *client) reply() (together, body string) {
	c.t.Helper()
	a, err := http.ReadResponse(c.r, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	b, err := io.ReadAll(a.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	_, body, _ = strings.Cut(string(b), "body=")
	return a.Header.Get("Together"), body
}

// attach sends requests until one is answered by the loop.
func (c *client) attach() {
	c.t.Helper()
	for range 64 * attachAfter {
		c.send(request("/", "x"))
		if n, _ := c.reply(); n != "" {
			return
		}
	}
	c.t.Fatal("the connection does not attach")
}

// attachedPair starts a server, and returns it with two connections that are attached.
func attachedPair(t *testing.T, b *together) (s *Server, one, other *client) {
	t.Helper()
	addr, s := startTogether(t, b)
	one, other = connect(t, addr), connect(t, addr)
	one.attach()
	other.attach()
	return s, one, other
}

// TestRequestsRunTogether sends requests over many connections at once: each gets its own reply,
// and there are fewer batches than requests.
func TestRequestsRunTogether(t *testing.T) {
	b := &together{}
	addr, _ := startTogether(t, b)
	const conns, rounds = 32, 200
	var wg sync.WaitGroup
	for i := range conns {
		c := connect(t, addr)
		wg.Go(func() {
			for n := range rounds {
				want := fmt.Sprintf("%d of %d", n, i)
				c.send(request(fmt.Sprintf("/%d", i%2), want))
				if _, got := c.reply(); got != want {
					t.Errorf("got %q, want %q", got, want)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := b.batches.Load(); n == 0 || n > conns*rounds*9/10 {
		t.Errorf("%d batches for %d requests", n, conns*rounds)
	}
}

// TestAttachedConnectionsLeave sends an attached connection what the loop can't answer: the replies
// are the handler's and net/http's, in order, and nothing is lost.
func TestAttachedConnectionsLeave(t *testing.T) {
	b := &together{}
	addr, _ := startTogether(t, b)
	for name, odd := range map[string]struct {
		send     []string
		together string
		bodies   []string
	}{
		"in two parts": {[]string{request("/", "abc")[:40], request("/", "abc")[40:]}, "any", []string{"abc"}},
		"not simple":   {[]string{request("/notsimple", "abc")}, "", []string{"abc"}},
		"alone":        {[]string{request("/alone", "abc")}, "", []string{"abc"}},
		"long":         {[]string{request("/", strings.Repeat("y", 3900))}, "any", []string{strings.Repeat("y", 3900)}},
		"two":          {[]string{request("/", "abc") + request("/", "def")}, "1", []string{"abc", "def"}},
		"one and half": {[]string{request("/", "abc") + request("/", "def")[:30], request("/", "def")[30:]}, "any", []string{"abc", "def"}},
		"net/http":     {[]string{request("/odd", "abc")}, "", []string{"abc"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, addr)
			for range 3 {
				if name != "net/http" {
					c.attach()
				}
				for _, part := range odd.send {
					c.send(part)
				}
				var how string
				for i, want := range odd.bodies {
					var got string
					if how, got = c.reply(); got != want {
						t.Fatalf("reply %d: %.80q, want %.80q", i, got, want)
					}
				}
				if how != odd.together && odd.together != "any" { // parts may come at once
					t.Errorf("the last one ran together with %q, want %q", how, odd.together)
				}
			}
		})
	}
}

// TestSlowReaderStopsNobody: a client asks for a large reply and doesn't read it: others are answered, and it gets all
// of it later.
func TestSlowReaderStopsNobody(t *testing.T) {
	_, slow, other := attachedPair(t, &together{})
	slow.send(request("/large", ""))
	for range 20 {
		other.send(request("/", "quick"))
		if _, got := other.reply(); got != "quick" {
			t.Fatalf("got %q", got)
		}
	}
	a, err := http.ReadResponse(slow.r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, a.Body); n != 16<<20 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	slow.attach()
}

// TestBrokenReplyEndsItsConnection breaks one reply off: that connection ends, another goes on.
func TestBrokenReplyEndsItsConnection(t *testing.T) {
	_, broken, other := attachedPair(t, &together{})
	broken.send(request("/broken", ""))
	if _, err := http.ReadResponse(broken.r, nil); err == nil {
		t.Error("a reply that was broken off came")
	}
	other.attach()
}

// TestShutdownWithAttached stops the server while one connection is idle and one waits for a batch:
// that one gets its reply.
func TestShutdownWithAttached(t *testing.T) {
	b := &together{goOn: make(chan bool)}
	s, idle, busy := attachedPair(t, b)
	idle.attach()
	b.blocks.Store(true)
	before := b.batches.Load()
	busy.send(request("/", "last"))
	for b.batches.Load() == before {
		time.Sleep(time.Millisecond) // until the batch is under way
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Shutdown(t.Context()) }()
	if _, err := idle.r.ReadByte(); err == nil {
		t.Error("an idle connection got something")
	}
	close(b.goOn)
	if _, got := busy.reply(); got != "last" {
		t.Errorf("got %q", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestQuietConnectionsDetach: attached connections that have been quiet detach, and so does one whose client has gone.
func TestQuietConnectionsDetach(t *testing.T) {
	s, quiet, gone := attachedPair(t, &together{})
	gone.c.Close()
	for s.Open() > 1 {
		time.Sleep(time.Millisecond) // until its end is noticed
	}
	for s.loop.loop.Attached() > 0 {
		s.loop.loop.DetachIdle(func(*conn) bool { return true })
	}
	quiet.attach()
}

// TestReadsThatFillTheBuffer sends requests that end at the end of the first buffer of an attached connection, or near it,
// alone and with another one after it. Each gets its reply: the rest in the socket is read.
func TestReadsThatFillTheBuffer(t *testing.T) {
	addr, _ := startTogether(t, &together{})
	head := len(request("/", strings.Repeat("x", 1000))) - 1000
	for length := firstRead - 3; length <= firstRead+3; length++ {
		for _, behind := range []string{"", request("/", "behind"), request("/", "behind")[:20]} {
			c := connect(t, addr)
			c.attach()
			body := strings.Repeat("y", length-head)
			c.send(request("/", body) + behind)
			if _, got := c.reply(); got != body {
				t.Errorf("a request of %d bytes with %d behind: the reply ends in %d bytes", length, len(behind), len(got))
			}
			if behind == "" {
				c.send(request("/", "behind"))
			} else if rest := request("/", "behind")[len(behind):]; rest != "" {
				c.send(rest)
			}
			if _, got := c.reply(); got != "behind" {
				t.Errorf("a request of %d bytes with %d behind: the one behind was answered %q", length, len(behind), got)
			}
		}
	}
}

// deadlined is a connection that remembers until when it may be read.
type deadlined struct {
	net.Conn
	mu sync.Mutex
	by time.Time
}

func (d *deadlined) Socket() net.Conn { return d.Conn }

func (d *deadlined) readBy() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.by
}

func (d *deadlined) set(by time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.by = by
}

func (d *deadlined) SetDeadline(by time.Time) error {
	d.set(by)
	return d.Conn.SetDeadline(by)
}

func (d *deadlined) SetReadDeadline(by time.Time) error {
	d.set(by)
	return d.Conn.SetReadDeadline(by)
}

// TestAttachedConnectionsHaveNoDeadline: the loop does not move a deadline on, so one that a goroutine has set would pass
// under it and fail the next read.
func TestAttachedConnectionsHaveNoDeadline(t *testing.T) {
	addr, s := startTogether(t, &together{})
	connect(t, addr).attach() // the server is there

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := connect(t, l.Addr().String())
	plain, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	served := &deadlined{Conn: plain}
	s.ServeConn(served)
	c.send(request("/", "x"))
	c.reply()
	if served.readBy().IsZero() {
		t.Error("a connection with a goroutine has no deadline, want one")
	}
	c.attach()
	if by := served.readBy(); !by.IsZero() {
		t.Errorf("an attached connection may be read until %v, want no deadline", by)
	}
}
