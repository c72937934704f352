package resp_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"trireme/fsm/command/scripttest"
	"trireme/fsm/reply"
	"trireme/resp/resptest"
)

// number is that of the connection in the answer to HELLO.
var number = regexp.MustCompile(`("id"(?: =>|\n *\d+\)) \(integer\)) \d+`)

func print(v reply.Value) string { return number.ReplaceAllString(scripttest.Print(v), "$1 N") }

// TestConversations holds what is sent and what comes back, line by line, against each
// other.
func TestConversations(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	for _, path := range scripts(t) {
		t.Run(strings.TrimSuffix(path, ".txt"), func(t *testing.T) { converse(t, nodes.Addrs[0], "testdata/"+path) })
	}
}

func scripts(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".txt") {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		t.Fatal("no conversations")
	}
	return names
}

// converse runs a script: "> " sends a line as an inline command, what follows is its
// reply; "start " sends one whose reply comes later; "next" awaits one more message; "client
// NAME" goes on as another connection; "blocked N" waits until N connections are blocked.
func converse(t *testing.T, addr, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clients := map[string]*resptest.Client{}
	var current *resptest.Client
	use := func(name string) {
		if clients[name] == nil {
			clients[name] = resptest.Dial(t, addr)
		}
		current = clients[name]
	}
	use("a")
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	for i := 0; i < len(lines); {
		line := lines[i]
		i++
		switch {
		case line == "" || line[0] == '#':
			continue
		case strings.HasPrefix(line, "client "):
			use(line[len("client "):])
			continue
		case strings.HasPrefix(line, "blocked "):
			awaitBlocked(t, current, line[len("blocked "):])
			continue
		case strings.HasPrefix(line, "start "):
			current.Send(expand(line[len("start "):]) + "\r\n")
			continue
		case strings.HasPrefix(line, "> "):
			current.Send(expand(line[2:]) + "\r\n")
		case line != "next":
			t.Fatalf("%s:%d: %q", path, i, line)
		}
		start := i
		for i < len(lines) && !starts(lines[i]) {
			i++
		}
		want := expand(strings.Join(lines[start:i], "\n"))
		if got := print(current.Next()); got != want {
			t.Errorf("%s:%d: %s\n%s\nwant:\n%s", path, start, line, got, want)
		}
	}
}

// awaitBlocked waits until n connections wait in a blocking command.
func awaitBlocked(t *testing.T, c *resptest.Client, n string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		list := c.Do("CLIENT", "LIST").Text()
		if fmt.Sprint(strings.Count(list, " flags=b ")) == n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not %s connections are blocked:\n%s", n, list)
		}
	}
}

// starts tells whether a line of a script begins something new.
func starts(line string) bool {
	for _, word := range []string{"> ", "client ", "start ", "blocked ", "#"} {
		if strings.HasPrefix(line, word) {
			return true
		}
	}
	return line == "next" || line == ""
}

func expand(s string) string {
	return strings.NewReplacer("$TOKEN", resptest.Token, "$READONLY", resptest.ReadOnlyToken, "$ADMIN", resptest.AdminToken).Replace(s)
}

// TestPipelines sends thousands of commands before it reads, in pieces that cut anywhere.
func TestPipelines(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	c := resptest.Login(t, nodes.Addrs[0])
	var b strings.Builder
	const n = 5000
	for i := range n {
		b.WriteString(resptest.Encode("SET", fmt.Sprint("p:", i%100), fmt.Sprint(i)))
		b.WriteString(resptest.Encode("GET", fmt.Sprint("p:", i%100)))
		if i%7 == 0 {
			b.WriteString("PING\r\n")
		}
		if i%501 == 0 {
			b.WriteString(resptest.Encode("NOSUCH"))
		}
	}
	text := b.String()
	go func() {
		for at := 0; at < len(text); {
			size := min(1+at*7919%9973, len(text)-at)
			c.Send(text[at : at+size])
			at += size
		}
	}()
	for i := range n {
		c.WantNext("OK")
		c.WantNext(fmt.Sprintf("%q", fmt.Sprint(i)))
		if i%7 == 0 {
			c.WantNext("PONG")
		}
		if i%501 == 0 {
			c.WantNext("(error) ERR unknown command 'NOSUCH', with args beginning with: ")
		}
	}
	c.Want("OK", "SET", "p:end", "x")
}
