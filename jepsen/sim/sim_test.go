package sim

import (
	"flag"
	"testing"
	"time"
)

var (
	histories = flag.Uint64("histories", 300, "how many histories TestHistories simulates")
	from      = flag.Uint64("from", 1, "the seed of the first")
)

// TestHistories simulates histories. One that fails is made small and shown.
func TestHistories(t *testing.T) {
	begin := time.Now()
	done, err := Search(t.Context(), *from, *histories)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d histories, %.0f a minute", done, float64(done)/time.Since(begin).Minutes())
}

// TestSameSeedSameHistory: what fails once has to fail again.
func TestSameSeedSameHistory(t *testing.T) {
	for seed := range uint64(20) {
		a, b := newWorld(seed), newWorld(seed)
		for _, w := range []*world{a, b} {
			w.elect(0, 0, true)
			w.flow()
			for _, s := range Draw(seed).Steps {
				w.moment++
				w.step(s)
				w.collect()
			}
			w.settle()
		}
		if len(a.log) != len(b.log) || a.nodes[0].machine.Fork().Digest() != b.nodes[0].machine.Fork().Digest() {
			t.Fatalf("seed %d runs in two ways: %d and %d entries", seed, len(a.log), len(b.log))
		}
	}
}
