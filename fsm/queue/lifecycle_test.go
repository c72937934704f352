package queue

import (
	"errors"
	"github.com/trireme-dev/trireme/fsm/env"
	"slices"
	"testing"
)

func (w *world) wantStates(id ID, want ...string) {
	w.t.Helper()
	if got := w.states(id); !slices.Equal(got, want) {
		w.t.Fatalf("events %v, want %v", got, want)
	}
}

// TestDeliveredAtOnce: success at once is CREATED, ACTIVE, DELIVERED.
func TestDeliveredAtOnce(t *testing.T) {
	w := newWorld(t)
	p := url("a")
	p.Body, p.Header, p.Given = []byte("hello"), []Field{{"X-Name", "v"}}, GivenHeader
	id := w.publish(p)[0].ID
	a := w.one()
	if a.ID != id || a.Number != 1 || a.Retried != 0 || a.Content.URL != p.URL || string(a.Content.Body) != "hello" || Value(a.Content.Header, "x-name") != "v" {
		t.Fatalf("%+v %+v", a, a.Content)
	}
	w.none()
	if f := w.finish(a, 204); f.Stale || f.State != Delivered {
		t.Fatalf("%+v", f)
	}
	w.wantStates(id, "CREATED", "ACTIVE", "DELIVERED")
	if f := w.finish(a, 500); !f.Stale {
		t.Fatal("a second result of one attempt counted")
	}
	if at, ok := w.s.NextDue(env.At(w.now)); ok {
		t.Fatalf("something is due at %d", at)
	}
	if m, ok := w.s.Message(id, w.now+9_000); !ok || m.State != Delivered {
		t.Fatal("a delivered message can't be read")
	}
}

// TestFailWithoutRetries: exactly four events, and a dead letter.
func TestFailWithoutRetries(t *testing.T) {
	w := newWorld(t)
	p := url("a")
	p.Given = GivenRetries
	id := w.publish(p)[0].ID
	if f := w.finish(w.one(), 500); f.State != Failed {
		t.Fatalf("%+v", f)
	}
	w.wantStates(id, "CREATED", "ACTIVE", "ERROR", "FAILED")
	list, _, more := w.s.DeadLetters(nil, &Filter{}, Page{Limit: 10})
	if len(list) != 1 || more || list[0].Message.ID != id || list[0].Response.Status != 500 || string(list[0].Response.Body) != "answer" {
		t.Fatalf("%+v", list)
	}
}

// TestRetries: total deliveries are at most 1 + retries, each after the delay that the leader computed.
func TestRetries(t *testing.T) {
	w := newWorld(t)
	p := url("a")
	p.Given, p.Retries = GivenRetries, 2
	id := w.publish(p)[0].ID
	for i := range 2 {
		a := w.one()
		if a.Retried != i || a.Number != uint64(i+1) {
			t.Fatalf("attempt %d: %+v", i, a)
		}
		if f := w.finish(a, 0); f.State != Retry || f.Next != w.now+1000 {
			t.Fatalf("%+v", f)
		}
		w.now += 999
		w.none()
		if at, ok := w.s.NextDue(env.At(w.now)); !ok || at != w.now+1 {
			t.Fatalf("due %d %v", at, ok)
		}
		w.now++
	}
	if f := w.finish(w.one(), 503); f.State != Failed {
		t.Fatalf("%+v", f)
	}
	w.now += 1e9
	w.none()
	w.wantStates(id, "CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "ERROR", "FAILED")
}

// TestDefaultRetries: three, when the publisher names none.
func TestDefaultRetries(t *testing.T) {
	w := newWorld(t)
	w.publish(url("a"))
	n := 0
	for list := w.advance(1); len(list) == 1; list = w.advance(1) {
		w.finish(list[0], 500)
		w.now += 1000
		n++
	}
	if n != 4 {
		t.Fatalf("%d attempts, want 4", n)
	}
}

// TestNonRetryable: 489 with the header fails at once; one without the other does not.
func TestNonRetryable(t *testing.T) {
	for _, c := range []struct {
		status int
		header []Field
		want   State
	}{
		{489, []Field{{"upstash-nonretryable-error", "true"}}, Failed},
		{489, []Field{{"Svc-NonRetryable-Error", "true"}}, Failed},
		{489, nil, Retry},
		{488, []Field{{"Upstash-NonRetryable-Error", "true"}}, Retry},
		{301, nil, Retry},
		{299, nil, Delivered},
	} {
		w := newWorld(t)
		w.publish(url("a"))
		f := w.result(Result{AttemptRef: w.one().Ref(), Response: Response{Status: c.status, Header: c.header}})
		if f.State != c.want {
			t.Errorf("%d %v: %s, want %s", c.status, c.header, f.State, c.want)
		}
	}
}

// TestDelay: not before its time, which NextDue names; not-before wins over delay.
func TestDelay(t *testing.T) {
	w := newWorld(t)
	p := url("a")
	p.Given, p.Delay = GivenDelay, 5000
	id := w.publish(p)[0].ID
	w.none()
	if m, _ := w.s.Message(id, w.now); m.Content.FirstAt != w.now+5000 || m.Content.Created != w.now {
		t.Fatalf("%+v", m.Content)
	}
	w.now += 5000
	w.finish(w.one(), 200)
	p.Given, p.NotBefore = p.Given|GivenNotBefore, w.now+1000
	w.publish(p)
	if at, _ := w.s.NextDue(env.At(w.now)); at != w.now+1000 {
		t.Fatalf("due %d", at-w.now)
	}
}

// TestCancel: a waiting message is done at once, one that runs may still succeed, and what is done is not found.
func TestCancel(t *testing.T) {
	w := newWorld(t)
	p := url("a")
	p.Given, p.Delay = GivenDelay, 5000
	waits := w.publish(p)[0].ID
	cancel := func(id ID) (int, error) {
		out, err := w.s.Cancel(w.env(), Cancellation{IDs: []ID{id}, Strict: true})
		return out.Count, err
	}
	if n, err := cancel(waits); n != 1 || err != nil {
		t.Fatalf("%d %v", n, err)
	}
	w.wantStates(waits, "CREATED", "CANCEL_REQUESTED", "CANCELED")
	if _, err := cancel(waits); !errors.Is(err, ErrNotFound) {
		t.Fatalf("%v", err)
	}
	ids := []ID{w.publish(url("b"))[0].ID, w.publish(url("c"))[0].ID}
	list := w.advance(2)
	for i, want := range []string{"DELIVERED", "CANCELED"} {
		if n, err := cancel(ids[i]); n != 1 || err != nil {
			t.Fatalf("%d %v", n, err)
		}
		if n, err := cancel(ids[i]); n != 0 || err != nil {
			t.Fatalf("cancelled twice: %d %v", n, err)
		}
		w.finish(list[i], []int{200, 500}[i])
		if got := w.states(ids[i]); got[len(got)-1] != want {
			t.Fatalf("%v", got)
		}
	}
	if w.s.Counts().Dead != 0 {
		t.Fatal("a cancelled message is a dead letter")
	}
}
