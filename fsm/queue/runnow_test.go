package queue

import (
	"errors"
	"github.com/trireme-dev/trireme/fsm/env"
	"testing"
)

// TestRunNow: whatever waits for a time is due at once, and keeps the retries that it has.
func TestRunNow(t *testing.T) {
	w := newWorld(t)
	runNow := func(id ID) error { return w.s.RunNow(w.env(), RunNow{id}) }
	p := url("a")
	p.Given, p.Delay, p.Retries = GivenDelay|GivenRetries, 60_000, 1
	id := w.publish(p)[0].ID
	w.none()
	if err := runNow(id); err != nil {
		t.Fatal(err)
	}
	if at, ok := w.s.NextDue(env.At(w.now)); !ok || at != w.now {
		t.Fatalf("due in %d ms, %v", at-w.now, ok)
	}
	a := w.one()
	if err := runNow(id); !errors.Is(err, ErrNotFound) {
		t.Fatalf("a message under way: %v", err)
	}
	w.finish(a, 500)
	w.none()
	if err := runNow(id); err != nil {
		t.Fatal(err)
	}
	s := restored(t, w.s)
	if digest(t, s) != digest(t, w.s) {
		t.Fatal("restored it differs")
	}
	if a = w.one(); a.Retried != 1 {
		t.Fatalf("retried %d", a.Retried)
	}
	w.finish(a, 500)
	w.wantStates(id, "CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "ERROR", "FAILED")
	if err := runNow(id); !errors.Is(err, ErrNotFound) {
		t.Fatalf("a dead message: %v", err)
	}
	if err := runNow(ID{99, 99}); !errors.Is(err, ErrNotFound) {
		t.Fatalf("an unknown message: %v", err)
	}
}

// TestRunNowIsNoShortcut: a cancelled message, a place in a queue and the limits of a flow-control key stand.
func TestRunNowIsNoShortcut(t *testing.T) {
	w := newWorld(t)
	p := url("a")
	p.Given, p.Delay, p.Queue = GivenDelay|GivenQueue, 60_000, "q"
	if err := w.s.RunNow(w.env(), RunNow{w.publish(p)[0].ID}); !errors.Is(err, ErrInvalid) {
		t.Fatalf("a message of a queue: %v", err)
	}
	p = url("b")
	p.Given, p.Delay, p.Flow = GivenDelay|GivenFlow, 60_000, &FlowControl{Key: "k", Parallelism: 1}
	first, second := w.publish(p)[0].ID, w.publish(p)[0].ID
	for _, id := range []ID{first, second, second} {
		if err := w.s.RunNow(w.env(), RunNow{id}); err != nil {
			t.Fatal(err)
		}
	}
	a := w.one()
	w.none()
	if err := w.s.RunNow(w.env(), RunNow{second}); err != nil {
		t.Fatalf("a message that its key holds: %v", err)
	}
	w.none()
	w.finish(a, 200)
	if b := w.one(); b.ID != second {
		t.Fatalf("%s", b.ID)
	}
	if _, err := w.s.Cancel(w.env(), Cancellation{IDs: []ID{second}}); err != nil {
		t.Fatal(err)
	}
	if err := w.s.RunNow(w.env(), RunNow{second}); !errors.Is(err, ErrNotFound) {
		t.Fatalf("a message that is to be cancelled: %v", err)
	}
}
