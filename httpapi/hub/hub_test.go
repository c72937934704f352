package hub_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"trireme/fsm"
	"trireme/fsm/channel"
	"trireme/httpapi/httpapitest"
	"trireme/httpapi/hub"
)

// next waits for the next events of a subscription.
func next(t *testing.T, s *hub.Subscription) ([]hub.Event, error) {
	t.Helper()
	select {
	case <-s.Wake():
		return s.Take(nil)
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came")
		return nil, nil
	}
}

func execute(t *testing.T, e *httpapitest.Engine, words ...string) string {
	t.Helper()
	v, err := e.Exec(words...)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(v.Int())
}

// A subscription that the log does not take ends with the log's reason, and leaves no
// count behind, whether or not it was applied after all.
func TestFailingLog(t *testing.T) {
	for name, c := range map[string]struct {
		err     error
		applied bool
	}{"no leader": {fsm.ErrNoLeader, false}, "unknown, not applied": {fsm.ErrUnknown, false}} {
		t.Run(name, func(t *testing.T) {
			e := httpapitest.New()
			h := e.NewHub(t)
			e.FailWrites(c.err, c.applied)
			s := h.Subscribe("default")
			defer s.Close()
			s.Add(channel.Plain, "c")
			if events, err := next(t, s); !errors.Is(err, c.err) || len(events) != 0 {
				t.Fatalf("%v %v", events, err)
			}
			e.FailWrites(nil, false)
			again := h.Subscribe("default")
			again.Add(channel.Plain, "c")
			if events, err := next(t, again); err != nil || len(events) != 1 || !events[0].Confirmed {
				t.Fatalf("%v %v", events, err)
			}
			if n := execute(t, e, "PUBLISH", "c", "m"); n != "1" {
				t.Errorf("%s receivers", n)
			}
		})
	}
}

// An acknowledgement that is lost does no harm: the subscription stands in the log, and
// was seen there.
func TestLostAcknowledgement(t *testing.T) {
	e := httpapitest.New()
	h := e.NewHub(t)
	e.FailWrites(fsm.ErrUnknown, true)
	s := h.Subscribe("default")
	defer s.Close()
	s.Add(channel.Plain, "c")
	if events, err := next(t, s); err != nil || len(events) != 1 || !events[0].Confirmed {
		t.Fatalf("%v %v", events, err)
	}
	e.FailWrites(nil, false)
	if n := execute(t, e, "PUBLISH", "c", "m"); n != "1" {
		t.Errorf("%s receivers", n)
	}
	if events, err := next(t, s); err != nil || len(events) != 1 || events[0].Message != "m" {
		t.Errorf("%v %v", events, err)
	}
}

// A node that has taken over a snapshot has missed messages: its subscribers go.
func TestRestoredEndsSubscriptions(t *testing.T) {
	e := httpapitest.New()
	h := e.NewHub(t)
	s := h.Subscribe("default")
	defer s.Close()
	s.Add(channel.Plain, "c", "d")
	if events, err := next(t, s); err != nil || len(events) == 0 {
		t.Fatalf("%v %v", events, err)
	}
	h.Restored()
	for {
		if _, err := next(t, s); err != nil {
			if !errors.Is(err, hub.ErrGap) {
				t.Fatal(err)
			}
			break
		}
	}
	for end := time.Now().Add(10 * time.Second); execute(t, e, "PUBLISH", "c", "m") != "0"; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("still counted")
		}
	}
}

// Channels belong to a database, and go with it.
func TestDatabasesKeepTheirChannels(t *testing.T) {
	e := httpapitest.New()
	h := e.NewHub(t)
	tokens := fsm.DatabaseTokens{Name: "shop"}
	tokens.Standard[0], tokens.ReadOnly[0] = 1, 2
	if _, err := fsm.Do(t.Context(), e, fsm.CreateDatabase, tokens); err != nil {
		t.Fatal(err)
	}
	s := h.Subscribe("shop")
	defer s.Close()
	s.Add(channel.Pattern, "*")
	if events, err := next(t, s); err != nil || len(events) != 1 {
		t.Fatalf("%v %v", events, err)
	}
	if n := execute(t, e, "PUBLISH", "c", "of another database"); n != "0" {
		t.Errorf("%s receivers", n)
	}
	if _, err := fsm.Do(t.Context(), e, fsm.DeleteDatabase, fsm.DatabaseName{Name: "shop"}); err != nil {
		t.Fatal(err)
	}
	if events, err := next(t, s); !errors.Is(err, hub.ErrDeleted) || len(events) != 0 {
		t.Fatalf("%v %v", events, err)
	}
}

// A hub that closes leaves no count behind.
func TestCloseTellsTheLog(t *testing.T) {
	e := httpapitest.New()
	h, other := e.NewHub(t), e.NewHub(t)
	for _, s := range []*hub.Subscription{h.Subscribe("default"), other.Subscribe("default")} {
		s.Add(channel.Plain, "c")
		if _, err := next(t, s); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	h.Close(ctx)
	if n := execute(t, e, "PUBLISH", "c", "m"); n != "1" || ctx.Err() != nil {
		t.Errorf("%s receivers, %v", n, ctx.Err())
	}
	late := h.Subscribe("default")
	late.Add(channel.Plain, "c")
	if _, err := next(t, late); !errors.Is(err, hub.ErrClosed) {
		t.Error(err)
	}
}
