package resp_test

import (
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestPreparations has calls of XREADGROUP wait. Each makes its consumer in all its streams before it
// waits, also behind other waiters, as Redis does from 7.2 on. That, a consumer that is deleted
// meanwhile, and an entry that another waiter takes let no call be tried again.
func TestPreparations(t *testing.T) {
	e := resptest.NewEngine(t, 1_700_000_000_000)
	addr := e.Serve(t, resp.Options{})
	entries := func() uint64 { index, _ := e.Machine.Applied(); return index }
	login := func() *resptest.Client { return resptest.Login(t, addr) }
	admin, first, next, noAck := login(), login(), login(), login()
	consumers := func(when, want string) {
		t.Helper()
		for _, key := range []string{"s", "t"} {
			var names []string
			for _, c := range admin.Do("XINFO", "CONSUMERS", key, "g").Elems() {
				names = append(names, c.Elems()[1].Text())
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("%s: the group of %s has the consumers %q, want %q", when, key, got, want)
			}
		}
		quiet(t, admin, entries)
	}
	call := func(c *resptest.Client, line string) { c.Start(strings.Fields(line)...) }
	admin.Want("OK", "XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
	admin.Want("OK", "XGROUP", "CREATE", "t", "g", "$", "MKSTREAM")
	call(first, "XREADGROUP GROUP g first BLOCK 0 STREAMS s t > >")
	admin.AwaitBlocked("1")
	consumers("a call waits", "first")
	call(next, "XREADGROUP GROUP g next BLOCK 0 STREAMS s t > >")
	admin.AwaitBlocked("2")
	consumers("another one waits", "first next")
	call(noAck, "XREADGROUP GROUP g none NOACK BLOCK 0 STREAMS s t > >")
	admin.AwaitBlocked("3")
	consumers("one without acknowledgements waits", "first next")
	for _, key := range []string{"s", "t"} {
		admin.Want("(integer) 0", "XGROUP", "DELCONSUMER", key, "g", "next")
	}
	consumers("a consumer was deleted", "first")
	for _, c := range []*resptest.Client{first, next, noAck} {
		admin.Do("XADD", "t", "*", "f", "v")
		if v := c.Next(); len(v.Elems()) != 1 || v.Elems()[0].Elems()[0].Text() != "t" {
			t.Errorf("a waiter was answered %v", v)
		}
		quiet(t, admin, entries)
	}
	if pending := admin.Do("XPENDING", "t", "g").Elems()[0].Int(); pending != 2 {
		t.Errorf("%d entries are pending, want 2", pending)
	}
}
