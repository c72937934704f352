package queue

import (
	"errors"
	"fmt"
	"testing"
)

// bulk asks for a bulk action, or something of one.
func (w *world) bulk(n BulkCancellation) (BulkAction, error) { return w.s.BulkCancel(w.env(), n) }

func labelled(label string) Publication {
	p := url("a")
	p.Given, p.Labels = GivenLabels, []string{label}
	return p
}

// TestBulkAction: an action that fits into one entry is done at once, and counts exactly; what is published later, done, or
// of another label is not touched.
func TestBulkAction(t *testing.T) {
	w := newWorld(t)
	for i := range 10 {
		w.publish(labelled([]string{"x", "y"}[i%2]))
	}
	w.finish(w.claimOne(), 200)
	f := Filter{Labels: []string{"x"}}
	b, err := w.bulk(BulkCancellation{BulkRequest: BulkRequest{Matched: 99}, Filter: f})
	if err != nil || !b.Done() || b.Total != 4 || b.Processed != 4 {
		t.Fatalf("%+v %v", b, err)
	}
	if again, _ := w.bulk(BulkCancellation{Filter: f}); again.ID == b.ID || again.Total != 0 || !again.Done() {
		t.Fatalf("%+v", again)
	}
	if n, _, _ := w.s.CountMatching(&Filter{}, 0); n != 5 {
		t.Fatalf("%d are left", n)
	}
	if _, err := w.bulk(BulkCancellation{BulkRequest: BulkRequest{Act: BulkStep, ID: "none"}}); !errors.Is(err, ErrNotFound) {
		t.Fatalf("%v", err)
	}
}

// claimOne claims one attempt and leaves the others.
func (w *world) claimOne() Attempt {
	w.t.Helper()
	list := w.advance(1)
	if len(list) != 1 {
		w.t.Fatalf("%d attempts", len(list))
	}
	return list[0]
}

// TestBulkGoesOnByItself: what is too much for one entry is done by the sweeps of whoever leads, also from a snapshot; the
// same request finds it, and a stop ends it.
func TestBulkGoesOnByItself(t *testing.T) {
	w := newWorld(t)
	const all = 3*bulkScan + 17
	for range all {
		w.publish(url("a"))
	}
	ask := BulkCancellation{BulkRequest: BulkRequest{Matched: all}}
	b, err := w.bulk(ask)
	if err != nil || b.Done() || b.Total != all || b.Processed != bulkScan {
		t.Fatalf("%+v %v", b, err)
	}
	later := w.publish(url("later"))[0].ID
	if again, err := w.bulk(ask); err != nil || again.ID != b.ID {
		t.Fatalf("the same filter made another action: %+v %v", again, err)
	}
	if at, ok := w.s.NextSweep(); !ok || at != 0 {
		t.Fatalf("nothing is to be swept: %d %v", at, ok)
	}
	for n := 0; !w.s.Bulk().Find(b.ID).Done(); n++ {
		if n > 1000 {
			t.Fatal("it does not end")
		}
		before := w.s.Bulk().Find(b.ID).Processed
		w.s.Sweep(w.env(), 200)
		w.s = restored(t, w.s)
		if got := w.s.Bulk().Find(b.ID).Processed - before; got > 200 {
			t.Fatalf("one sweep has cancelled %d", got)
		}
	}
	if got := w.s.Bulk().Find(b.ID); got.Total != all || got.Processed != all {
		t.Fatalf("%+v", got)
	}
	if m, ok := w.s.Message(later, w.now); !ok || m.State.Final() {
		t.Fatal("a message that was published later was cancelled")
	}
	w.now += bulkAge + rounding
	w.s.Sweep(w.env(), 200)
	if w.s.Bulk().Find(b.ID) != nil {
		t.Fatal("it is remembered for more than its time")
	}
}

// TestBulkStops: a stop leaves the rest alone.
func TestBulkStops(t *testing.T) {
	w := newWorld(t)
	for range bulkScan + 5 {
		w.publish(url("a"))
	}
	b, _ := w.bulk(BulkCancellation{BulkRequest: BulkRequest{Matched: bulkScan + 5}})
	b, err := w.bulk(BulkCancellation{BulkRequest: BulkRequest{Act: BulkStop, ID: b.ID}})
	if err != nil || !b.Done() || b.Processed != bulkScan || b.Total != bulkScan+5 {
		t.Fatalf("%+v %v", b, err)
	}
	w.s.Sweep(w.env(), 200)
	if n, _, _ := w.s.CountMatching(&Filter{}, 0); n != 5 {
		t.Fatalf("%d are left", n)
	}
}

// TestBulkLimits: so many may be in progress, and so many are remembered.
func TestBulkLimits(t *testing.T) {
	w := newWorld(t)
	table := NewBulkTable()
	start := func(n uint64) (*BulkAction, error) { return table.Start(w.env(), n, n, fmt.Append(nil, n), 1) }
	for n := range uint64(MaxBulkOpen) {
		if _, err := start(n + 1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := start(MaxBulkOpen + 1); !errors.Is(err, ErrQuota) {
		t.Fatalf("%v", err)
	}
	for n := range uint64(maxBulkKept + 10) {
		b, err := start(n + 1)
		if err != nil {
			b = table.Oldest()
		}
		table.Progress(w.env(), b, 1, 1, false)
		if _, err := start(MaxBulkOpen + n + 1); err != nil {
			t.Fatal(err)
		}
		table.Forget(w.now, 200)
	}
	if n := table.Records().Len(); n > maxBulkKept {
		t.Fatalf("%d are remembered", n)
	}
	list, cursor := table.List(0, 100)
	if len(list) != 100 || list[0].No <= list[1].No || cursor != list[99].No {
		t.Fatalf("%d, %d", len(list), cursor)
	}
	if next, _ := table.List(cursor, 1); next[0].No >= cursor {
		t.Fatal("the next page begins on this one")
	}
}

// TestBulkActionsAreForgottenWhenTheyEnded: one that is in progress is remembered however old it is, with the work that it has left;
// one that has ended is forgotten a week after its creation, or early when there are too many.
func TestBulkActionsAreForgottenWhenTheyEnded(t *testing.T) {
	w := newWorld(t)
	table := w.s.Bulk()
	begin := func(filter string) *BulkAction {
		t.Helper()
		no := w.s.next()
		b, err := table.Start(w.env(), no, no, []byte(filter), 3)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	open, ended := begin("a"), begin("b")
	table.Stop(w.env(), ended)
	w.now += 2 * bulkAge
	if n := table.Forget(w.now, 100); n != 0 || table.Find(open.ID) == nil || table.Oldest() == nil {
		t.Fatalf("%d were forgotten, one of them in progress", n)
	}
	table.Stop(w.env(), table.Find(open.ID))
	if n := table.Forget(open.Created+bulkAge-1, 100); n != 0 {
		t.Errorf("%d were forgotten early", n)
	}
	if n := table.Forget(w.now, 100); n != 2 || table.Find(open.ID) != nil || table.Used() != 0 {
		t.Errorf("%d of 2 were forgotten, %d bytes are left", n, table.Used())
	}
}
