package queue

import (
	"errors"
	"fmt"
	"github.com/trireme-dev/trireme/fsm/env"
	"strings"
	"testing"
)

// TestNewTermTakesOver: claims of other terms are released at once, those of what is delivered one at a time at their
// lease's end and two seconds; a lost attempt counts as a retry, except the last one allowed, which is run again.
func TestNewTermTakesOver(t *testing.T) {
	w := newWorld(t)
	plain := url("plain")
	plain.Given, plain.Retries = GivenRetries, 1
	queued := url("queued")
	queued.Given, queued.Queue = GivenQueue, "q"
	flow := url("flow")
	flow.Given, flow.Flow = GivenFlow, &FlowControl{Key: "k", Parallelism: 1}
	ids := []ID{w.publish(plain)[0].ID, w.publish(queued)[0].ID, w.publish(flow)[0].ID}
	first := w.advance(10)
	if len(first) != 3 {
		t.Fatalf("%d claims", len(first))
	}
	w.now += 1000
	w.term++
	again := w.one()
	if again.ID != ids[0] || again.Number != 2 || again.Retried != 1 {
		t.Fatalf("%+v", again)
	}
	w.wantStates(ids[0], "CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE")
	for _, a := range first {
		if a.ID == ids[0] && !w.finish(a, 200).Stale {
			t.Fatal("a result of an attempt that was given up counted")
		}
	}
	if x, _ := w.s.Explain(ids[1], w.now); x.Reason != Orphaned || x.Next != w.now+Lease+LeaseMargin {
		t.Fatalf("%+v", x)
	}
	w.term++
	last := w.one() // the last attempt that is allowed was lost: it is run again
	if last.ID != ids[0] || last.Retried != 1 || last.Number != 3 {
		t.Fatalf("%+v", last)
	}
	if w.finish(last, 500).State != Failed {
		t.Fatal("more than 1 + retries attempts with an answer")
	}
	w.now += Lease + LeaseMargin - 1 // the leases began anew with the term
	w.none()
	w.now++
	if list := w.advance(10); len(list) != 2 {
		t.Fatalf("%d claims after the lease", len(list))
	}
}

// TestLateResultOfADeposedLeader: judged by the attempt's number alone.
func TestLateResultOfADeposedLeader(t *testing.T) {
	w := newWorld(t)
	p := url("a")
	p.Given, p.Queue = GivenQueue, "q"
	w.publish(p)
	a := w.one()
	w.term++
	w.none()
	if f := w.finish(a, 200); f.Stale || f.State != Delivered {
		t.Fatalf("%+v", f)
	}
}

// TestRenew: a renewed claim lasts, another one is given up at its lease's end; who renews must be its sender.
func TestRenew(t *testing.T) {
	w := newWorld(t)
	w.publish(url("a"))
	w.publish(url("b"))
	list := w.advance(10)
	w.now += 9_000
	out, err := w.s.Renew(w.env(), Renewal{Running: []AttemptRef{list[0].Ref(), {list[1].ID, 9}}})
	if err != nil || out.Lease != w.now+Lease || len(out.Lost) != 1 || out.Lost[0].ID != list[1].ID {
		t.Fatalf("%+v %v", out, err)
	}
	e := w.env()
	e.Session = 8
	if out, _ := w.s.Renew(e, Renewal{Running: []AttemptRef{list[0].Ref()}}); len(out.Lost) != 1 {
		t.Fatal("another session's claim was renewed")
	}
	w.now += 1_000
	if again := w.one(); again.ID != list[1].ID {
		t.Fatal("the wrong claim was given up")
	}
	if w.finish(list[0], 200).Stale {
		t.Fatal("a renewed claim was given up")
	}
}

// TestFlowControl: at most rate claims in a window, at most parallelism attempts at once, windows without gaps.
func TestFlowControl(t *testing.T) {
	w := newWorld(t)
	p := url("a")
	p.Given, p.Flow = GivenFlow, &FlowControl{Key: "k", Parallelism: 2, Rate: 3, Period: 1000}
	for range 10 {
		w.publish(p)
	}
	list := w.advance(10)
	if len(list) != 2 {
		t.Fatalf("%d attempts of parallelism 2", len(list))
	}
	if n, _ := w.s.FlowControlKey("k", w.now); n.Waiting != 8 || n.Active != 2 || n.Count != 2 || n.WindowStart != start {
		t.Fatalf("%+v", n)
	}
	w.finish(list[0], 200)
	third := w.one()
	w.finish(third, 200)
	w.finish(list[1], 200)
	w.now += 999
	w.none()
	if x, _ := w.s.ExplainFlow("k", w.now); x.Reason != FlowRate || x.Next != start+1000 {
		t.Fatalf("%+v", x)
	}
	if at, ok := w.s.NextDue(env.At(w.now)); !ok || at != start+1000 {
		t.Fatalf("due in %d", at-start)
	}
	w.now = start + 1700 // the next window began at 1000
	w.finish(w.advance(1)[0], 200)
	if n, _ := w.s.FlowControlKey("k", w.now); n.WindowStart != start+1000 || n.Count != 1 {
		t.Fatalf("%+v", n)
	}
	w.now = start + 2000
	n := 0
	for list := w.advance(10); len(list) > 0; list = w.advance(10) {
		for _, a := range list {
			w.finish(a, 200)
			n++
		}
	}
	if n != 3 {
		t.Fatalf("%d claims in a window of 3", n)
	}
}

// TestFlowControlActs: pause, pin, unpin, reset; the newest message's settings count unless pinned.
func TestFlowControlActs(t *testing.T) {
	w := newWorld(t)
	act := func(n FlowControlChange) FlowControlInfo {
		t.Helper()
		n.Key = "k"
		out, err := w.s.ChangeFlowControl(w.env(), n)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if _, err := w.s.ChangeFlowControl(w.env(), FlowControlChange{Key: "k", Act: ActResume}); err == nil {
		t.Fatal("an unknown key was resumed")
	}
	act(FlowControlChange{Act: ActPause})
	p := url("a")
	p.Given, p.Flow = GivenFlow, &FlowControl{Key: "k", Rate: 1, Period: 1000}
	id := w.publish(p)[0].ID
	w.publish(p)
	w.none()
	if x, _ := w.s.Explain(id, w.now); x.Reason != FlowPaused {
		t.Fatalf("%+v", x)
	}
	act(FlowControlChange{Act: ActResume})
	w.finish(w.one(), 200)
	w.none()
	if n := act(FlowControlChange{Act: ActResetRate}); n.Count != 0 || n.WindowStart != w.now {
		t.Fatalf("%+v", n)
	}
	w.finish(w.one(), 200)
	if n := act(FlowControlChange{Act: ActPin, Rate: 5, Period: 3000}); !n.PinnedRate || n.PinnedParallelism || n.Rate != 5 || n.Count != 0 {
		t.Fatalf("%+v", n)
	}
	p.Flow = &FlowControl{Key: "k", Rate: 9, Period: 1, Parallelism: 4}
	w.publish(p)
	if n, _ := w.s.FlowControlKey("k", w.now); n.Rate != 5 || n.Period != 3000 || n.Parallelism != 4 {
		t.Fatalf("%+v", n)
	}
	if n := act(FlowControlChange{Act: ActUnpin, Rate: 1}); n.PinnedRate || n.Rate != 5 {
		t.Fatalf("%+v", n)
	}
	w.finish(w.one(), 200)
	w.now += flowKept + 3000 + rounding
	if w.s.Sweep(w.env(), 10); w.s.flows.byNo.Len() != 0 || w.s.flows.idle.Len() != 0 {
		t.Fatal("a key that nobody uses is kept for ever")
	}
}

// TestFlowKeysTakeTurns: a key with a long wait list doesn't keep others from senders.
func TestFlowKeysTakeTurns(t *testing.T) {
	w := newWorld(t)
	for i := range 40 {
		p := url("a")
		p.Given, p.Flow = GivenFlow, &FlowControl{Key: []string{"many", "few"}[i/30], Rate: 1000}
		w.publish(p)
	}
	w.now++
	few := 0
	for range 10 {
		for _, a := range w.advance(2) {
			if a.Content.Flow.Key == "few" {
				few++
			}
		}
	}
	if few < 9 {
		t.Fatalf("%d of 20 attempts went to the second key", few)
	}
}

// TestHostShare: a slow host has its share of attempts; others are not kept waiting, and its own go on as attempts end.
func TestHostShare(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		w.publish(Publication{URL: "http://slow.example/"})
	}
	w.publish(Publication{URL: "http://USER@Fast.example:80/x"})
	list := w.s.Advance(w.env(), Demand{Term: 1, Claims: 10, HostShare: 2})
	if len(list) != 3 || list[2].Content.Host() != "fast.example:80" {
		t.Fatalf("%d attempts", len(list))
	}
	if _, ok := w.s.places.due.Get(Stamp{}); ok || w.s.places.parked.Len() != 3 {
		t.Fatalf("%d parked", w.s.places.parked.Len())
	}
	w.finish(list[0], 200)
	w.finish(list[1], 200)
	if list := w.s.Advance(w.env(), Demand{Term: 1, Claims: 10, HostShare: 2}); len(list) != 2 {
		t.Fatalf("%d attempts", len(list))
	}
	checkStore(t, w.s)
}

// TestSpareSenders: many slow hosts at once leave senders for another, and what was held back goes on as attempts end.
func TestSpareSenders(t *testing.T) {
	const senders = 64
	w := newWorld(t)
	for range 40 {
		for host := range 20 {
			w.publish(Publication{URL: fmt.Sprintf("http://slow%d.example/", host)})
		}
	}
	var running []Attempt
	claim := func() (n int) {
		list := w.s.Advance(w.env(), Demand{Term: 1, Claims: senders - len(running), HostShare: 6, KeepSendersFree: true})
		running = append(running, list...)
		return len(list)
	}
	for claim() > 0 {
	}
	if len(running) >= senders || len(running) < senders*3/4 {
		t.Fatalf("%d of %d senders are taken", len(running), senders)
	}
	w.publish(Publication{URL: "http://new.example/"})
	if n := claim(); n != 1 || running[len(running)-1].Content.Host() != "new.example" {
		t.Fatalf("%d attempts to a host that had none", n)
	}
	checkStore(t, w.s)
	done := 0
	for ; len(running) > 0; done++ {
		w.finish(running[0], 200)
		running = running[1:]
		claim()
	}
	if done != 40*20+1 {
		t.Fatalf("%d of %d delivered", done, 40*20+1)
	}
}

// TestRateOnABusyHost: while its host is full, the messages of a key are parked; its rate is used nevertheless, though
// messages of another key that can't go stand before them.
func TestRateOnABusyHost(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		w.publish(Publication{URL: "http://busy.example/plain"})
	}
	full := w.s.Advance(w.env(), Demand{Term: 1, Claims: 100, HostShare: 5})
	for _, f := range []FlowControl{{Key: "slow", Rate: 1, Period: day}, {Key: "fast", Rate: 20, Period: 1000}} {
		for range 200 {
			p := Publication{URL: "http://busy.example/rated"}
			p.Flow = &f
			w.publish(p)
		}
	}
	w.s.Advance(w.env(), Demand{Term: 1, Claims: 100, HostShare: 5}) // parks everything
	for _, a := range full {
		w.finish(a, 200)
	}
	for window := range 8 {
		claimed := 0
		for range 6 { // in each round the host's whole share ends
			list := w.s.Advance(w.env(), Demand{Term: 1, Claims: 100, HostShare: 5})
			if len(list) > 5 {
				t.Fatalf("%d attempts to one host", len(list))
			}
			for _, a := range list {
				if w.finish(a, 200); a.Content.Flow.Key == "fast" {
					claimed++
				}
			}
			w.now += 10
		}
		if claimed != 20 {
			t.Fatalf("%d claims in window %d, want 20", claimed, window)
		}
		w.now += 940
		checkStore(t, w.s)
	}
}

// TestHostLimits: a host that is spared has as few attempts as it is said to, and more as the limit rises.
func TestHostLimits(t *testing.T) {
	w := newWorld(t)
	for range 30 {
		w.publish(Publication{URL: "http://weak.example/"})
	}
	claimed := 0
	for _, c := range []struct{ most, want int }{{2, 2}, {2, 0}, {5, 3}, {1, 0}, {8, 3}} {
		list := w.s.Advance(w.env(), Demand{Term: 1, Claims: 100, HostShare: 20, Hosts: []HostLimit{{"weak.example", c.most}}})
		if claimed += len(list); len(list) != c.want {
			t.Fatalf("%d attempts with a limit of %d, want %d", len(list), c.most, c.want)
		}
	}
	checkStore(t, w.s)
}

// TestGlobalParallelism: never more attempts under way, and nothing is due until one ends.
func TestGlobalParallelism(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		w.publish(url("a"))
	}
	if _, err := w.s.SetParallelism(w.env(), Parallelism{2}); err != nil {
		t.Fatal(err)
	}
	list := w.advance(10)
	if limit, active := w.s.Parallel(); len(list) != 2 || limit != 2 || active != 2 {
		t.Fatal(len(list), limit, active)
	}
	if at, _ := w.s.NextDue(env.At(w.now)); at != w.now+Lease {
		t.Fatalf("due in %d", at-w.now)
	}
	w.finish(list[0], 200)
	w.one()
}

// TestSchedules: a tick fires once whoever proposes it, late ones as the misfire policy says, none while paused.
func TestSchedules(t *testing.T) {
	w := newWorld(t)
	put := func(p SchedulePut) Schedule {
		t.Helper()
		ref, err := w.s.PutSchedule(w.env(), p)
		if err != nil {
			t.Fatal(err)
		}
		c, _ := w.s.Schedule(ref.ID)
		return c
	}
	c := put(SchedulePut{Cron: "@every 1s", Every: 1000, Publish: url("tick")})
	if !strings.HasPrefix(c.ID, "scd_") || c.Next != start+1000 {
		t.Fatalf("%+v", c)
	}
	w.now += 1000
	if due := w.s.DueSchedules(env.At(w.now), 10); len(due) != 1 || due[0].ID != c.ID {
		t.Fatalf("%+v", due)
	}
	tick := Tick{Schedule: c.ID, Version: c.Version, Nominals: []int64{start + 1000}, Next: start + 2000}
	list := w.advance(10, tick, tick)
	if len(list) != 1 || list[0].Content.Schedule != c.ID {
		t.Fatalf("%d attempts", len(list))
	}
	if list := w.advance(10, tick); len(list) != 0 {
		t.Fatal("a tick was doubled")
	}
	if c, _ = w.s.Schedule(c.ID); c.Next != start+2000 || c.Last != start+1000 || c.Fired != start+1000 || len(c.Messages) != 1 || c.Messages[0].State != Created {
		t.Fatalf("%+v", c)
	}
	w.finish(list[0], 200)
	if c, _ = w.s.Schedule(c.ID); c.Messages[0].State != Delivered {
		t.Fatalf("%+v", c.Messages)
	}
	if _, err := w.s.ChangeSchedule(w.env(), ScheduleChange{c.ID, ActPause}); err != nil {
		t.Fatal(err)
	}
	w.now += 1000
	if list := w.advance(10, Tick{Schedule: c.ID, Version: c.Version, Nominals: []int64{start + 2000}, Next: start + 3000}); len(list) != 0 {
		t.Fatal("a paused schedule fired")
	}
	if c, _ = w.s.Schedule(c.ID); c.Next != start+3000 || !c.Paused {
		t.Fatalf("%+v", c)
	}
	over := put(SchedulePut{ID: c.ID, Cron: "* * * * *", Publish: url("over"), Next: w.now + 60_000})
	if over.Version == c.Version || len(over.Publish.Body) != 0 || over.Next != w.now+60_000 || w.s.schedules.ticks.Len()+w.s.schedules.times.Len() != 1 {
		t.Fatalf("%+v", over)
	}
	w.now += 60_000
	if list := w.advance(10, Tick{Schedule: c.ID, Version: c.Version, Nominals: []int64{over.Next}, Next: over.Next + 60_000}); len(list) != 0 {
		t.Fatal("a tick of an older form fired")
	}
	unplanned := put(SchedulePut{ID: "u", Cron: "x", Publish: url("u")})
	w.advance(1, Tick{Schedule: "u", Version: unplanned.Version, Nominals: nil, Next: w.now + 5})
	if c, _ := w.s.Schedule("u"); c.Next != w.now+5 {
		t.Fatalf("%+v", c)
	}
	if _, err := w.s.ChangeSchedule(w.env(), ScheduleChange{"u", ActDelete}); err != nil || w.s.schedules.ticks.Len()+w.s.schedules.times.Len() != 1 {
		t.Fatal(err)
	}
}

// TestMisfires: ticks up to 10 s late fire each; of older ones the policy decides.
func TestMisfires(t *testing.T) {
	now := int64(start)
	times := []int64{now - 30_000, now - 20_000, now - 10_000, now - 9_999, now}
	for policy, want := range map[Misfire][]int64{ // unordered: independent cases
		FireOnce: times[2:], FireAll: times, FireNone: times[3:],
	} {
		if got := policy.choose(times, now); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", policy, got, want)
		}
	}
	if got := FireOnce.choose(times[3:], now); len(got) != 2 {
		t.Errorf("%v", got)
	}
	if got := FireOnce.choose(nil, now); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestScheduleToAMissingGroup: the tick fails, and the schedule says why.
func TestScheduleToAMissingGroup(t *testing.T) {
	w := newWorld(t)
	w.s.ChangeGroup(w.env(), GroupChange{Name: "g", Act: ActAddEndpoints, Endpoints: []Endpoint{{URL: "http://a"}}})
	ref, err := w.s.PutSchedule(w.env(), SchedulePut{Every: 1000, Publish: Publication{Group: "g"}})
	if err != nil {
		t.Fatal(err)
	}
	w.s.ChangeGroup(w.env(), GroupChange{Name: "g", Act: ActDelete})
	w.now += 1000
	c, _ := w.s.Schedule(ref.ID)
	w.advance(10, Tick{Schedule: c.ID, Version: c.Version, Nominals: []int64{c.Next}, Next: c.Next + 1000})
	if c, _ = w.s.Schedule(ref.ID); c.Error != "topic g not found" || c.Next != start+2000 {
		t.Fatalf("%+v", c)
	}
}

// TestRetention: events go by age and by bytes, oldest first, and with their last event messages that are done; live
// messages and dead letters stay.
func TestRetention(t *testing.T) {
	w := newWorld(t)
	n := DefaultSettings()
	n.EventBytes, n.EventAge = 50_000, 100_000
	w.s.Configure(w.env(), n)
	late := url("late")
	late.Given, late.Delay = GivenDelay, 3_600_000
	waits := w.publish(late)[0].ID
	for range 300 {
		p := url("a")
		p.Body = make([]byte, 1000)
		w.publish(p)
		w.finish(w.one(), 200)
	}
	if w.s.memory.done > 60_000 || w.s.messages.Len() > 60 {
		t.Fatalf("%d bytes, %d messages", w.s.memory.done, w.s.messages.Len())
	}
	if _, ok := w.s.Message(waits, w.now); !ok {
		t.Fatal("a waiting message is gone")
	}
	dead := url("dead")
	dead.Given = GivenRetries
	failed := w.publish(dead)[0].ID
	w.finish(w.one(), 500)
	w.now += 100_000 + rounding
	if at, ok := w.s.NextSweep(); !ok || at > w.now {
		t.Fatalf("%d %v", at, ok)
	}
	for w.s.Sweep(w.env(), 10) > 0 {
	}
	if w.s.events.byNo.Len() != 0 || w.s.messages.Len() != 2 || w.s.memory.done != 0 {
		t.Fatalf("%d events, %d messages, %d bytes", w.s.events.byNo.Len(), w.s.messages.Len(), w.s.memory.done)
	}
	list, _, _ := w.s.DeadLetters(nil, &Filter{}, Page{Limit: 10})
	if len(list) != 1 || list[0].Message.ID != failed {
		t.Fatalf("%+v", list)
	}
	w.now += 7*day + rounding
	for w.s.Sweep(w.env(), 10) > 0 {
	}
	if w.s.dead.Len() != 0 || w.s.messages.Len() != 1 || w.s.memory.dead != 0 {
		t.Fatalf("%d dead letters, %d messages", w.s.dead.Len(), w.s.messages.Len())
	}
	checkStore(t, w.s)
}

// TestEventPages walks all pages in both orders: every event once.
func TestEventPages(t *testing.T) {
	w := newWorld(t)
	var ids []ID
	for i := range 10 {
		p := url(fmt.Sprint(i % 2))
		p.Given, p.Labels = GivenLabels, []string{fmt.Sprint(i % 2)}
		ids = append(ids, w.publish(p)[0].ID)
		w.finish(w.one(), 200)
		w.now++
	}
	for _, f := range []Filter{{}, {URLs: []string{"http://example.com/1"}}, {Labels: []string{"1"}}, {IDs: ids[3:5]}, {States: []State{Active}}, {From: start + 2, To: start + 4}} {
		sizes := map[bool]int{}
		for _, newest := range []bool{false, true} {
			seen, page := map[uint64]bool{}, Page{Limit: 4, Newest: newest}
			for more := true; more; {
				var list []EventInfo
				list, page.After, more = w.s.Events(&f, page)
				for i, v := range list {
					if seen[v.Seq] || i > 0 && (v.Seq < list[i-1].Seq) != newest {
						t.Fatalf("%+v: event %d twice or out of order", f, v.Seq)
					}
					seen[v.Seq] = true
				}
			}
			sizes[newest] = len(seen)
		}
		if sizes[true] != sizes[false] || sizes[true] == 0 {
			t.Errorf("%+v: %v", f, sizes)
		}
	}
	if list, _, more := w.s.Events(&Filter{}, Page{Limit: 30}); len(list) != 30 || more {
		t.Errorf("%d events, more %v: the last page has no cursor", len(list), more)
	}
	if list, _, more := w.s.Events(&Filter{IDs: []ID{{9, 9}}}, Page{Limit: 30}); len(list) != 0 || more {
		t.Error("events of an unknown message")
	}
}

// TestBulkCancel: filters choose by or within, and between; the count is exact.
func TestBulkCancel(t *testing.T) {
	w := newWorld(t)
	for i := range 6 {
		p := Publication{URL: fmt.Sprintf("http://h%d.example/p%d?x", i%2, i%3)}
		p.Given, p.Labels, p.Delay = GivenLabels|GivenDelay, []string{"a", fmt.Sprint(i)}, 1000
		w.publish(p)
	}
	for _, c := range []struct {
		f    Filter
		want int
	}{
		{Filter{Labels: []string{"nobody"}}, 0},
		{Filter{Hosts: []string{"h0.example"}, Paths: []string{"/p0"}}, 1},
		{Filter{Labels: []string{"1", "2"}}, 2},
		{Filter{From: start + 1}, 0},
		{Filter{}, 3},
		{Filter{}, 0},
	} {
		out, err := w.s.Cancel(w.env(), Cancellation{Filter: c.f})
		if err != nil || out.Count != c.want || out.More {
			t.Errorf("%+v: %+v, want %d", c.f, out, c.want)
		}
	}
	for range maxCancel + 5 {
		p := url("a")
		p.Given, p.Delay = GivenDelay, 1000
		w.publish(p)
	}
	total, after := 0, uint64(0)
	for more := true; more; {
		out, _ := w.s.Cancel(w.env(), Cancellation{After: after})
		total, after, more = total+out.Count, out.Last, out.More
	}
	if total != maxCancel+5 {
		t.Errorf("%d cancelled", total)
	}
	if out, _ := w.s.Cancel(w.env(), Cancellation{Limit: 3}); out.Count != 0 || out.More {
		t.Errorf("%+v", out)
	}
}

// TestRunSchedule: a schedule that is run by hand publishes once more, also while it is paused, and its ticks stay as they are.
func TestRunSchedule(t *testing.T) {
	w := newWorld(t)
	if _, err := w.s.RunSchedule(w.env(), ScheduleRef{"none"}); !errors.Is(err, ErrNotFound) {
		t.Fatalf("an unknown schedule: %v", err)
	}
	p := url("job")
	p.Body, p.DedupID = []byte("payload"), "same"
	if _, err := w.s.PutSchedule(w.env(), SchedulePut{ID: "s", Cron: "@every 1m", Every: 60_000, Publish: p}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.s.ChangeSchedule(w.env(), ScheduleChange{"s", ActPause}); err != nil {
		t.Fatal(err)
	}
	before, _ := w.s.Schedule("s")
	w.now += 5000
	for range 2 { // its deduplication id is that of the schedule, not of what it publishes
		out, err := w.s.RunSchedule(w.env(), ScheduleRef{"s"})
		if err != nil || len(out.Messages) != 1 || out.Messages[0].Deduplicated {
			t.Fatalf("%+v %v", out, err)
		}
		c, _ := w.s.Schedule("s")
		if !c.Paused || c.Next != before.Next || c.Last != before.Last || c.Version != before.Version || c.Fired != w.now || len(c.Messages) != 1 || c.Messages[0].ID != out.Messages[0].ID {
			t.Fatalf("before %+v, after %+v", before, c)
		}
		list := w.advance(10)
		if len(list) != 1 || list[0].Content.Schedule != "s" || string(list[0].Content.Body) != "payload" {
			t.Fatalf("%d attempts", len(list))
		}
		w.finish(list[0], 200)
		if c, _ = w.s.Schedule("s"); c.Messages[0].State != Delivered {
			t.Errorf("%+v", c.Messages)
		}
	}
}

// TestRunScheduleRefused: what can't be published is an error and leaves the schedule as it was.
func TestRunScheduleRefused(t *testing.T) {
	w := newWorld(t)
	if _, err := w.s.ChangeGroup(w.env(), GroupChange{Name: "g", Act: ActAddEndpoints, Endpoints: []Endpoint{{URL: "https://a.example/"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.s.PutSchedule(w.env(), SchedulePut{ID: "s", Cron: "@every 1m", Every: 60_000, Publish: Publication{Group: "g"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.s.ChangeGroup(w.env(), GroupChange{Name: "g", Act: ActDelete}); err != nil {
		t.Fatal(err)
	}
	before, _ := w.s.Schedule("s")
	if _, err := w.s.RunSchedule(w.env(), ScheduleRef{"s"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("without its group: %v", err)
	}
	if after, _ := w.s.Schedule("s"); after.Error != "" || after.Fired != before.Fired {
		t.Errorf("%+v", after)
	}
}

// TestFlowKeysWithSettingsAreRemembered: what an operator has set on a key, and messages that have it, keep it however long it is not
// used; without either it is forgotten.
func TestFlowKeysWithSettingsAreRemembered(t *testing.T) {
	waits := url("a")
	waits.Given, waits.Delay, waits.Flow = GivenFlow|GivenDelay, 7*day-1, &FlowControl{Key: "k", Parallelism: 1}
	for name, c := range map[string]struct {
		set, undo *FlowControlChange
	}{
		"paused":             {&FlowControlChange{Key: "k", Act: ActPause}, &FlowControlChange{Key: "k", Act: ActResume}},
		"pinned parallelism": {&FlowControlChange{Key: "k", Act: ActPin, Parallelism: 2}, &FlowControlChange{Key: "k", Act: ActUnpin}},
		"pinned rate":        {&FlowControlChange{Key: "k", Act: ActPin, Rate: 2, Period: 1000}, &FlowControlChange{Key: "k", Act: ActUnpin}},
		"a message waits":    {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			change := func(n *FlowControlChange) {
				t.Helper()
				if n == nil {
					return
				}
				if n.Act == ActUnpin { // both
					n.Parallelism, n.Rate = 1, 1
				}
				if _, err := w.s.ChangeFlowControl(w.env(), *n); err != nil {
					t.Fatal(err)
				}
			}
			var id ID
			if change(c.set); c.set == nil {
				id = w.publish(waits)[0].ID
			}
			was, _ := w.s.FlowControlKey("k", w.now)
			for range 3 {
				w.now += flowKept + 2*rounding
				w.s.Sweep(w.env(), 100)
			}
			if is, ok := w.s.FlowControlKey("k", w.now); !ok || is.Paused != was.Paused || is.PinnedParallelism != was.PinnedParallelism || is.PinnedRate != was.PinnedRate {
				t.Errorf("the key is %+v, %v; it was %+v", is, ok, was)
			}
			if change(c.undo); c.undo == nil {
				if _, err := w.s.Cancel(w.env(), Cancellation{IDs: []ID{id}}); err != nil {
					t.Fatal(err)
				}
			}
			w.now += flowKept + 2*rounding
			w.s.Sweep(w.env(), 100)
			if is, ok := w.s.FlowControlKey("k", w.now); ok {
				t.Errorf("a key that nothing needs is remembered: %+v", is)
			}
		})
	}
}
