package workflow

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// longRun is a store with the log of one run of so many steps.
func longRun(steps int) *Store {
	s := New()
	for i := range steps {
		s.entries.Set(place{1, uint32(i)}, &Entry{ID: queue.ID{Seq: uint64(i + 1), Salt: uint64(i) * 1e15}, Kind: StepEntry, Body: payload.New(fmt.Appendf(nil, `{"stepId":%d,"out":"value"}`, i), nil)})
	}
	return s
}

// TestBodiesAreThoseOfTheLog compares bodies of deliveries in any order, on a store and on forks, with what is encoded anew.
func TestBodiesAreThoseOfTheLog(t *testing.T) {
	const steps = 300
	s := longRun(steps)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 600 {
		pos := uint32(min(i/2, steps-1))
		if r.IntN(4) == 0 {
			pos = uint32(r.IntN(steps))
		}
		on := s
		if r.IntN(5) == 0 {
			on = s.Fork()
		}
		fresh := *s
		fresh.no = storeNumbers.Add(1)
		if got, want := on.prefix(1, pos), fresh.prefix(1, pos); !bytes.Equal(got, want) {
			t.Fatalf("delivery %d, entry %d: %d bytes, want %d", i, pos, len(got), len(want))
		}
	}
}

// TestBodiesAreBounded keeps the lists of many runs.
func TestBodiesAreBounded(t *testing.T) {
	var b bodies
	for run := range uint64(200) {
		b.put(bodyKey{1, run}, body{make([]byte, 1<<20), 1})
		if b.bytes > mostBodies || b.bytes != len(b.of)<<20 {
			t.Fatalf("%d bytes of %d lists, want at most %d", b.bytes, len(b.of), mostBodies)
		}
	}
}

// BenchmarkDeliveriesOfALongRun makes the bodies of all deliveries of a run of a thousand steps.
func BenchmarkDeliveriesOfALongRun(b *testing.B) {
	s := longRun(1000)
	for b.Loop() {
		s.no = storeNumbers.Add(1)
		for pos := range uint32(1000) {
			s.prefix(1, pos)
		}
	}
}
