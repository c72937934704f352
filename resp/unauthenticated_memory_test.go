package resp_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestUnauthenticatedConnectionsShareMemory: connections that have not logged in and send much of a command hold a bounded amount of
// memory together. A login finds room meanwhile, and those that end give theirs back.
func TestUnauthenticatedConnectionsShareMemory(t *testing.T) {
	nodes := resptest.Serve(t, 1, func(o *resp.Options) { o.Limits.UnauthenticatedBytes = 100 << 10 })
	answers := make(chan string, 10)
	var all []net.Conn
	for range cap(answers) {
		c, err := net.Dial("tcp", nodes.Addrs[0])
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		all = append(all, c)
		go func() {
			_, _ = io.WriteString(c, strings.Repeat("x", 50_000)) // the node may end the connection before all has gone
			b, _ := io.ReadAll(c)
			answers <- string(b)
		}()
	}
	select {
	case got := <-answers:
		if got != "" && !strings.Contains(got, "too many clients") { // empty: the end was noticed while it was written
			t.Fatalf("%q", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("ten strangers hold 50 kB each")
	}
	resptest.Login(t, nodes.Addrs[0]).Want("PONG", "PING")
	for _, c := range all {
		c.Close()
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		c := resptest.Dial(t, nodes.Addrs[0])
		got := c.Do("AUTH", strings.Repeat("x", 12_000)).Text()
		if c.Close(); strings.Contains(got, "WRONGPASS") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the memory is not given back: %q", got)
		}
	}
}
