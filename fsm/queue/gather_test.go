package queue

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
)

// gathered is a publication with a directive.
func gathered(t tb, directive, value string) Publication {
	t.Helper()
	p, err := configure(directive, value)
	if err != nil {
		t.Fatal(err)
	}
	p.URL = "http://example.com/x"
	return p
}

// TestGatherDirectives reads what may be said, and refuses everything else.
func TestGatherDirectives(t *testing.T) {
	for _, c := range [][3]string{
		{"Debounce", "key=k, delay=5s", "key=k, delay=5s"}, {"Debounce", " max-wait=1m,KEY=a=b,delay=1", "key=a=b, delay=1s, max-wait=60s"},
		{"Batch", "key=k", "key=k, size=100, wait=5s, bytes=1048576"}, {"Batch", "key=k,size=1000,wait=1h,bytes=1", "key=k, size=1000, wait=3600s, bytes=1"},
		{"Singleton", "mode=Attach, key=k", "key=k, mode=attach"},
	} {
		p, err := configure(c[0], c[1])
		if err != nil {
			t.Errorf("%s: %s: %v", c[0], c[1], err)
			continue
		}
		if name, value := p.Gather.Directive(); !strings.EqualFold(name, c[0]) || value != c[2] {
			t.Errorf("%s: %s is read as %s: %s", c[0], c[1], name, value)
		}
	}
	for _, c := range [][2]string{
		{"Debounce", "key=k"}, {"Debounce", "delay=5s"}, {"Debounce", "key=k,delay=0"}, {"Debounce", "key=k,delay=5s,size=3"}, {"Debounce", "k"},
		{"Debounce", "key=" + strings.Repeat("k", 257) + ",delay=5s"}, {"Debounce", "key=k\x01,delay=5s"},
		{"Batch", "size=3"}, {"Batch", "key=k,size=0"}, {"Batch", "key=k,size=1001"}, {"Batch", "key=k,bytes=8388609"}, {"Batch", "key=k,wait=soon"},
		{"Singleton", "key=k"}, {"Singleton", "mode=skip"}, {"Singleton", "key=k,mode=batch"}, {"Singleton", "key=k,mode"},
	} {
		if _, err := configure(c[0], c[1]); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %s: %v", c[0], c[1], err)
		}
	}
	if _, err := configure("Debounce", "key=k,delay=5s", "Batch", "key=k"); !errors.Is(err, ErrInvalid) {
		t.Errorf("two at once: %v", err)
	}
	p, err := configure("Callback", "http://c.example", "Callback-Batch", "key=k")
	if err != nil || p.Callback.Options.Gather != nil {
		t.Errorf("a callback gathers: %+v %v", p.Callback, err)
	}
}

// TestGatherRefusals refuses what contradicts itself, and everything below the level that knows it.
func TestGatherRefusals(t *testing.T) {
	w := newWorld(t)
	for _, change := range []func(*Publication){
		func(p *Publication) { p.Delay, p.Given = 1000, p.Given|GivenDelay },
		func(p *Publication) { p.NotBefore, p.Given = start+1000, p.Given|GivenNotBefore },
		func(p *Publication) { p.Gather.Wait = 0 },
		func(p *Publication) { p.Gather.Mode = gatherModes },
		func(p *Publication) {
			p.Gather = &Gather{Mode: SingletonSkip, Key: "k"}
			p.Queue, p.Given = "q", p.Given|GivenQueue
		},
	} {
		p := gathered(t, "Debounce", "key=k,delay=5s")
		change(&p)
		if err := w.refused(p); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", p.Options, err)
		}
	}
	w.level = env.Files - 1
	if err := w.refused(gathered(t, "Batch", "key=k")); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Text, "feature level") {
		t.Error(err)
	}
}

// TestDebounceTakesTheLast: one delivery of the last content, with the last options, after the delay.
func TestDebounceTakesTheLast(t *testing.T) {
	w := newWorld(t)
	p := gathered(t, "Debounce", "key=k,delay=5s,max-wait=8s")
	p.Body, p.Flow, p.Given = []byte(strings.Repeat("first", 1000)), &FlowControl{Key: "f", Rate: 1}, p.Given|GivenFlow
	first := w.publish(p)[0]
	w.now += 4_000
	p = gathered(t, "Debounce", "key=k,delay=5s,max-wait=8s")
	p.Body, p.Retries, p.Given = []byte("second"), 0, p.Given|GivenRetries
	second := w.publish(p)[0]
	if second.ID != first.ID || !second.Debounced || first.Debounced {
		t.Fatalf("%+v after %+v", second, first)
	}
	if f, _ := w.s.FlowControlKey("f", w.now); f.live != 0 {
		t.Errorf("the key of the content that was replaced counts %d messages", f.live)
	}
	other := gathered(t, "Debounce", "key=k,delay=5s")
	other.URL += "/other"
	if n := w.publish(other)[0]; n.Debounced {
		t.Error("another destination is debounced")
	}
	w.now += 3_999
	w.none()
	x, _ := w.s.Explain(first.ID, w.now)
	if x.Reason != Debounced || x.Gathered != 2 || x.Next != start+8_000 {
		t.Errorf("explained as %s, %+v", x.Reason, x)
	}
	w.now++ // max-wait
	a := w.one()
	if a.ID != first.ID || string(a.Content.Body) != "second" || a.Content.Created != start {
		t.Fatalf("delivers %s %q of %d", a.ID, a.Content.Body, a.Content.Created)
	}
	if n := w.publish(p)[0]; n.Debounced || n.ID == first.ID {
		t.Error("a message that is being delivered is debounced")
	}
	w.finish(a, 500)
	if d, _, _ := w.s.DeadLetters(nil, &Filter{}, Page{Limit: 1}); len(d) != 1 {
		t.Fatal("there is no dead letter")
	} else if out, err := w.s.RetryDead(w.env(), DeadRetry{DeadSelection: DeadSelection{Limit: 1}}); err != nil || len(out.Messages) != 1 {
		t.Fatalf("retried: %+v %v", out, err)
	}
	if a := w.one(); a.Content.Gather != nil || string(a.Content.Body) != "second" {
		t.Errorf("a dead letter gathers again: %+v", a.Content)
	}
}

// TestBatchDelivery brings the publications in their order, with what all have alike as its own, and is done as one.
func TestBatchDelivery(t *testing.T) {
	w := newWorld(t)
	var ids []ID
	for i, body := range []string{"one", "\xff\x00", `{"n":3}`} {
		p := gathered(t, "Batch", "key=k,size=3")
		p.Body, p.CallerIP = []byte(body), "192.0.2.1"
		p.Header, p.Given = []Field{{"Content-Type", "text/plain"}, {"X-All", "same"}, {"X-Own", fmt.Sprint(i)}}, p.Given|GivenHeader
		p.Labels = []string{"all", fmt.Sprint("own ", i)}
		got := w.publish(p)[0]
		ids = append(ids, got.ID)
		if got.Batch.IsZero() || got.Batch == got.ID {
			t.Fatalf("%+v", got)
		}
		if x, _ := w.s.Explain(got.ID, w.now); i < 2 && (x.Reason != Gathering || x.Gathered != i+1) {
			t.Errorf("explained as %s, %d", x.Reason, x.Gathered)
		}
	}
	strange := gathered(t, "Batch", "key=k,size=3")
	strange.Redact, strange.Given = &Redaction{Body: true}, strange.Given|GivenRedact
	w.publish(strange)
	a := w.one()
	const format = `{"messageId":"%s","createdAt":%d,"header":{"Content-Type":["text/plain"],"X-All":["same"],"X-Own":["0"]},"labels":["all","own 0"],"body":"one"}
{"messageId":"%s","createdAt":%[2]d,"header":{"Content-Type":["text/plain"],"X-All":["same"],"X-Own":["1"]},"labels":["all","own 1"],"bodyBase64":"/wA="}
{"messageId":"%[4]s","createdAt":%[2]d,"header":{"Content-Type":["text/plain"],"X-All":["same"],"X-Own":["2"]},"labels":["all","own 2"],"body":"{\"n\":3}"}
`
	want := fmt.Sprintf(format, ids[0], start, ids[1], ids[2])
	if string(a.Content.Body) != want {
		t.Errorf("the body is\n%swant\n%s", a.Content.Body, want)
	}
	if h := a.Content.Header; len(h) != 2 || h[0] != (Field{"Content-Type", batchType}) || h[1] != (Field{"X-All", "same"}) || a.Content.CallerIP != "" {
		t.Errorf("header %v", h)
	}
	if l := a.Content.Labels; len(l) != 1 || l[0] != "all" {
		t.Errorf("labels %v", l)
	}
	if _, err := w.s.Cancel(w.env(), Cancellation{IDs: ids[:1], Strict: true}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a publication that is being delivered is cancelled: %v", err)
	}
	w.finish(a, 200)
	for _, id := range ids {
		if m, ok := w.s.Message(id, w.now); !ok || m.ID != a.ID || m.State != Delivered {
			t.Errorf("%s is %+v", id, m)
		}
		if got := fmt.Sprint(w.states(id)); got != "[CREATED CREATED ACTIVE DELIVERED]" { // the batch's, and its own
			t.Errorf("events %s", got)
		}
	}
	if got := fmt.Sprint(w.states(a.ID)); got != "[CREATED CREATED CREATED CREATED ACTIVE DELIVERED]" {
		t.Errorf("events of the batch %s", got)
	}
	w.s.settings.EventAge = 1
	w.now += day
	for w.s.Sweep(w.env(), 100) > 0 {
	}
	if n := w.s.gathered.parts.Len(); n != 1 { // the strange one waits
		t.Errorf("%d publications are kept", n)
	}
}

// TestSingletonModes: one message of a key is live, whatever becomes of the others.
func TestSingletonModes(t *testing.T) {
	w := newWorld(t)
	mode := func(m string) Publication { return gathered(t, "Singleton", "key=k,mode="+m) }
	first := w.publish(mode("skip"))[0]
	if n := w.publish(mode("skip"))[0]; n.ID != first.ID || !n.Deduplicated || n.Attached {
		t.Errorf("skip: %+v", n)
	}
	if n := w.publish(mode("attach"))[0]; n.ID != first.ID || n.Deduplicated || !n.Attached {
		t.Errorf("attach: %+v", n)
	}
	second := w.publish(mode("queue"))[0]
	a := w.one()
	if x, _ := w.s.Explain(second.ID, w.now); a.ID != first.ID || x.Reason != BehindSingleton || x.Behind != first.ID {
		t.Errorf("claimed %s; the second is %s behind %s", a.ID, x.Reason, x.Behind)
	}
	w.finish(a, 500) // a retry holds the place
	w.none()
	third := w.publish(mode("cancel"))[0]
	for _, id := range []ID{first.ID, second.ID} {
		if m, _ := w.s.Message(id, w.now); m.State != Canceled {
			t.Errorf("%s is %s", id, m.State)
		}
	}
	a = w.one()
	if a.ID != third.ID {
		t.Fatalf("claimed %s, want %s", a.ID, third.ID)
	}
	fourth := w.publish(mode("cancel"))[0]
	w.none() // the attempt of the third is under way
	if n := w.publish(mode("skip"))[0]; n.ID != fourth.ID {
		t.Errorf("skip finds %s, which is to be cancelled", n.ID)
	}
	w.finish(a, 200)
	if n := w.publish(mode("skip"))[0]; n.ID != fourth.ID {
		t.Errorf("skip finds %s, though %s has its turn", n.ID, fourth.ID)
	}
	if a = w.one(); a.ID != fourth.ID {
		t.Errorf("claimed %s, want %s", a.ID, fourth.ID)
	}
	w.finish(a, 200)
	if w.s.queues.byNo.Len() != 0 || w.s.gathered.keys.Len() != 0 {
		t.Error("the key is kept for nothing")
	}
	if n := w.publish(mode("skip"))[0]; n.Deduplicated {
		t.Error("a message that is done is in the way")
	}
	for range MaxBehind {
		w.publish(mode("queue"))
	}
	if err := w.refused(mode("queue")); !errors.Is(err, ErrQuota) {
		t.Error(err)
	}
}

// pausing is a publication that pauses what it belongs to.
func pausing(queue, key string) Publication {
	p := url("x")
	p.OnFailure, p.Retries, p.Given = Pause, 1, GivenOnFailure|GivenRetries
	if queue != "" {
		p.Queue, p.Given = queue, p.Given|GivenQueue
	}
	if key != "" {
		p.Flow, p.Given = &FlowControl{Key: key, Parallelism: 1}, p.Given|GivenFlow
	}
	return p
}

// TestPauseAtTheEnd: the queue or the key stops, the message stays its first with all its retries, and what is resumed goes on with it.
func TestPauseAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		queue, key string
		resume     func(w *world) error
	}{
		{"q", "", func(w *world) error {
			_, err := w.s.ChangeQueue(w.env(), QueueChange{Name: "q", Act: ActResume})
			return err
		}},
		{"q", "k", func(w *world) error {
			_, err := w.s.ChangeQueue(w.env(), QueueChange{Name: "q", Act: ActResume})
			return err
		}},
		{"", "k", func(w *world) error {
			_, err := w.s.ChangeFlowControl(w.env(), FlowControlChange{Key: "k", Act: ActResume})
			return err
		}},
	} {
		w := newWorld(t)
		p := pausing(c.queue, c.key)
		p.Callback = &Callback{URL: "http://c.example/each"}
		p.Failure, p.Given = &Callback{URL: "http://c.example/failed"}, p.Given|GivenFailure|GivenCallback
		first := w.publish(p)[0].ID
		for round := range 2 {
			for range 2 {
				w.now += 1000
				for _, a := range w.advance(10) {
					if a.ID != first {
						w.finish(a, 200) // a callback
					} else if f := w.finish(a, 500); f.State != Retry {
						t.Fatalf("round %d: %+v", round, f)
					}
				}
			}
			second := w.publish(pausing(c.queue, c.key))[0].ID
			failures := 0
			for _, a := range w.advance(10) {
				if a.Content.URL == "http://c.example/failed" {
					failures++
					if !strings.Contains(string(a.Content.Body), `"paused":"2 attempts have failed`) || strings.Contains(string(a.Content.Body), "dlqId") {
						t.Errorf("the failure callback says %s", a.Content.Body)
					}
				}
				w.finish(a, 200)
			}
			if failures != 1 || w.s.Stopped() != 1 {
				t.Errorf("%+v, round %d: %d failure callbacks, %d stopped", c, round, failures, w.s.Stopped())
			}
			w.now += day
			w.none()
			if x, _ := w.s.Explain(first, w.now); x.Reason != Stopped {
				t.Errorf("the first is %s", x.Reason)
			}
			if x, _ := w.s.Explain(second, w.now); x.Reason != QueuePaused && x.Reason != FlowPaused || x.Behind != first {
				t.Errorf("the second is %s behind %s", x.Reason, x.Behind)
			}
			w.s = restored(t, w.s)
			if out, err := w.s.Cancel(w.env(), Cancellation{IDs: []ID{second}}); err != nil || out.Count != 1 {
				t.Fatal(out, err)
			}
			if err := c.resume(w); err != nil || w.s.Stopped() != 0 {
				t.Fatalf("resumed: %v, %d stopped", err, w.s.Stopped())
			}
		}
		a := w.one()
		if a.ID != first || a.Retried != 0 {
			t.Fatalf("goes on with %s, retried %d", a.ID, a.Retried)
		}
		w.finish(a, 200)
		for _, a := range w.advance(10) {
			w.finish(a, 200)
		}
		if m, _ := w.s.Message(first, w.now); m.State != Delivered {
			t.Errorf("the first is %s", m.State)
		}
	}
	w := newWorld(t)
	if err := w.refused(pausing("", "")); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}

// TestPauseStopsWhatIsNext: of what is paused, neither a message that is due nor one that is tried again later is delivered before it is resumed.
func TestPauseStopsWhatIsNext(t *testing.T) {
	for _, queued := range []bool{true, false} {
		w := newWorld(t)
		queue, key := "q", ""
		resume := func() error {
			_, err := w.s.ChangeQueue(w.env(), QueueChange{Name: "q", Act: ActResume})
			return err
		}
		if !queued {
			queue, key = "", "k"
			resume = func() error {
				_, err := w.s.ChangeFlowControl(w.env(), FlowControlChange{Key: "k", Act: ActResume})
				return err
			}
		} else if _, err := w.s.ChangeQueue(w.env(), QueueChange{Name: "q", Act: ActPut, Parallelism: 3}); err != nil {
			t.Fatal(err)
		}
		var want []ID
		for i := range 3 {
			p := pausing(queue, key)
			if p.Retries = min(i, 1); p.Flow != nil {
				p.Flow.Parallelism = 3
			}
			want = append(want, w.publish(p)[0].ID)
		}
		list := w.advance(2)
		if len(list) != 2 || list[0].ID != want[0] {
			t.Fatalf("%d attempts", len(list))
		}
		w.finish(list[1], 500) // it is tried again
		w.finish(list[0], 500)
		if w.s.Stopped() != 1 {
			t.Fatal("nothing is paused")
		}
		w.none()
		w.now += day
		w.none()
		if err := resume(); err != nil {
			t.Fatal(err)
		}
		var got []ID
		for _, a := range w.advance(10) {
			got = append(got, a.ID)
		}
		if slices.SortFunc(got, func(a, b ID) int { return cmp.Compare(a.Seq, b.Seq) }); !slices.Equal(got, want) {
			t.Errorf("resumed it delivers %v, want %v", got, want)
		}
	}
}

// TestBatchesInVolumes finds the events of a publication, and its batch, after they have gone into volumes.
func TestBatchesInVolumes(t *testing.T) {
	w := newWorld(t)
	w.s.Raise(env.Files)
	parts := map[ID]ID{}
	for range 402 {
		got := w.publish(gathered(t, "Batch", "key=k,size=7"))[0]
		parts[got.ID] = got.Batch
	}
	var cancelled ID
	for id, batch := range parts { // unordered: any that waits
		if m := w.s.find(batch); m.at > w.now {
			cancelled = id
		}
	}
	if out, err := w.s.Cancel(w.env(), Cancellation{IDs: []ID{cancelled}}); err != nil || out.Count != 1 {
		t.Fatal(out, err)
	}
	w.now += 10_000
	for list := w.advance(50); len(list) > 0; list = w.advance(50) {
		for _, a := range list {
			w.finish(a, 200)
		}
	}
	w.now += 10 * minute
	for w.s.Sweep(w.env(), 1000) > 0 {
	}
	if w.s.events.past.Len() == 0 || w.s.gathered.parts.Len() == len(parts) {
		t.Fatalf("%d volumes, %d publications are kept", w.s.events.past.Len(), w.s.gathered.parts.Len())
	}
	w.s = restored(t, w.s)
	for id, batch := range parts {
		own := 0
		events, _, _ := w.s.Events(&Filter{IDs: []ID{id}}, Page{Limit: 1000})
		for _, v := range events {
			switch {
			case v.ID == id && v.Batch == batch:
				own++
			case v.ID != batch || !v.Batch.IsZero():
				t.Fatalf("the events of %s have one of %s in %s", id, v.ID, v.Batch)
			}
		}
		want, last := 1, Delivered
		if id == cancelled {
			want = 2
		}
		if n := len(events); own != want || events[n-1].State != last {
			t.Fatalf("%s in %s has %d events, %d of its own, the last %s", id, batch, n, own, events[n-1].State)
		}
	}
	list, _, _ := w.s.Events(&Filter{}, Page{Limit: 1000, Last: true})
	for _, v := range list {
		if !v.Batch.IsZero() || v.State != Delivered {
			t.Errorf("the last event of %s is %s of %s", v.ID, v.State, v.Batch)
		}
	}
}
