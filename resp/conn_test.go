package resp_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestConversations holds what is sent and what comes back, line by line, against each
// other.
func TestConversations(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	for _, path := range scripts(t) {
		t.Run(strings.TrimSuffix(path, ".txt"), func(t *testing.T) { resptest.Converse(t, nodes.Addrs[0], "testdata/"+path, nil) })
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
