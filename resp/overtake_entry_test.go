package resp_test

import (
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
