package queue_test

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// TestLostAttemptOfADroppedMessage: the message of a run is forgotten when its run ends while an attempt is under way.
// The word that this attempt was lost comes after that. (Simulation, seed 106.)
func TestLostAttemptOfADroppedMessage(t *testing.T) {
	s := queue.New()
	index := uint64(0)
	e := func() *env.Env {
		index++
		return env.New(index, 1_790_000_000_000, env.Latest, [16]byte{byte(index)}, 0)
	}
	id := s.Dispatch(e(), &queue.Content{URL: "http://app:1/", Run: []byte{1}})
	attempts := s.Advance(e(), queue.Demand{Epoch: 1, Term: 1, Claims: 1})
	if len(attempts) != 1 || !s.Drop(e(), id) {
		t.Fatalf("%d attempts", len(attempts))
	}
	lost := queue.Results{Items: []queue.Result{{AttemptRef: attempts[0].Ref(), Lost: true}}}
	for i, want := range []queue.Disposition{{State: queue.Canceled}, {Stale: true}} {
		if out, err := s.Finish(e(), lost); err != nil || out.Items[0] != want {
			t.Errorf("time %d: %+v, %v; want %+v", i, out, err, want)
		}
	}
}
