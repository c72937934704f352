package resptest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/resp/protocol"
)

// Client is one connection that shows replies as they are on the wire.
type Client struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

// replyTimeout bounds the wait for one reply.
const replyTimeout = time.Minute

// Dial connects to a server; the connection ends with the test.
func Dial(t testing.TB, addr string) *Client {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, replyTimeout)
	if err != nil {
		t.Fatal(err)
	}
	return On(t, conn)
}

// On speaks over a connection that is open.
func On(t testing.TB, conn net.Conn) *Client {
	t.Cleanup(func() { conn.Close() })
	return &Client{t: t, conn: conn, in: bufio.NewReader(conn)}
}

// Login connects as the user default.
func Login(t testing.TB, addr string) *Client {
	t.Helper()
	c := Dial(t, addr)
	c.Want("OK", "AUTH", Token)
	return c
}

// Close ends the connection.
func (c *Client) Close() { c.conn.Close() }

// Addr is the client's own address.
func (c *Client) Addr() string { return c.conn.LocalAddr().String() }

// Send sends bytes as they are.
func (c *Client) Send(text string) {
	c.t.Helper()
	if err := c.conn.SetWriteDeadline(time.Now().Add(replyTimeout)); err != nil {
		c.t.Fatal(err)
	}
	if _, err := io.WriteString(c.conn, text); err != nil {
		c.t.Fatal(err)
	}
}

// Encode is a command as an array of bulk strings.
func Encode(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

// Start sends a command without awaiting its reply.
func (c *Client) Start(words ...string) {
	c.t.Helper()
	c.Send(Encode(words...))
}

// Do sends a command and returns its reply.
func (c *Client) Do(words ...string) reply.Value {
	c.t.Helper()
	c.Start(words...)
	return c.Next()
}

// Next is the next reply or message.
func (c *Client) Next() reply.Value {
	c.t.Helper()
	v, err := c.read(replyTimeout)
	if err != nil {
		c.t.Fatalf("no reply: %v", err)
	}
	return v
}

// WantBytes reads as many bytes as want has, and reports others as an error.
func (c *Client) WantBytes(want string) {
	c.t.Helper()
	if err := c.conn.SetReadDeadline(time.Now().Add(replyTimeout)); err != nil {
		c.t.Fatal(err)
	}
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c.in, got); err != nil || string(got) != want {
		c.t.Fatalf("received %q (%v), want %q", got[:n], err, want)
	}
}

// Silent reports that nothing has come for a while.
func (c *Client) Silent(d time.Duration) bool {
	v, err := c.read(d)
	var late net.Error
	if err == nil {
		c.t.Logf("got %s", scripttest.Print(v))
	}
	return errors.As(err, &late) && late.Timeout()
}

// Gone reports whether the server has closed the connection.
func (c *Client) Gone() bool {
	c.t.Helper()
	for {
		v, err := c.read(replyTimeout)
		if err != nil {
			var late net.Error
			return !(errors.As(err, &late) && late.Timeout())
		}
		c.t.Logf("before the end: %s", scripttest.Print(v))
	}
}

// Want sends a command and checks what its reply looks like.
func (c *Client) Want(want string, words ...string) {
	c.t.Helper()
	if got := scripttest.Print(c.Do(words...)); got != want {
		c.t.Errorf("%s:\n%s\nwant:\n%s", strings.Join(words, " "), got, want)
	}
}

// WantNext checks what comes next.
func (c *Client) WantNext(want string) {
	c.t.Helper()
	if got := scripttest.Print(c.Next()); got != want {
		c.t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// blockedFlag is the letter b among the flags of CLIENT LIST.
var blockedFlag = regexp.MustCompile(` flags=[A-Za-z]*b`)

// AwaitBlocked waits until n connections of the client's database wait in a blocking
// command.
func (c *Client) AwaitBlocked(n string) {
	c.t.Helper()
	for end := time.Now().Add(replyTimeout); ; time.Sleep(time.Millisecond) {
		list := c.Do("CLIENT", "LIST").Text()
		if fmt.Sprint(len(blockedFlag.FindAllString(list, -1))) == n {
			return
		}
		if time.Now().After(end) {
			c.t.Fatalf("not %s connections are blocked:\n%s", n, list)
		}
	}
}

func (c *Client) read(within time.Duration) (reply.Value, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		return reply.Value{}, err
	}
	return protocol.ReadReply(c.in)
}
