package resp_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// waits are a call of each command that waits, on the empty key src, and what gives it
// something, enough for two that compete. $TIMEOUT is the timeout, in the command's own unit; a move goes to dst.
var waits = map[string]struct{ before, call, fill string }{
	"blmove":     {"", "BLMOVE src dst LEFT RIGHT $TIMEOUT", "RPUSH src e f"},
	"blmpop":     {"", "BLMPOP $TIMEOUT 1 src LEFT COUNT 1", "RPUSH src e f"},
	"blpop":      {"", "BLPOP src $TIMEOUT", "RPUSH src e f"},
	"brpop":      {"", "BRPOP src $TIMEOUT", "RPUSH src e f"},
	"brpoplpush": {"", "BRPOPLPUSH src dst $TIMEOUT", "RPUSH src e f"},
	"bzmpop":     {"", "BZMPOP $TIMEOUT 1 src MIN COUNT 1", "ZADD src 1 e 2 f"},
	"bzpopmax":   {"", "BZPOPMAX src $TIMEOUT", "ZADD src 1 e 2 f"},
	"bzpopmin":   {"", "BZPOPMIN src $TIMEOUT", "ZADD src 1 e 2 f"},
	"xread":      {"", "XREAD COUNT 1 BLOCK $TIMEOUT STREAMS src 0-0", "XADD src 7-7 f v"},
	"xreadgroup": {"XGROUP CREATE src g $ MKSTREAM", "XREADGROUP GROUP g c COUNT 1 BLOCK $TIMEOUT STREAMS src >", "XADD src 7-7 f v"},
}

// eachWait runs f for each row of the table that waits.
func eachWait(t *testing.T, f func(t *testing.T, row *command.Command, before, call, fill string)) {
	rows := 0
	for _, row := range command.NewTable().Rows() {
		if row.Wait == nil {
			continue
		}
		rows++
		w, ok := waits[row.Name]
		if !ok {
			t.Errorf("no call of %s", row.Name)
			continue
		}
		t.Run(row.Name, func(t *testing.T) { f(t, row, w.before, w.call, w.fill) })
	}
	if rows != len(waits) {
		t.Errorf("%d commands wait, and there are calls of %d", rows, len(waits))
	}
}

// failures lists conditions under which the call of a waiter fails when it is tried again.
var failures = []struct {
	name   string
	redis  bool // redis-server answers the same
	suits  func(row *command.Command) bool
	before string // by the administrator, while both wait
	after  string // the same, after the element has come
}{
	{"target of another type", true, func(row *command.Command) bool { return row.Wait.Into > 0 }, "SET dst x", ""},
	{"source of another type", true, func(row *command.Command) bool { return row.Wait.Lost == nil }, "SET src x", "DEL src"},
	{"source of another type, made again", true, func(row *command.Command) bool { return row.Wait.Lost != nil }, "SET src x", "DEL src"},
	{"group destroyed", true, func(row *command.Command) bool { return row.Wait.Lost != nil }, "XGROUP DESTROY src g", ""},
	{"stream deleted", true, func(row *command.Command) bool { return row.Wait.Lost != nil }, "DEL src", untilAnswered},
	{"command not permitted", false, func(*command.Command) bool { return true }, "ACL SETUSER waiting -$COMMAND", ""},
	{"key not permitted", false, func(*command.Command) bool { return true }, "ACL SETUSER waiting resetkeys", ""},
	{"user deleted", false, func(*command.Command) bool { return true }, "ACL DELUSER waiting", ""},
}

// untilAnswered stands for what comes after a failure that ends the calls: the key is made again only then, since who looks at it
// later finds a stream without the group.
const untilAnswered = "until answered"

// TestErrorsOfWaiters has the call of a client that waits fail when it is tried again, in each
// way in which it may. The client is answered as redis-server does, or waits on; the element
// is for the next; and while nothing changes nothing goes into the log.
func TestErrorsOfWaiters(t *testing.T) {
	e := resptest.NewEngine(t, 1_700_000_000_000)
	addr := e.Serve(t, resp.Options{})
	redis := ""
	if _, err := exec.LookPath("redis-server"); err == nil {
		redis = resptest.RedisServer(t)
	}
	entries := func() uint64 { index, _ := e.Machine.Applied(); return index }
	eachWait(t, func(t *testing.T, row *command.Command, before, call, fill string) {
		for _, f := range failures {
			if !f.suits(row) {
				continue
			}
			t.Run(f.name, func(t *testing.T) {
				ours := fail(t, func() *resptest.Client { return resptest.Login(t, addr) }, row, before, call, fill, f.before, f.after, entries)
				if !f.redis || redis == "" {
					return
				}
				theirs := fail(t, func() *resptest.Client { return resptest.Dial(t, redis) }, row, before, call, fill, f.before, f.after, nil)
				if ours != theirs {
					t.Errorf("answered:\n%s\nredis-server:\n%s", ours, theirs)
				}
			})
		}
	})
}

// fail plays one of the failures, and returns what the two waiters were answered.
func fail(t *testing.T, login func() *resptest.Client, row *command.Command, before, call, fill, wrong, after string, entries func() uint64) string {
	admin, first, next := login(), login(), login()
	do := func(line string) {
		t.Helper()
		if line = strings.ReplaceAll(line, "$COMMAND", row.Name); line == "" {
			return
		}
		if v := admin.Do(strings.Fields(line)...); v.IsError() {
			t.Fatalf("%s: %s", line, v.Text())
		}
	}
	admin.Do("FLUSHALL")
	do("ACL SETUSER waiting reset on >secret ~* &* +@all")
	do(before)
	first.Want("OK", "AUTH", "waiting", "secret")
	call = strings.ReplaceAll(call, "$TIMEOUT", "0")
	first.Start(strings.Fields(call)...)
	admin.AwaitBlocked("1")
	next.Start(strings.Fields(strings.ReplaceAll(call, "dst", "other"))...)
	admin.AwaitBlocked("2")
	do(wrong)
	if after == untilAnswered {
		admin.AwaitBlocked("0")
		after = ""
	}
	if after != "" && entries != nil {
		quiet(t, admin, entries)
	}
	do(after)
	_ = admin.Do(strings.Fields(fill)...) // refused if what was made of the key stays
	told := scripttest.Print(next.Next())
	if entries != nil {
		quiet(t, admin, entries)
	}
	id := ""
	for _, line := range strings.Split(admin.Do("CLIENT", "LIST").Text(), "\n") {
		if strings.Contains(line, "addr="+first.Addr()+" ") {
			id = strings.TrimPrefix(strings.Fields(line)[0], "id=")
		}
	}
	if id != "" { // answers it if it waits on
		admin.Do("CLIENT", "UNBLOCK", id)
		if admin.Do("CLIENT", "LIST", "ID", id).Text() != "" {
			told = scripttest.Print(first.Next()) + "\n" + told
		}
	}
	return told
}

// quiet reports log entries that nobody has asked for. A call that is tried again and again
// makes hundreds in the time.
func quiet(t *testing.T, c *resptest.Client, entries func() uint64) {
	t.Helper()
	const writes, slack = 30, 8
	before := entries()
	for i := range writes {
		c.Want("OK", "SET", "beside", fmt.Sprint(i))
	}
	if n := entries() - before; n > writes+slack {
		t.Errorf("%d log entries of %d writes", n, writes)
	}
}

// TestMoveIntoWrongType has moves of clients of a follower wait while their target gets
// another type: each is answered, those behind them get the element, and the log is quiet.
func TestMoveIntoWrongType(t *testing.T) {
	nodes := resptest.Serve(t, 3, nil)
	follower := 0
	for i, n := range nodes.Nodes {
		if !n.IsLeader() {
			follower = i
		}
	}
	addr := nodes.Addrs[follower]
	entries := func() uint64 { index, _ := nodes.Nodes[follower].Machine().Applied(); return index }
	login := func() *resptest.Client { return resptest.Login(t, addr) }
	for name, element := range map[string]string{"blmove": "e", "brpoplpush": "f"} {
		row := command.NewTable().Row(name)
		got := fail(t, login, row, waits[name].before, waits[name].call, waits[name].fill, "SET dst x", "", entries)
		if want := "(error) WRONGTYPE Operation against a key holding the wrong kind of value\n\"" + element + "\""; got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
		}
	}
}
