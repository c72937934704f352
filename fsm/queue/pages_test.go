package queue

import (
	"slices"
	"testing"
)

// TestPagesGoOnBehindWhatTheyLookedAt: a filter that matches nothing in a bounded look leaves a cursor to go on from, and
// the last page has none.
func TestPagesGoOnBehindWhatTheyLookedAt(t *testing.T) {
	w := newWorld(t)
	labelled := func(label string) Publication {
		p := url("a")
		p.Given, p.Labels = GivenRetries|GivenLabels, []string{label}
		return p
	}
	all := append(slices.Repeat([]Publication{labelled("many")}, MaxScan+1), labelled("last"))
	if _, err := w.s.Publish(w.env(), Publications{all}); err != nil {
		t.Fatal(err)
	}
	for w.s.Counts().Dead < len(all) {
		var results Results
		for _, a := range w.advance(len(all)) {
			results.Items = append(results.Items, Result{AttemptRef: a.Ref(), Response: Response{Status: 500}})
		}
		if _, err := w.s.Finish(w.env(), results); err != nil || len(results.Items) == 0 {
			t.Fatal(w.s.Counts(), err)
		}
	}
	last := Filter{Labels: []string{"last"}}
	p := Page{Limit: 1}
	list, cursor, more := w.s.DeadLetters(nil, &last, p)
	if len(list) != 0 || !more || cursor == (Stamp{}) {
		t.Fatal(len(list), cursor, more)
	}
	p.After = cursor
	if list, _, more = w.s.DeadLetters(nil, &last, p); len(list) != 1 || more {
		t.Fatal(len(list), more)
	}
	found := 0
	for p, more := (Page{Limit: 10}), true; more; {
		var events []EventInfo
		events, p.After, more = w.s.Events(&last, p)
		found += len(events)
	}
	if found != 4 {
		t.Fatal(found)
	}
	out, err := w.s.DeleteDead(w.env(), DeadSelection{Filter: last})
	if err != nil || out.Count != 0 || !out.More || out.Cursor == (Stamp{}) {
		t.Fatal(out, err)
	}
	if out, err = w.s.DeleteDead(w.env(), DeadSelection{Filter: last, After: out.Cursor}); err != nil || out.Count != 1 || out.More {
		t.Fatal(out, err)
	}
	if retried, err := w.s.RetryDead(w.env(), DeadRetry{DeadSelection: DeadSelection{Limit: 2}}); err != nil || len(retried.Messages) != 2 || !retried.More {
		t.Fatal(retried, err)
	}
}

// TestRetryJudgesItsOptions: what a publish may not ask for, a retry may not either, and nothing is retried.
func TestRetryJudgesItsOptions(t *testing.T) {
	w := newWorld(t)
	n := w.s.Settings()
	n.MaxRetries = 5
	if _, err := w.s.Configure(w.env(), n); err != nil {
		t.Fatal(err)
	}
	p := url("a")
	p.Given = GivenRetries
	w.publish(p)
	w.finish(w.one(), 500)
	for _, o := range []Options{{Given: GivenRetries, Retries: 6}, {Given: GivenQueue, Queue: "a b"}, {Given: GivenDelay, Delay: -1}} {
		if _, err := w.s.RetryDead(w.env(), DeadRetry{Options: o}); err == nil || w.s.Counts().Dead != 1 {
			t.Fatal(o, err)
		}
	}
}

// TestHeadersOverOthers: a header replaces that of its name, in any case of letters, and leaves the others.
func TestHeadersOverOthers(t *testing.T) {
	base := Options{Given: GivenHeader, Header: []Field{{"X-A", "1"}, {"X-B", "2"}, {"X-A", "3"}}}
	own := Options{Given: GivenHeader, Header: []Field{{"x-a", "4"}, {"X-C", "5"}}}
	if got, want := own.Over(base).Header, []Field{{"X-B", "2"}, {"x-a", "4"}, {"X-C", "5"}}; !slices.Equal(got, want) {
		t.Fatal(got)
	}
	if got := (Options{}).Over(base).Header; !slices.Equal(got, base.Header) {
		t.Fatal(got)
	}
}
