package resp_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestNobodyOvertakes has two clients wait, of one user and of two, and no leader for the call of the first. Its element is not
// for the second, which is behind it, although there is a leader again before the first is tried once more.
func TestNobodyOvertakes(t *testing.T) {
	e := resptest.NewEngine(t, 1_700_000_000_000)
	var refusals atomic.Int32 // to come
	e.Refuse = func() error {
		if refusals.Add(-1) == 0 {
			return fsm.ErrNoLeader
		}
		return nil
	}
	addr := e.Serve(t, resp.Options{})
	admin := resptest.Login(t, addr)
	for _, second := range []string{"", "second"} {
		eachWait(t, func(t *testing.T, row *command.Command, before, call, fill string) {
			if row.Flags&command.Write == 0 || row.Wait.Ready != nil {
				t.Skip("it has no order")
			}
			admin.Want("OK", "FLUSHALL")
			admin.Want("OK", "ACL", "SETUSER", "second", "on", ">second", "~*", "&*", "+@all")
			if before != "" {
				admin.Want("OK", strings.Fields(before)...)
			}
			var clients []*resptest.Client
			for i := range 2 {
				c := resptest.Login(t, addr)
				if i > 0 && second != "" {
					c.Want("OK", "AUTH", second, second)
				}
				c.Start(strings.Fields(strings.ReplaceAll(call, "$TIMEOUT", "0"))...)
				admin.AwaitBlocked(fmt.Sprint(i + 1))
				clients = append(clients, c)
			}
			refusals.Store(2)                 // the second request from here: what fills is the first
			admin.Do(strings.Fields(fill)...) // e, and f if there are two users: both calls are under way then
			for i, c := range clients {
				v := c.Next()
				first := strings.Contains(scripttest.Print(v), `"e"`)
				if strings.HasPrefix(row.Name, "br") || row.Name == "bzpopmax" { // from the other end
					first = !first
				}
				if first != (i == 0) {
					t.Errorf("client %d was answered %s", i, scripttest.Print(v))
				}
			}
		})
	}
}
