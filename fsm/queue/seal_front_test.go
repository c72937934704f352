package queue

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
)

// happen publishes messages, each of which makes an event, over some milliseconds.
func happen(t *testing.T, w *world, count int, over int64) {
	t.Helper()
	for i := range 4 {
		list := make([]Publication, count/4)
		for k := range list {
			list[k] = url("hook")
		}
		if _, err := w.s.Publish(w.env(), Publications{list}); err != nil {
			t.Fatal(err)
		}
		if i < 3 {
			w.now += over / 3
		}
	}
}

// TestVolumesGoWithTheirNewestEvent: a volume is there until the retention of its newest event is over, and then goes as a whole, at the time
// that NextSweep tells; events younger than that stay.
func TestVolumesGoWithTheirNewestEvent(t *testing.T) {
	w := newWorld(t)
	w.s.Raise(env.Files)
	n := DefaultSettings()
	n.EventAge = 1_600_000
	if _, err := w.s.Configure(w.env(), n); err != nil {
		t.Fatal(err)
	}
	happen(t, w, sealedTogether, 90_000)
	newest := w.now
	w.now += idleSealAfter + sealAfter
	happen(t, w, 40, 0)
	w.s.Sweep(w.env(), 200)
	if w.s.events.past.Len() != 1 || w.s.events.byNo.Len() != 40 {
		t.Fatalf("%d volumes, and %d events in the tree", w.s.events.past.Len(), w.s.events.byNo.Len())
	}
	end := roundUp(newest + n.EventAge)
	if at, ok := w.s.NextSweep(); !ok || at != end {
		t.Errorf("the next sweep is at %d (%v), want %d", at-start, ok, end-start)
	}
	for w.now = end - 80_000; w.now < end; w.now += 10_000 {
		w.s.Sweep(w.env(), 200)
		if list, _, _ := w.s.Events(&Filter{}, Page{Limit: 1000}); len(list) != sealedTogether+40 {
			t.Fatalf("%d ms before the end of the newest event %d events are left", end-w.now, len(list))
		}
	}
	w.now = end
	w.s.Sweep(w.env(), 200)
	if list, _, _ := w.s.Events(&Filter{}, Page{Limit: 1000}); len(list) != 40 {
		t.Errorf("%d events are left, want 40", len(list))
	}
}

// TestSweepSealsManyAtOnce: where nothing but time passes, an entry seals as many volumes as it may, and fewer only once they have waited; what
// the entries of messages seal needs no sweep.
func TestSweepSealsManyAtOnce(t *testing.T) {
	w := newWorld(t)
	w.s.Raise(env.Files)
	happen(t, w, (sweptTogether+2)*sealedTogether, 0)
	if at, ok := w.s.NextSweep(); !ok || at != w.now+sealAfter {
		t.Errorf("the next sweep is in %d ms (%v), want %d", at-w.now, ok, sealAfter)
	}
	sealed := func(after int64) int {
		w.now += after
		before := w.s.events.past.Len()
		w.s.Sweep(w.env(), 200)
		return w.s.events.past.Len() - before
	}
	if n := sealed(sealAfter - 1); n != 0 {
		t.Errorf("%d volumes of events younger than a minute", n)
	}
	if n := sealed(1); n != sweptTogether {
		t.Errorf("%d volumes of the first sweep, want %d", n, sweptTogether)
	}
	if n := sealed(idleSealAfter - 1); n != 0 {
		t.Errorf("%d volumes where few are to be made", n)
	}
	if n := sealed(1); n != 2 {
		t.Errorf("%d volumes once they have waited, want 2", n)
	}
	happen(t, w, sealedTogether, 0)
	w.now += sealAfter
	happen(t, w, 4, 0)
	if n := w.s.events.past.Len(); n != sweptTogether+3 {
		t.Errorf("%d volumes after an entry with messages, want %d", n, sweptTogether+3)
	}
}
