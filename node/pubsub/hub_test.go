package pubsub_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/node/pubsub"
)

// next waits for the next events of a subscription.
func next(t *testing.T, s *pubsub.Subscription) ([]pubsub.Event, error) {
	t.Helper()
	select {
	case <-s.Wake():
		return s.Take(nil)
	case <-time.After(time.Minute):
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

// TestFailedAnnouncement: a subscription whose announcement fails ends with the log's reason,
// and leaves no count, whether or not the announcement was applied.
func TestFailedAnnouncement(t *testing.T) {
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

// TestLostAcknowledgement: a subscription survives a lost acknowledgement, because its
// announcement was applied and this node has seen it.
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

// TestRestoredEndsSubscriptions: a node that installs a snapshot has missed messages, so it
// disconnects its subscribers.
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
			if !errors.Is(err, pubsub.ErrGap) {
				t.Fatal(err)
			}
			break
		}
	}
	for end := time.Now().Add(time.Minute); execute(t, e, "PUBLISH", "c", "m") != "0"; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("still counted")
		}
	}
}

// TestChannelsOfDatabases: channels belong to a database and are deleted with it.
func TestChannelsOfDatabases(t *testing.T) {
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
	if events, err := next(t, s); !errors.Is(err, pubsub.ErrDeleted) || len(events) != 0 {
		t.Fatalf("%v %v", events, err)
	}
}

// TestCloseWithdrawsCounts: a closed hub leaves no counts.
func TestCloseWithdrawsCounts(t *testing.T) {
	e := httpapitest.New()
	h, other := e.NewHub(t), e.NewHub(t)
	for _, s := range []*pubsub.Subscription{h.Subscribe("default"), other.Subscribe("default")} {
		s.Add(channel.Plain, "c")
		if _, err := next(t, s); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h.Close(ctx)
	if n := execute(t, e, "PUBLISH", "c", "m"); n != "1" || ctx.Err() != nil {
		t.Errorf("%s receivers, %v", n, ctx.Err())
	}
	late := h.Subscribe("default")
	late.Add(channel.Plain, "c")
	if _, err := next(t, late); !errors.Is(err, pubsub.ErrClosed) {
		t.Error(err)
	}
}
