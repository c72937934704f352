package resptest

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// Exchange is a command of a conversation and what the server said to it first.
type Exchange struct {
	Argv  [][]byte
	Reply reply.Value
	// AsWritten says that the reply is the one that the conversation has.
	AsWritten bool
}

// Converse holds a conversation with the server at addr, whose default database opens with
// the tokens of this package, line by line against what the file at path has: "> " sends a
// line as an inline command, what follows is its reply; "start " sends one whose reply comes
// later; "next" awaits one more message; "client NAME" switches to another connection;
// "blocked N" waits until N connections are blocked. What differs from run to run, such as
// the numbers and addresses of connections, is written N; "*" is any reply but an error. heard, if not nil, is told every
// exchange.
func Converse(t *testing.T, addr, path string, onExchange func(Exchange)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := &conversation{t: t, addr: addr, path: path, heard: onExchange, clients: map[string]*Client{}, open: map[*Client][][][]byte{}}
	c.use("a")
	c.lines = strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	for c.at < len(c.lines) {
		c.line()
	}
}

type conversation struct {
	t       *testing.T
	addr    string
	path    string
	heard   func(Exchange)
	lines   []string
	at      int
	clients map[string]*Client
	now     *Client
	open    map[*Client][][][]byte // started commands whose reply hasn't come
}

func (c *conversation) use(name string) {
	if c.clients[name] == nil {
		c.clients[name] = Dial(c.t, c.addr)
	}
	c.now = c.clients[name]
}

// line does what the next line says.
func (c *conversation) line() {
	line := c.lines[c.at]
	c.at++
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "" || line[0] == '#':
	case word == "client":
		c.use(rest)
	case word == "blocked":
		c.now.AwaitBlocked(rest)
	case word == "start":
		c.now.Send(expand(rest) + "\r\n")
		c.open[c.now] = append(c.open[c.now], c.words(rest))
	case word == ">":
		c.now.Send(expand(rest) + "\r\n")
		c.answer(line, c.words(rest))
	case line == "next":
		var argv [][]byte
		if open := c.open[c.now]; len(open) > 0 {
			argv, c.open[c.now] = open[0], open[1:]
		}
		c.answer(line, argv)
	default:
		c.t.Fatalf("%s:%d: %q", c.path, c.at, line)
	}
}

// words splits a command line into words; it returns none if the line is malformed.
func (c *conversation) words(line string) [][]byte {
	argv, err := scripttest.Split(expand(line))
	if err != nil {
		return nil
	}
	return argv
}

// answer compares the next message with the lines that follow.
func (c *conversation) answer(line string, argv [][]byte) {
	c.t.Helper()
	start := c.at
	for c.at < len(c.lines) && !begins(c.lines[c.at]) {
		c.at++
	}
	want := expand(strings.Join(c.lines[start:c.at], "\n"))
	v, err := c.now.read(replyTimeout)
	if err != nil {
		c.t.Fatalf("%s:%d: %s: no reply: %v", c.path, start, line, err)
	}
	got := masked(scripttest.Print(v))
	if want == "*" && !v.IsError() {
		want = got
	}
	if got != want {
		c.t.Errorf("%s:%d: %s\n%s\nwant:\n%s", c.path, start, line, got, want)
	}
	if c.heard != nil && argv != nil {
		c.heard(Exchange{Argv: argv, Reply: v, AsWritten: got == want})
	}
}

// begins reports whether a line begins something new.
func begins(line string) bool {
	for _, word := range []string{"> ", "client ", "start ", "blocked ", "#"} {
		if strings.HasPrefix(line, word) {
			return true
		}
	}
	return line == "next" || line == ""
}

func expand(s string) string {
	return strings.NewReplacer("$TOKEN", Token, "$READONLY", ReadOnlyToken, "$ADMIN", AdminToken).Replace(s)
}

// masks match the parts of replies that differ from run to run: a connection's id in the reply to
// HELLO, and its ids, addresses and ages in the replies to CLIENT.
var masks = []*regexp.Regexp{
	regexp.MustCompile(`("id"(?: =>|\n *\d+\)) \(integer\) )\d+`),
	regexp.MustCompile(`(\b(?:id|addr|laddr|fd|age|idle|qbuf-free|rbs|rbp|tot-mem)=)[^ ]+`),
	regexp.MustCompile(`(\[0 )127\.0\.0\.1:\d+`),
	regexp.MustCompile(`^()\d{10}\.\d{6}`),
}

func masked(s string) string {
	for _, m := range masks {
		s = m.ReplaceAllString(s, "${1}N")
	}
	return s
}
