package resp_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/internal/buffered"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestUnderWayIsCounted has connections hold memory in every way that a client has: commands that don't arrive to their end,
// long and of many words, blocked calls, queued transactions, watched keys. Together they never hold more than the budget of the
// node, and those of a database no more than its half, so that others are served; what has ended counts no more.
func TestUnderWayIsCounted(t *testing.T) {
	const limit = 8 << 20
	buffers := buffered.New(limit)
	nodes := resptest.Serve(t, 1, func(o *resp.Options) { o.Buffers = buffers })
	made := fsm.DatabaseTokens{Name: "shop", Standard: acl.DigestOf("shop-token"), ReadOnly: acl.DigestOf("shop-read-only")}
	if _, err := fsm.Do(t.Context(), nodes.Nodes[0], fsm.CreateDatabase, made); err != nil {
		t.Fatal(err)
	}
	await := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %d bytes are under way", what, buffers.Used())
			}
		}
	}
	many := func(head, tail string) string {
		words := strings.Fields(head)
		for i := range 2_000 {
			words = append(words, fmt.Sprint("none", i))
		}
		return resptest.Encode(append(words, strings.Fields(tail)...)...)
	}
	value := strings.Repeat("x", 900<<10)
	for name, sent := range map[string]string{ // unordered: each by itself
		"a value that does not end": "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5000000\r\n" + value,
		"words that do not end":     "*1000000\r\n" + strings.Repeat("$1\r\nx\r\n", 60_000),
		"a transaction":             resptest.Encode("MULTI") + resptest.Encode("SET", "k", value),
		"watched keys":              many("WATCH", ""),
		"a blocked call":            many("BLPOP", "0"),
	} {
		for db, token := range map[string]string{"": resptest.Token, "shop": "shop-token"} { // unordered: the same
			most := int64(limit)
			if db != "" {
				most /= 2
			}
			refused := make(chan string, 100)
			var all []net.Conn
			for range 40 {
				c, err := net.Dial("tcp", nodes.Addrs[0])
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, c)
				lines := bufio.NewScanner(c)
				if _, err := c.Write([]byte(resptest.Encode("AUTH", token))); err != nil || !lines.Scan() || lines.Text() != "+OK" {
					t.Fatalf("AUTH: %v, %q", err, lines.Text())
				}
				go func() { // ends with the connection
					for lines.Scan() {
						if strings.HasPrefix(lines.Text(), "-OOM ") {
							refused <- lines.Text()
						}
					}
				}()
				_, _ = c.Write([]byte(sent)) // the server may close it meanwhile
				if used := buffers.Used(); used > most {
					t.Errorf("%s of %q: %d bytes are under way, of %d", name, db, used, most)
				}
			}
			select {
			case text := <-refused:
				if !strings.Contains(text, "max bytes of requests and replies under way") || strings.Contains(text, "of a database") != (db != "") {
					t.Errorf("%s of %q: %s", name, db, text)
				}
			case <-time.After(time.Minute):
				t.Errorf("%s of %q: nothing was refused, %d bytes are under way", name, db, buffers.Used())
			}
			if db != "" {
				other := resptest.Login(t, nodes.Addrs[0])
				other.Want("OK", "SET", "k", strings.Repeat("y", 500_000))
				other.Close()
			}
			for _, c := range all {
				c.Close()
			}
			await(name+" has ended", func() bool { return len(nodes.Servers[0].Connections()) == 0 && buffers.Used() == 0 })
		}
	}
	c := resptest.Login(t, nodes.Addrs[0])
	c.Want("OK", "SET", "k", strings.Repeat("x", 3<<20))
	c.Want("OK", "MULTI")
	c.Want("QUEUED", "SET", "k", value)
	if buffers.Used() < int64(len(value)) {
		t.Errorf("a queued command counts %d bytes", buffers.Used())
	}
	c.Want("1) OK", "EXEC")
	await("all is done", func() bool { return buffers.Used() == 0 })
}

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
