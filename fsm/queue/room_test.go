package queue

import (
	"bytes"
	"fmt"
	"github.com/trireme-dev/trireme/fsm/env"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// TestBodyOfAGroupIsThereOnce publishes a body to many endpoints: it counts once, is saved once, and is gone with the last of
// its messages.
func TestBodyOfAGroupIsThereOnce(t *testing.T) {
	w := newWorld(t)
	const endpoints, size = 50, 100_000
	var c GroupChange
	c.Name, c.Act = "g", ActAddEndpoints
	for i := range endpoints {
		c.Endpoints = append(c.Endpoints, Endpoint{URL: fmt.Sprint("http://example.com/", i)})
	}
	if _, err := w.s.ChangeGroup(w.env(), c); err != nil {
		t.Fatal(err)
	}
	before := w.s.Used()
	list := w.publish(Publication{Group: "g", Body: bytes.Repeat([]byte("b"), size)})
	if grown := w.s.Used() - before; grown > size+endpoints*1000 {
		t.Errorf("%d bytes for one body of %d", grown, size)
	}
	saved := 0
	for _, r := range records(t, w.s) {
		saved += len(r)
	}
	if saved > 2*size {
		t.Errorf("%d bytes are saved", saved)
	}
	again := restored(t, w.s)
	for _, s := range []*Store{w.s, again} {
		for _, m := range list {
			if got, ok := s.Message(m.ID, w.now); !ok || len(got.Content.Body) != size {
				t.Fatalf("a message has %d bytes", len(got.Content.Body))
			}
		}
	}
	if a, b := w.s.find(list[0].ID).body, w.s.find(list[endpoints-1].ID).body; a != b {
		t.Error("two messages have bodies of their own")
	}
	if a, b := again.find(list[0].ID).body, again.find(list[endpoints-1].ID).body; a != b {
		t.Error("two restored messages have bodies of their own")
	}
	for _, m := range list {
		if _, err := w.s.Cancel(w.env(), Cancellation{IDs: []ID{m.ID}}); err != nil {
			t.Fatal(err)
		}
	}
	for w.s.forgetEvent() {
	}
	if n, used := w.s.shared.Len(), w.s.Used(); n != 0 || used != before {
		t.Errorf("%d bodies are left, and %d bytes", n, used-before)
	}
}

// TestNoResultPassesTheRoom ends attempts with large answers in a store that has no room: what it counts stays within it, the
// outcome is told by a callback, and what that lacks is told too.
func TestNoResultPassesTheRoom(t *testing.T) {
	for _, status := range []int{200, 500} {
		w := newWorld(t)
		p := url("x")
		p.Body = bytes.Repeat([]byte("b"), 50_000)
		p.Given, p.Retries = GivenCallback|GivenFailure|GivenRetries, 3
		p.Callback, p.Failure = &Callback{URL: "http://example.com/callback"}, &Callback{URL: "http://example.com/failure"}
		const messages = 20
		for range messages {
			w.publish(p)
		}
		limit := w.s.counted() + 2000
		room := func() { w.s.SetRoom(limit - w.s.counted()) }
		lacks, callbacks := 0, 0
		for range 40 {
			room()
			list := w.s.Advance(w.env(), Demand{Term: w.term, Claims: 100})
			w.now += 1000
			for _, a := range list {
				room()
				code := status
				if a.Content.Source != (Source{}) {
					code = 200
					callbacks++
				}
				answer := Response{Status: code, Body: bytes.Repeat([]byte("a"), 9<<20)}
				if _, err := w.s.Finish(w.env(), Results{[]Result{{AttemptRef: a.Ref(), Response: answer}}}); err != nil {
					t.Fatal(err)
				}
				if now := w.s.counted(); now > limit {
					t.Fatalf("status %d: %d bytes are counted of %d", status, now, limit)
				}
				events, _, _ := w.s.Events(&Filter{IDs: []ID{a.ID}}, Page{Limit: 100})
				for _, v := range events {
					if strings.Contains(v.Error, "memory limit reached") {
						lacks++
					}
				}
			}
			w.s.SetRoom(Unlimited)
		}
		want := messages
		if status == 500 {
			want = 2 * messages // the callback after the last attempt, and the failure callback
		}
		if callbacks < want || lacks == 0 {
			t.Errorf("status %d: %d callbacks of %d were made, and %d say that they lack something", status, callbacks, want, lacks)
		}
	}
}

// TestTicksAskForRoom: a tick that has no room makes no messages and says why; the schedule goes on, and makes some when it has.
func TestTicksAskForRoom(t *testing.T) {
	w := newWorld(t)
	p := url("x")
	p.Body = bytes.Repeat([]byte("b"), payload.Apart-1)
	ref, err := w.s.PutSchedule(w.env(), SchedulePut{ID: "s", Cron: "@every 1s", Every: 1000, Publish: p})
	if err != nil {
		t.Fatal(err)
	}
	fire := func(room int64) Schedule {
		c, _ := w.s.Schedule(ref.ID)
		w.now = c.Next
		w.s.SetRoom(room)
		w.s.Advance(w.env(), Demand{Term: w.term, Ticks: []Tick{{Schedule: c.ID, Version: c.Version, Nominals: []int64{c.Next}, Next: c.Next + 1000}}})
		w.s.SetRoom(Unlimited)
		c, _ = w.s.Schedule(ref.ID)
		return c
	}
	if c := fire(100); w.s.Counts().Messages != 0 || !strings.Contains(c.Error, "memory limit reached") || c.Next <= w.now {
		t.Errorf("%d messages, %q", w.s.Counts().Messages, c.Error)
	}
	if c := fire(100_000); w.s.Counts().Messages != 1 || c.Error != "" {
		t.Errorf("%d messages, %q", w.s.Counts().Messages, c.Error)
	}
}

// TestTicksArePaced: an Advance does its share of ticks and leaves the rest, and where other databases wait, the next is made later.
func TestTicksArePaced(t *testing.T) {
	w := newWorld(t)
	c := GroupChange{Name: "g", Act: ActAddEndpoints}
	for i := range 1500 {
		c.Endpoints = append(c.Endpoints, Endpoint{URL: fmt.Sprint("http://example.com/", i)})
	}
	if _, err := w.s.ChangeGroup(w.env(), c); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if _, err := w.s.PutSchedule(w.env(), SchedulePut{ID: fmt.Sprint("s", i), Cron: "@every 1s", Every: 1000, Publish: Publication{Group: "g"}}); err != nil {
			t.Fatal(err)
		}
	}
	w.now += 1000
	rounds, before := 0, 0
	for made := 0; made < 8*1500; rounds++ {
		var ticks []Tick
		for _, c := range w.s.DueSchedules(env.At(w.now), 100) {
			ticks = append(ticks, Tick{Schedule: c.ID, Version: c.Version, Nominals: []int64{c.Next}, Next: c.Next + 100_000})
		}
		w.s.Advance(w.env(), Demand{Term: w.term, Ticks: ticks, Paced: true})
		made = w.s.Counts().Messages
		if made-before > 3000 || rounds > 20 {
			t.Fatalf("%d messages at once, in round %d", made-before, rounds)
		}
		if at, ok := w.s.NextDue(env.At(w.now)); made > before && made < 8*1500 && (!ok || w.s.schedules.ticksFrom <= w.now || len(w.s.DueSchedules(env.At(w.now), 100)) > 0) {
			t.Fatalf("the next ticks are due at %d, now it is %d", at, w.now)
		}
		before, w.now = made, max(w.now, w.s.schedules.ticksFrom)
	}
	if rounds < 4 {
		t.Errorf("%d rounds", rounds)
	}
}
