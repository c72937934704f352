package resp_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/internal/testgate"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// heldEngine is an engine whose calls a test can hold up at one place.
type heldEngine struct {
	*resptest.SingleNode
	afterRead atomic.Pointer[func()] // called once, when the next Read has run
	popped    atomic.Pointer[func()] // called when a BLPOP was applied, before its outcome is returned
}

func (e *heldEngine) Read(ctx context.Context, how fsm.Reading, fn func(*fsm.View)) (fsm.ReadAt, error) {
	at, err := e.SingleNode.Read(ctx, how, fn)
	if after := e.afterRead.Swap(nil); after != nil {
		(*after)()
	}
	return at, err
}

func (e *heldEngine) Propose(ctx context.Context, code uint16, body []byte) (any, error) {
	v, err := e.SingleNode.Propose(ctx, code, body)
	if popped := e.popped.Load(); popped != nil && bytes.Contains(bytes.ToLower(body), []byte("blpop")) {
		(*popped)()
	}
	return v, err
}

// serveHeld serves an engine and returns its address.
func serveHeld(t *testing.T) (*heldEngine, string) {
	t.Helper()
	e := &heldEngine{SingleNode: resptest.NewEngine(t, 1_700_000_000_000)}
	s, err := resp.New(resp.Options{Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	e.Machine.Hooks.Notifications = func(notes []env.Notification) { s.Notify(notes) }
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return e, l.Addr().String()
}

// TestPopIsClaimedOnce has the registry of blocked clients propose a call while the call's
// connection, which has just seen an element, is about to do so too. One of them may: with
// two pops the second element would be taken for nobody.
func TestPopIsClaimedOnce(t *testing.T) {
	e, addr := serveHeld(t)
	c, other := resptest.Login(t, addr), resptest.Login(t, addr)
	second := resptest.Login(t, addr) // of the goroutine that runs after
	other.Want("(integer) 1", "RPUSH", "l", "first")
	var pops atomic.Int64
	goOn := testgate.New(t)
	popped := func() {
		if pops.Add(1) == 1 {
			goOn.Wait()
		}
	}
	e.popped.Store(&popped)
	after := func() { // the connection knows of the first element now
		second.Want("(integer) 2", "RPUSH", "l", "second")
		goOn.Reached(1) // proposed by the registry, which was notified of the second one
	}
	e.afterRead.Store(&after)
	c.Start("BLPOP", "l", "0")
	goOn.Reached(1)
	until(t, "the connection does not go on", func() bool { return e.afterRead.Load() == nil })
	other.AwaitBlocked("1") // it leaves the call to the registry
	goOn.Open()
	c.WantNext("1) \"l\"\n2) \"first\"")
	other.Want("1) \"second\"", "LRANGE", "l", "0", "-1")
	if n := pops.Load(); n != 1 {
		t.Errorf("%d pops were proposed", n)
	}
}

// TestWaitEndsWhilePopIsUnderWay ends waits while the log has applied their pop and its
// outcome is on the way: the answer is the element, which nobody else can get any more.
func TestWaitEndsWhilePopIsUnderWay(t *testing.T) {
	e, addr := serveHeld(t)
	c, other := resptest.Login(t, addr), resptest.Login(t, addr)
	id := fmt.Sprint(c.Do("CLIENT", "ID").Int())
	for name, end := range map[string]struct {
		timeout string
		end     func()
	}{
		"unblocked": {"0", func() { other.Want("(integer) 1", "CLIENT", "UNBLOCK", id) }},
		"error":     {"0", func() { other.Want("(integer) 1", "CLIENT", "UNBLOCK", id, "ERROR") }},
		"timeout": {"0.1", func() {
			if !c.Silent(500 * time.Millisecond) { // a wait that the timeout ended would be answered in that time
				t.Error("answered before the outcome was known")
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			goOn := testgate.New(t)
			popped := goOn.Wait
			c.Start("BLPOP", "l", end.timeout)
			other.AwaitBlocked("1")
			e.popped.Store(&popped)
			other.Want("(integer) 1", "RPUSH", "l", "element")
			goOn.Reached(1)
			end.end()
			e.popped.Store(nil)
			goOn.Open()
			c.WantNext("1) \"l\"\n2) \"element\"")
			other.Want("(integer) 0", "EXISTS", "l")
		})
	}
}
