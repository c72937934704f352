package resp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestSubscriptionsShareEntries: the subscriptions of a pipeline are in few entries of the log. Each is confirmed, in their order and
// before what follows, which a message to the last of them does.
func TestSubscriptionsShareEntries(t *testing.T) {
	const names = 500
	nodes := resptest.Serve(t, 1, nil)
	c := resptest.Login(t, nodes.Addrs[0])
	c.Do("HELLO", "3")
	before, _ := nodes.Nodes[0].Machine().Applied()
	var b strings.Builder
	for i := range names {
		b.WriteString(resptest.Encode([]string{"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"}[i%3], fmt.Sprint("name", i)))
	}
	b.WriteString(resptest.Encode("PUBLISH", "name498", "m") + resptest.Encode("SUBSCRIBE", "last") + resptest.Encode("SUBSCRIBE") + resptest.Encode("PING"))
	c.Send(b.String())
	for i := range names {
		if v := c.Next().Elems(); len(v) != 3 || v[1].Text() != fmt.Sprint("name", i) {
			t.Fatalf("the %d. confirmation is %v", i+1, v)
		}
	}
	received := false
	for _, want := range []string{"(integer) 1", "last", "ERR wrong number of arguments for 'subscribe' command", "PONG"} {
		v := c.Next()
		if e := v.Elems(); len(e) == 3 && e[0].Text() == "message" {
			received = true
			v = c.Next()
		}
		got := v.Text()
		if e := v.Elems(); len(e) == 3 {
			got = e[1].Text()
		} else if want == "(integer) 1" {
			got = fmt.Sprintf("(integer) %d", v.Int())
		}
		if got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	if !received {
		if e := c.Next().Elems(); len(e) != 3 || e[2].Text() != "m" {
			t.Errorf("got %v, want the message", e)
		}
	}
	after, _ := nodes.Nodes[0].Machine().Applied()
	if used := after - before; used > names/10 {
		t.Errorf("%d subscriptions took %d entries", names, used)
	}
}
