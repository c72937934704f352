package queue

import (
	"maps"
	"math"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
)

// tallied counts page by page what a filter chooses.
func tallied(t *testing.T, s *Store, f *Filter, p Page, span int64) map[TallyKey]int {
	t.Helper()
	counts := map[TallyKey]int{}
	for range 10_000 {
		cursor, more := s.Tally(f, p, span, counts)
		if !more {
			return counts
		}
		p.After = cursor
	}
	t.Fatal("the pages have no end")
	return nil
}

// tallyAlike holds what is counted in two stores of the same events, the first without volumes, to the list of them.
func tallyAlike(t *testing.T, plain, other *Store, f *Filter, p Page, span int64) {
	t.Helper()
	list, _, more := plain.Events(f, Page{Limit: math.MaxInt})
	want := map[TallyKey]int{}
	for _, e := range list {
		want[TallyKey{e.At - e.At%span, e.State}]++
	}
	if more { // it looks at MaxScan events alone
		want = tallied(t, plain, f, p, span)
	}
	if got := tallied(t, other, f, p, span); !maps.Equal(got, want) {
		t.Fatalf("%+v in spans of %d: %v, want %v", *f, span, got, want)
	}
}

// TestTallyOpensNoVolume: volumes that lie in a span are counted without being read.
func TestTallyOpensNoVolume(t *testing.T) {
	w := newWorld(t)
	w.s.Raise(env.Files)
	for range 3000 {
		w.publish(url("path"))
		w.now++
	}
	w.now += 10 * minute
	for range 9 {
		w.advance(0)
	}
	past := &w.s.events.past
	if past.Len() < 3 {
		t.Fatalf("%d volumes", past.Len())
	}
	damaged := w.s.Fork()
	for v := past.Oldest(); past.Len() > 0 && v != nil; v = past.Oldest() {
		damaged.events.past.DropOldest()
		past.DropOldest()
		lost := *v
		lost.Records = payload.New([]byte("nothing"), nil)
		damaged.events.past.Add(&lost)
	}
	counts := map[TallyKey]int{}
	damaged.Tally(&Filter{States: []State{Created}}, Page{}, 24*60*minute, counts)
	sum := 0
	for key, n := range counts {
		if sum += n; key.State != Created {
			t.Errorf("%d of %v are counted", n, key.State)
		}
	}
	if sum != 3000 {
		t.Errorf("%d are counted", sum)
	}
}
