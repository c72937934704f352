package jepsen

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"trireme/jepsen/lab"
	"trireme/jepsen/nemesis"
)

// seedVariable names the environment variable that repeats a failed run.
const seedVariable = "JEPSEN_SEED"

// TestShort is the short form of the fault run: the product's binary, built with
// the race detector, three processes, registers and counters under kill -9,
// SIGSTOP, restart and ends at failpoints.
func TestShort(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes for 25 seconds")
	}
	binary, err := lab.Build(t.TempDir(), lab.BuildOptions{Race: true, Failpoints: true})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Binary: binary, Dir: keptOnFailure(t), Seed: shortSeed(t), Duration: 22 * time.Second,
		Workloads: Workloads(), Faults: []nemesis.Fault{nemesis.Kill, nemesis.Pause, nemesis.Restart, nemesis.Failpoint},
		Gap: 1500 * time.Millisecond, Clients: 10, Pause: 20 * time.Millisecond,
	}
	s, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d (repeat with %s): %d operations, %d ok, %d unknown, longest pause %v, %d faults, %d leader changes",
		s.Seed, seedVariable, s.Ops, s.OK, s.Unknown, time.Duration(s.LongestPause), len(s.Events), s.LeaderChanges)
	if s.Failed() {
		t.Error(s)
	}
	if len(s.Events) < 3 || s.OK < 300 { // on a crowded machine the race detector leaves no more
		t.Errorf("%d faults and %d answered operations prove nothing", len(s.Events), s.OK)
	}
}

// keptOnFailure is a folder that a failed test leaves behind for inspection.
func keptOnFailure(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "trireme-jepsen-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("histories, logs and data are kept in %s", dir)
			return
		}
		os.RemoveAll(dir)
	})
	return dir
}

// shortSeed is a fresh seed on every run, or the one to repeat.
func shortSeed(t *testing.T) uint64 {
	text, set := os.LookupEnv(seedVariable)
	if !set {
		return uint64(time.Now().UnixNano()) >> 10
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", seedVariable, err)
	}
	return seed
}
