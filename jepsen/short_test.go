package jepsen

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/jepsen/check"
	"github.com/trireme-dev/trireme/jepsen/nemesis"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	// seedVariable names the environment variable that has the short runs draw from another seed, or from a fresh one.
	seedVariable = "JEPSEN_SEED"
	fresh        = "fresh"
	// shortSeed is the seed otherwise: CI judges a change, so a run before it and one after it have the same schedule. It is
	// the one that met two faults of a disk which overlapped. Hunting is what long runs are for: they draw their seeds.
	shortSeed = 1753245209870335
)

// TestRelayed runs the workloads of the keyspace on nodes that a relay joins, which needs
// no root, under the faults of processes and of links.
func TestRelayed(t *testing.T) {
	s := play(t, Config{
		Duration: 20 * time.Second, Workloads: Workloads(), Network: testcluster.Relayed, Clients: 4,
		Faults: []nemesis.Fault{nemesis.Kill, nemesis.Pause, nemesis.Isolate, nemesis.OneWay, nemesis.CutClients, nemesis.Delay},
	})
	if len(s.Events) < 3 || s.OK < 300 { // on a busy machine the race detector leaves no more
		t.Errorf("%d faults and %d answered operations prove nothing", len(s.Events), s.OK)
	}
}

// TestComposed runs all workloads on one cluster at the same time, under all faults that
// can be made here: as root each node has a network and a disk of its own.
func TestComposed(t *testing.T) {
	c := Config{
		Duration: 60 * time.Second, Workloads: Everything(), Network: testcluster.BestNetwork(), Disks: testcluster.Privileged(),
		Clients: 3, Snapshots: 1000,
	}
	c.Faults = slices.DeleteFunc(nemesis.Faults(c.Have()...), func(f nemesis.Fault) bool {
		return f == nemesis.FewFiles // a node without files fails attempts of messages, which the queue's judge takes for lost
	})
	s := play(t, c)
	done := 0
	for _, n := range s.Messages {
		done += n
	}
	if len(s.Events) < 6 || s.OK < 500 || done < 100 {
		t.Errorf("%d faults, %d answered operations and %d messages prove nothing", len(s.Events), s.OK, done)
	}
}

// TestAlone is W13: one node that is killed, stopped and, as root, loses power loses nothing that it has acknowledged.
func TestAlone(t *testing.T) {
	c := Config{Nodes: 1, Duration: 15 * time.Second, Workloads: append(Workloads(), "once"), Disks: testcluster.Privileged(), Clients: 4, Snapshots: 500}
	for _, f := range nemesis.Faults(c.Have()...) {
		if slices.Contains([]nemesis.Fault{nemesis.Kill, nemesis.Restart, nemesis.Stop, nemesis.Failpoint, nemesis.PowerCut}, f) {
			c.Faults = append(c.Faults, f)
		}
	}
	s := play(t, c)
	if len(s.Events) < 2 || s.OK < 200 {
		t.Errorf("%d faults and %d answered operations prove nothing", len(s.Events), s.OK)
	}
}

// mostStill is the longest time that the machine may stand still in a run that counts.
const mostStill = 10 * time.Second

// built builds the product's binary with the race detector, once for all runs.
var built = sync.OnceValues(func() (string, error) {
	return testcluster.Build(binaries, testcluster.BuildOptions{Race: true, Failpoints: true})
})

// binaries is the folder of built, which TestMain removes.
var binaries = filepath.Join(os.TempDir(), "trireme-jepsen-bin-"+strconv.Itoa(os.Getpid()))

// play is one run with the product's binary, built with the race detector.
func play(t *testing.T, c Config) *Summary {
	t.Helper()
	if testing.Short() {
		t.Skip("starts three processes for a minute")
	}
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	c.Binary, c.Dir, c.Seed = binary, keptOnFailure(t), seedToUse(t)
	c.Gap, c.Pause = 1500*time.Millisecond, 20*time.Millisecond
	s, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d (repeat with %s) on a %s: %d operations, %d ok, %d unknown, %d faults of %d kinds, %d leader changes, longest pause %v, with a healthy majority %v, done %v",
		s.Seed, seedVariable, s.Network, s.Ops, s.OK, s.Unknown, len(s.Events), len(s.Faults), s.LeaderChanges, time.Duration(s.LongestPause), time.Duration(s.HealthyPause), s.Messages)
	timely := func(a check.Anomaly) bool { return a.Kind == brokenPromise || a.Kind == notDone }
	if still := time.Duration(s.Standstill); still > mostStill && !slices.ContainsFunc(s.Anomalies, func(a check.Anomaly) bool { return !timely(a) }) {
		t.Skipf("the machine stood still for %v: times say nothing", still)
	}
	if s.Failed() {
		t.Error(s)
	}
	return s
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

// seedToUse is shortSeed or what the environment asks for.
func seedToUse(t *testing.T) uint64 {
	switch text := os.Getenv(seedVariable); text {
	case "":
		return shortSeed
	case fresh:
		return uint64(time.Now().UnixNano()) >> 10
	default:
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
		return seed
	}
}
