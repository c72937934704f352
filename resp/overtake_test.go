package resp_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/internal/testgate"
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

// TestNobodyOvertakesBeforeNotifications has the call of the first of two clients find nothing: the element is gone by then, and
// another comes before the node was notified of either, as in an entry that holds all three. That element is not for the second client.
func TestNobodyOvertakesBeforeNotifications(t *testing.T) {
	e := resptest.NewEngine(t, 1_700_000_000_000)
	var late *lateNotifications
	var refill [][]byte
	var refilled *testgate.Gate
	var step atomic.Int32 // since both wait: the first call fills, the second is that of the first client
	step.Store(idle)
	e.Before = func() {
		if step.Add(1) == 2 {
			late.hold()
			e.Run(t, asAdmin([][]byte{[]byte("DEL"), []byte("src")}))
		}
	}
	e.Look = func(func(*fsm.View)) {
		if step.Load() == 3 {
			e.Run(t, asAdmin(refill))
			go func() { // waits for the registry, which is looking
				late.release()
				refilled.Open()
			}()
		}
	}
	addr := e.Serve(t, resp.Options{})
	late = holdNotifications(e)
	admin := resptest.Login(t, addr)
	eachWait(t, func(t *testing.T, row *command.Command, before, call, fill string) {
		if row.Flags&command.Write == 0 || row.Wait.Ready != nil {
			t.Skip("it has no order")
		}
		one := strings.Fields(strings.TrimSuffix(strings.TrimSuffix(fill, " 2 f"), " f"))
		admin.Want("OK", "FLUSHALL")
		if before != "" {
			admin.Want("OK", strings.Fields(before)...)
		}
		var clients []*resptest.Client
		for _, waiting := range []string{"1", "2"} {
			c := resptest.Login(t, addr)
			c.Start(strings.Fields(strings.ReplaceAll(call, "$TIMEOUT", "0"))...)
			admin.AwaitBlocked(waiting)
			clients = append(clients, c)
		}
		refill, refilled = nil, testgate.New(t)
		for _, word := range one {
			refill = append(refill, []byte(word))
		}
		step.Store(0)
		admin.Do(one...)
		v := clients[0].Next()
		refilled.Wait()
		step.Store(idle)
		if v.IsError() || v.IsNil() {
			t.Errorf("the first client was answered %s", scripttest.Print(v))
		}
		admin.AwaitBlocked("1")
		admin.Do(one...)
		clients[1].Next()
	})
}

// idle is a step long after the last.
const idle = 1 << 16

func asAdmin(row [][]byte) fsm.Batch {
	return fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.RESP, Mode: fsm.Single, Rows: [][][]byte{row}}
}

// lateNotifications stands between a machine and its server, and passes notifications on later.
type lateNotifications struct {
	pass func([]env.Notification)
	mu   sync.Mutex
	held bool
	late []env.Notification
}

func holdNotifications(e *resptest.SingleNode) *lateNotifications {
	hooks := &e.Machine.Hooks
	l := &lateNotifications{pass: hooks.Notifications}
	hooks.Notifications = func(notes []env.Notification) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.held {
			l.late = append(l.late, notes...)
			return
		}
		l.pass(notes)
	}
	return l
}

func (n *lateNotifications) hold() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held = true
}

func (n *lateNotifications) release() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held = false
	n.pass(n.late)
	n.late = nil
}

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
