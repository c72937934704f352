package resp_test

import (
	"bytes"
	"fmt"
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
