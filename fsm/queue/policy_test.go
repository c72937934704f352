package queue

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestQueueInOrder: with parallelism 1 the next message is attempted after the one before is done, retries included,
// and after its callbacks.
func TestQueueInOrder(t *testing.T) {
	w := newWorld(t)
	p := url("1")
	p.Given, p.Queue, p.Retries = GivenQueue|GivenRetries|GivenCallback, "q", 1
	p.Callback = &Callback{URL: "http://c.example/", Options: Options{Given: GivenRetries}}
	w.publish(p)
	second := url("2")
	second.Given, second.Queue = GivenQueue, "q"
	next := w.publish(second)[0].ID
	a := w.one()
	w.none()
	w.finish(a, 500)
	w.finish(w.one(), 200) // the callback of the first attempt
	if x, _ := w.s.Explain(next, w.now); x.Reason != BehindOthers || x.Behind != a.ID || x.Ahead != 1 {
		t.Fatalf("%+v", x)
	}
	if x, _ := w.s.Explain(a.ID, w.now); x.Reason != Backoff || x.Next != w.now+1000 || x.Last.Response.Status != 500 {
		t.Fatalf("%+v", x)
	}
	w.none() // the head keeps its place during backoff
	w.now += 1000
	w.finish(w.one(), 200)
	if n, _ := w.s.Queue("q"); n.Lag != 1 || n.Active != 0 {
		t.Fatalf("%+v", n)
	}
	callback := w.one()
	if callback.Content.URL != "http://c.example/" {
		t.Fatal("the next message did not wait for the callback")
	}
	if x, _ := w.s.Explain(next, w.now); x.Reason != AwaitsCallbacks || x.Behind != a.ID {
		t.Fatalf("%+v", x)
	}
	w.finish(callback, 500)
	if last := w.one(); last.ID != next {
		t.Fatal("not the next message")
	}
}

// TestQueueParallelism: the oldest n are in progress; more slots take effect at once.
func TestQueueParallelism(t *testing.T) {
	w := newWorld(t)
	change := func(n QueueChange) Queue {
		t.Helper()
		n.Name = "q"
		q, err := w.s.ChangeQueue(w.env(), n)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	change(QueueChange{Parallelism: 2})
	for i := range 5 {
		p := url(fmt.Sprint(i))
		p.Given, p.Queue = GivenQueue, "q"
		w.publish(p)
	}
	list := w.advance(10)
	if len(list) != 2 || !strings.HasSuffix(list[0].Content.URL, "/0") || !strings.HasSuffix(list[1].Content.URL, "/1") {
		t.Fatalf("%v", list)
	}
	change(QueueChange{Act: ActPause})
	w.finish(list[0], 500)
	w.now += 5000
	w.none()
	if x, _ := w.s.Explain(list[0].ID, w.now); x.Reason != QueuePaused {
		t.Fatalf("%+v", x)
	}
	w.finish(list[1], 200)
	if n, _ := w.s.Queue("q"); n.Lag != 4 || !n.Paused || n.Parallelism != 2 {
		t.Fatalf("%+v", n)
	}
	change(QueueChange{Parallelism: 3})
	list = w.advance(10)
	if len(list) != 3 || !strings.HasSuffix(list[0].Content.URL, "/0") {
		t.Fatalf("resume does not start at the oldest: %v", list)
	}
	change(QueueChange{Act: ActDelete})
	for _, a := range list {
		w.finish(a, 500)
	}
	w.now += 5000
	w.none()
	if _, ok := w.s.Queue("q"); ok || w.s.Sweep(w.env(), 10) != 0 || w.s.queues.byNo.Len() != 0 {
		t.Fatal("the queue is still there")
	}
}

// TestQuotas: the limits of settings answer with the quota's name.
func TestQuotas(t *testing.T) {
	w := newWorld(t)
	n := DefaultSettings()
	n.MaxRetries, n.MaxDelay, n.MaxMessage, n.MaxParallelism, n.MaxQueues = 5, 60_000, 10, 4, 1
	n.MaxGroups, n.MaxEndpoints, n.MaxSchedules = 1, 1, 1
	if _, err := w.s.Configure(w.env(), n); err != nil {
		t.Fatal(err)
	}
	for want, p := range map[string]Publication{ // unordered: independent cases
		"maxRetries":     {Options: Options{Given: GivenRetries, Retries: 6}},
		"maxDelay":       {Options: Options{Given: GivenDelay, Delay: 60_001}},
		"maxMessageSize": {Body: make([]byte, 11)},
		"maxParallelism": {Options: Options{Given: GivenFlow, Flow: &FlowControl{Key: "k", Parallelism: 5}}},
	} {
		p.URL = "http://example.com"
		if err := w.refused(p); !errors.Is(err, ErrQuota) || err.Text != "quota "+want+" exceeded" {
			t.Errorf("%s: %v", want, err)
		}
	}
	w.s.ChangeQueue(w.env(), QueueChange{Name: "q"})
	if _, err := w.s.ChangeQueue(w.env(), QueueChange{Name: "r"}); !errors.Is(err, ErrQuota) {
		t.Error(err)
	}
	if _, err := w.s.ChangeQueue(w.env(), QueueChange{Name: "q", Parallelism: 2}); err != nil {
		t.Error("an existing queue can't be updated at the limit:", err)
	}
	p := url("a")
	p.Given, p.Queue = GivenQueue, "r"
	if err := w.refused(p); err.Text != "quota maxQueues exceeded" {
		t.Error(err)
	}
	two := []Endpoint{{URL: "http://a"}, {URL: "http://b"}}
	if _, err := w.s.ChangeGroup(w.env(), GroupChange{Name: "g", Act: ActAddEndpoints, Endpoints: two}); !errors.Is(err, ErrQuota) {
		t.Error(err)
	}
	if _, ok := w.s.Group("g"); ok {
		t.Error("a refused operation has changed something")
	}
}

// TestInvalid: what can't be right is refused with the field's name.
func TestInvalid(t *testing.T) {
	w := newWorld(t)
	for _, p := range []Publication{
		{},
		{URL: "http://a", DedupID: "a:b"},
		{URL: "http://a", Options: Options{Queue: "a/b"}},
		{URL: "http://a", Options: Options{Retries: -1}},
		{URL: "http://a", Options: Options{Flow: &FlowControl{}}},
		{URL: "http://a", Options: Options{Flow: &FlowControl{Key: "k", Period: MaxPeriod + 1}}},
	} {
		if err := w.refused(p); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if err := w.refused(Publication{Group: "none"}); err.Text != "topic none not found" || !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if len(records(t, w.s)) != 1 {
		t.Error("a refused publication has left something")
	}
}

// TestGroups: one independent message for each endpoint, with the group's default configuration.
func TestGroups(t *testing.T) {
	w := newWorld(t)
	change := func(n GroupChange) Group {
		t.Helper()
		n.Name = "g"
		g, err := w.s.ChangeGroup(w.env(), n)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	change(GroupChange{Act: ActAddEndpoints, Endpoints: []Endpoint{{"first one", "http://a"}, {"", "http://b"}}})
	change(GroupChange{Act: ActAddEndpoints, Endpoints: []Endpoint{{"", "http://b"}, {"first one", "http://c"}}})
	g := change(GroupChange{Act: ActSetHeaders, Header: []Field{{"Upstash-Retries", "0"}}, Options: Options{Given: GivenRetries}})
	if len(g.Endpoints) != 2 || g.Endpoints[0] != (Endpoint{"first one", "http://c"}) || g.Endpoints[1].URL != "http://b" {
		t.Fatalf("%+v", g)
	}
	for _, name := range []string{"g", g.ID} {
		list := w.publish(Publication{Group: name, DedupID: name, Body: []byte("x")})
		if len(list) != 2 || list[0].URL != "http://c" || list[1].URL != "http://b" || list[0].ID == list[1].ID {
			t.Fatalf("%+v", list)
		}
		again := w.publish(Publication{Group: name, DedupID: name})
		if !again[0].Deduplicated || again[1].ID != list[1].ID {
			t.Fatalf("%+v", again)
		}
	}
	a := w.advance(1)[0]
	if a.Content.Group != "g" || a.Content.Endpoint != "first one" || w.finish(a, 500).State != Failed {
		t.Fatalf("%+v", a.Content)
	}
	p := Publication{Group: "g", Options: Options{Given: GivenRetries, Retries: 2}}
	if m, _ := w.s.Message(w.publish(p)[0].ID, w.now); m.Content.Retries != 2 {
		t.Fatal("the request's own header does not win")
	}
	change(GroupChange{Act: ActRemoveEndpoints, Endpoints: []Endpoint{{URL: "http://b"}}})
	change(GroupChange{Act: ActRemoveEndpoints, Endpoints: []Endpoint{{Name: "first one"}}})
	if _, ok := w.s.Group(g.ID); ok {
		t.Fatal("a group without endpoints is left")
	}
	change(GroupChange{Act: ActDelete}) // no error
	if _, err := w.s.ChangeGroup(w.env(), GroupChange{Name: "g", Act: ActRemoveEndpoints}); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
}

// TestDeduplication: by id and by content, within the window, which duplicates don't prolong and delivery doesn't end.
func TestDeduplication(t *testing.T) {
	w := newWorld(t)
	p := url("a")
	p.DedupID = "x"
	id := w.publish(p)[0].ID
	w.finish(w.one(), 200)
	w.now += 10*minute - 1
	p.URL = "http://elsewhere"
	if again := w.publish(p)[0]; !again.Deduplicated || again.ID != id {
		t.Fatalf("%+v", again)
	}
	w.now++
	if again := w.publish(p)[0]; again.Deduplicated {
		t.Fatal("the window has not ended")
	}
	c := url("c")
	c.ContentDedup, c.Body, c.Header = true, []byte("x"), []Field{{"A", "b"}}
	first := w.publish(c)[0]
	if again := w.publish(c)[0]; again.ID != first.ID || !again.Deduplicated {
		t.Fatalf("%+v", again)
	}
	for _, change := range []func(*Publication){
		func(p *Publication) { p.Body = []byte("y") },
		func(p *Publication) { p.Header = []Field{{"A", "c"}} },
		func(p *Publication) { p.URL += "x" },
	} {
		other := c
		if change(&other); w.publish(other)[0].Deduplicated {
			t.Fatalf("%+v is no duplicate", other)
		}
	}
	w.now += 10*minute + 10_000
	if w.s.Sweep(w.env(), 100); w.s.dedups.byKey.Len() != 0 {
		t.Fatal("ids are kept for ever")
	}
}

// TestCallbacks: one after every attempt and the failure callback at the end, with everything clients read.
func TestCallbacks(t *testing.T) {
	w := newWorld(t)
	p := url("a?b=1")
	p.Body, p.CallerIP = []byte("in \x00"), "10.0.0.1"
	p.Options = Options{
		Given: GivenRetries | GivenCallback | GivenFailure | GivenHeader, Retries: 1, Header: []Field{{"x-a", "1"}, {"X-A", "\"2\""}},
		Callback: &Callback{URL: "http://c.example/cb", Options: Options{Given: GivenHeader, Header: []Field{{"X-Forwarded", "y"}}}},
		Failure:  &Callback{URL: "http://c.example/f", Options: Options{Given: GivenRetries | GivenMethod, Method: "PUT"}},
	}
	id := w.publish(p)[0].ID
	read := func(a Attempt) map[string]any {
		t.Helper()
		var body map[string]any
		if err := json.Unmarshal(a.Content.Body, &body); err != nil {
			t.Fatalf("%v: %s", err, a.Content.Body)
		}
		return body
	}
	w.result(Result{AttemptRef: w.one().Ref(), Response: Response{Status: 500, Header: []Field{{"A", "b"}}, Body: []byte("out")}})
	list := w.advance(10)
	if len(list) != 2 {
		t.Fatalf("%d attempts", len(list))
	}
	cb := list[1]
	if list[0].ID != id {
		cb = list[0]
	}
	body := read(cb)
	want := map[string]any{
		"status": 500.0, "header": map[string]any{"A": []any{"b"}}, "body": base64.StdEncoding.EncodeToString([]byte("out")),
		"maxRetries": 1.0, "sourceMessageId": id.String(), "url": p.URL, "method": "POST",
		"sourceHeader": map[string]any{"X-A": []any{"1", "\"2\""}}, "sourceBody": base64.StdEncoding.EncodeToString(p.Body),
		"notBefore": float64(start), "createdAt": float64(start), "callerIP": "10.0.0.1",
	}
	if fmt.Sprint(body) != fmt.Sprint(want) {
		t.Fatalf("have %v\nwant %v", body, want)
	}
	if c := cb.Content; c.URL != "http://c.example/cb" || c.Retries != 1 || Value(c.Header, "content-type") != "application/json" || Value(c.Header, "X-Forwarded") != "y" {
		t.Fatalf("%+v", c)
	}
	w.finish(cb, 200)
	second := list[0]
	if second.ID != id {
		second = list[1]
	}
	w.result(Result{AttemptRef: second.Ref(), Error: "connection refused"})
	dead, _, _ := w.s.DeadLetters(nil, &Filter{}, Page{Limit: 10})
	if len(dead) != 1 || dead[0].Callback.State != CallbackInProgress || dead[0].Error != "connection refused" {
		t.Fatalf("%+v", dead)
	}
	for _, a := range w.advance(10) {
		body := read(a)
		if body["retried"] != 1.0 || body["status"] != 0.0 || body["error"] != "connection refused" {
			t.Fatalf("%v", body)
		}
		if a.Content.URL == "http://c.example/f" {
			if body["dlqId"] != dead[0].Stamp.String() || a.Content.Method != "PUT" || a.Content.Retries != 0 {
				t.Fatalf("%v %+v", body, a.Content)
			}
			w.finish(a, 404)
			continue
		}
		if _, has := body["dlqId"]; has {
			t.Fatal("dlqId on a callback that is no failure callback")
		}
		w.finish(a, 200)
	}
	d, _ := w.s.DeadLetter(dead[0].Stamp)
	if d.Callback.State != CallbackFail || d.Callback.Response.Status != 404 {
		t.Fatalf("%+v", d.Callback)
	}
}

// TestDeadLetters: retried as new messages with the original configuration, but for what the retry names.
func TestDeadLetters(t *testing.T) {
	w := newWorld(t)
	p := url("a")
	p.Given, p.Body, p.Labels, p.RetryDelay = GivenRetries|GivenLabels|GivenRetryDelay, []byte("b"), []string{"l"}, "1000"
	old := w.publish(p)[0].ID
	w.finish(w.one(), 500)
	p.Labels = []string{"m"}
	w.publish(p)
	w.finish(w.one(), 404)
	list, _, _ := w.s.DeadLetters(nil, &Filter{}, Page{Limit: 10, Newest: true})
	if len(list) != 2 || list[1].Message.ID != old {
		t.Fatalf("%+v", list)
	}
	first := list[1].Stamp
	out, err := w.s.RetryDead(w.env(), DeadRetry{DeadSelection{IDs: []Stamp{first}, Strict: true}, Options{Given: GivenRetries, Retries: 7}})
	if err != nil || len(out.Messages) != 1 || out.Messages[0].ID == old {
		t.Fatalf("%+v %v", out, err)
	}
	m, _ := w.s.Message(out.Messages[0].ID, w.now)
	if c := m.Content; string(c.Body) != "b" || c.Retries != 7 || c.Labels[0] != "l" || c.RetryDelay != "1000" {
		t.Fatalf("%+v", m.Content)
	}
	if _, err := w.s.RetryDead(w.env(), DeadRetry{DeadSelection: DeadSelection{IDs: []Stamp{first}, Strict: true}}); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
	if out, err := w.s.DeleteDead(w.env(), DeadSelection{Filter: Filter{Statuses: []int{500}}}); out.Count != 0 || err != nil {
		t.Fatal(out, err)
	}
	if out, err := w.s.DeleteDead(w.env(), DeadSelection{IDs: []Stamp{first}}); out.Count != 0 || err != nil {
		t.Fatal("a missing id is skipped:", out, err)
	}
	if out, _ := w.s.DeleteDead(w.env(), DeadSelection{Filter: Filter{Labels: []string{"x", "m"}}}); out.Count != 1 || out.More {
		t.Fatal(out)
	}
}

// TestPublicationToALargeGroupIsRefused: a request makes a bounded number of messages, counted over all of its publications,
// and is refused with the number before any is made.
func TestPublicationToALargeGroupIsRefused(t *testing.T) {
	w := newWorld(t)
	grow := func(name string, from, to int) {
		c := GroupChange{Name: name, Act: ActAddEndpoints}
		for i := from; i < to; i++ {
			c.Endpoints = append(c.Endpoints, Endpoint{URL: fmt.Sprintf("http://%s%d/", name, i)})
		}
		if _, err := w.s.ChangeGroup(w.env(), c); err != nil {
			t.Fatal(err)
		}
	}
	grow("half", 0, 101)
	grow("large", 0, 200)
	items := make([]Publication, 101)
	for i := range items {
		items[i] = Publication{Group: "half"}
	}
	items[100].Group = "large"
	out, err := w.s.Publish(w.env(), Publications{Items: items})
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for i := range out.Items {
		made += len(out.Items[i].Messages)
		if refused := out.Items[i].Refused; (refused != nil) != (i >= 99) {
			t.Fatalf("publication %d after %d messages: %v", i, made, refused)
		}
	}
	if text := out.Items[100].Refused.Text; made != 9999 || !strings.Contains(text, "at most 10000 messages") || !strings.Contains(text, "topic large it would make 10199") {
		t.Errorf("%d messages, %s", made, text)
	}
}
