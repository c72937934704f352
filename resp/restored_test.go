package resp_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestStateOfASnapshot replaces a node's state by a snapshot, as a node does that has missed too much of the log: every
// connection that tracks is told that all its copies are void, watches are broken, and a blocked call sees what there is now.
func TestStateOfASnapshot(t *testing.T) {
	e := resptest.NewEngine(t, 1_700_000_000_000)
	addr := e.Serve(t, resp.Options{})
	writer := resptest.Login(t, addr)
	writer.Want("OK", "SET", "k", "old")
	writer.Want("(integer) 1", "RPUSH", "l", "element")
	var snapshot bytes.Buffer
	if err := e.Machine.Fork().Write(&snapshot); err != nil {
		t.Fatal(err)
	}
	writer.Want("OK", "SET", "k", "new")
	writer.Want("(integer) 1", "DEL", "l")

	const all = "1> \"invalidate\"\n2> (nil)"
	trackers := map[string]*resptest.Client{}
	for name, options := range map[string][]string{
		"each key": nil, "own changes too": {"NOLOOP"}, "chosen keys": {"OPTIN"}, "all but some": {"OPTOUT"}, "prefixes": {"BCAST", "PREFIX", "k", "PREFIX", "other"},
	} {
		c := resptest.Login(t, addr)
		c.Do("HELLO", "3")
		c.Want("OK", append([]string{"CLIENT", "TRACKING", "ON"}, options...)...)
		if name == "chosen keys" {
			c.Want("OK", "CLIENT", "CACHING", "YES")
		}
		c.Want(`"new"`, "GET", "k")
		trackers[name] = c
	}
	absent := resptest.Login(t, addr) // holds nothing but that a key is missing
	absent.Do("HELLO", "3")
	absent.Want("OK", "CLIENT", "TRACKING", "ON")
	absent.Want("(nil)", "GET", "missing")
	trackers["a missing key"] = absent
	none := resptest.Login(t, addr) // has read nothing, and may have copies of before
	none.Do("HELLO", "3")
	none.Want("OK", "CLIENT", "TRACKING", "ON")
	trackers["nothing"] = none
	off := resptest.Login(t, addr)
	off.Do("HELLO", "3")
	off.Want("OK", "CLIENT", "TRACKING", "ON")
	off.Want(`"new"`, "GET", "k")
	off.Want("OK", "CLIENT", "TRACKING", "OFF")
	listener := resptest.Login(t, addr)
	id := fmt.Sprint(listener.Do("CLIENT", "ID").Int())
	listener.Do("HELLO", "3")
	old := resptest.Login(t, addr)
	old.Want("OK", "CLIENT", "TRACKING", "ON", "REDIRECT", id)
	old.Want(`"new"`, "GET", "k")
	watcher := resptest.Login(t, addr)
	watcher.Want("OK", "WATCH", "k")
	watcher.Want("OK", "MULTI")
	watcher.Want("QUEUED", "SET", "watched", "1")
	blocked := resptest.Login(t, addr)
	blocked.Start("BLPOP", "l", "0")
	writer.AwaitBlocked("1")

	if err := e.Machine.Restore(&snapshot); err != nil {
		t.Fatal(err)
	}
	for name, c := range trackers {
		t.Log(name)
		c.WantNext(all)
		c.Want(`"old"`, "GET", "k")
	}
	listener.WantNext(all)
	off.Want(`"old"`, "GET", "k") // and was told nothing
	watcher.Want("(nil array)", "EXEC")
	blocked.WantNext("1) \"l\"\n2) \"element\"")

	// What was tracked before is forgotten; what is read now is tracked.
	for _, name := range []string{"each key", "a missing key"} {
		trackers[name].Want(`"old"`, "GET", "k")
	}
	writer.Want("OK", "SET", "k", "newer")
	trackers["each key"].WantNext("1> \"invalidate\"\n2> 1) \"k\"")
	writer.Want("OK", "SET", "missing", "v")
	trackers["a missing key"].WantNext("1> \"invalidate\"\n2> 1) \"k\"")
	trackers["a missing key"].Want("PONG", "PING") // of "missing" it has no copy any more
}

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
