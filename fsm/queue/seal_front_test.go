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
	w.now += 10*minute + sealAfter
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

// TestSweepSealsOneVolume: an entry that brings no events seals one volume, however many could be made: its apply holds the state, and
// to make one takes as long as hundreds of commands.
func TestSweepSealsOneVolume(t *testing.T) {
	w := newWorld(t)
	w.s.Raise(env.Files)
	happen(t, w, 10*sealedTogether, 0)
	w.now += sealAfter
	for n := range 10 {
		w.s.Sweep(w.env(), 200)
		if got := w.s.events.past.Len(); got != n+1 {
			t.Fatalf("%d volumes after %d sweeps", got, n+1)
		}
	}
}
