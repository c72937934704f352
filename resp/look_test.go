package resp_test

import (
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestLooksTwice has each look at the local state taken twice, the first time at another state that has none of the keys, as
// fsm.Machine.View may: what it has seen means nothing. Waiters go on to wait, and get what comes.
func TestLooksTwice(t *testing.T) {
	e, other := resptest.NewEngine(t, 1_700_000_000_000), resptest.NewEngine(t, 1_700_000_000_000)
	e.Look = func(fn func(*fsm.View)) { other.Machine.View(0, [16]byte{1}, fn) }
	addr := e.Serve(t, resp.Options{})
	admin := resptest.Login(t, addr)
	eachWait(t, func(t *testing.T, row *command.Command, before, call, fill string) {
		admin.Want("OK", "FLUSHALL")
		if before != "" {
			admin.Want("OK", strings.Fields(before)...)
		}
		c := resptest.Login(t, addr)
		c.Start(strings.Fields(strings.ReplaceAll(call, "$TIMEOUT", "0"))...)
		admin.AwaitBlocked("1")
		admin.Do("SET", "beside", "v")
		admin.Do(strings.Fields(fill)...)
		if v := c.Next(); v.IsError() || v.IsNil() {
			t.Errorf("answered %s", scripttest.Print(v))
		}
	})
}
