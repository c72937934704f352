package main

import (
	"bytes"
	"context"
	"net"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/internal/testgate"
	"github.com/trireme-dev/trireme/node/pubsub"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestProcessPassesOnWhatReplacedTheState: a process whose state a snapshot has replaced tells it to the clients that track
// keys and to those that subscribe, who have missed the messages in between.
func TestProcessPassesOnWhatReplacedTheState(t *testing.T) {
	e := resptest.NewEngine(t, 1_700_000_000_000)
	hub := pubsub.New(pubsub.Options{Log: e})
	s, err := resp.New(resp.Options{Engine: e, Hub: hub})
	if err != nil {
		t.Fatal(err)
	}
	n := &process{hub: hub, resp: s}
	e.Machine.Hooks.Notifications, e.Machine.Hooks.Restored = n.notify, n.restored
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
		hub.Close(ctx)
		testgate.Receive(t, "the end of the server", served)
	})
	tracks, subscribes := resptest.Login(t, l.Addr().String()), resptest.Login(t, l.Addr().String())
	tracks.Do("HELLO", "3")
	tracks.Want("OK", "CLIENT", "TRACKING", "ON")
	tracks.Want("(nil)", "GET", "k")
	subscribes.Want("1) \"subscribe\"\n2) \"news\"\n3) (integer) 1", "SUBSCRIBE", "news")
	var snapshot bytes.Buffer
	if err := e.Machine.Fork().Write(&snapshot); err != nil {
		t.Fatal(err)
	}
	if err := e.Machine.Restore(&snapshot); err != nil {
		t.Fatal(err)
	}
	tracks.WantNext("1> \"invalidate\"\n2> (nil)")
	if !subscribes.Gone() {
		t.Error("a subscriber that has missed messages stays")
	}
}
