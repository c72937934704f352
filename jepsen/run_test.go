package jepsen

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/nemesis"
	"github.com/trireme-dev/trireme/jepsen/testcluster/fakenode"
)

func TestMain(m *testing.M) { fakenode.Main(m, func() { os.RemoveAll(binaries) }) }

// rehearse runs the whole harness against fake nodes.
func rehearse(t *testing.T, seed uint64, l fakenode.Fault, faults ...nemesis.Fault) (*Summary, string) {
	t.Helper()
	c := Config{
		Binary: os.Args[0], Dir: t.TempDir(), Seed: seed, Duration: 2 * time.Second, Env: fakenode.Env(l),
		Workloads: Workloads(), Faults: faults, Gap: 100 * time.Millisecond, Clients: 4, Pause: time.Millisecond, Persist: time.Second,
	}
	s, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s, c.Dir
}

func TestHonestNodesPass(t *testing.T) {
	s, _ := rehearse(t, 7, fakenode.None, nemesis.Restart, nemesis.Kill, nemesis.Stop, nemesis.Transfer)
	if s.Failed() {
		t.Fatal(s)
	}
	if s.OK < 100 || len(s.Events) < 3 || s.LongestPause <= 0 {
		t.Fatalf("nothing was tested: %+v", s)
	}
}

// TestLiesAreFound runs the harness against nodes that break a promise each.
func TestLiesAreFound(t *testing.T) {
	for fault, wants := range map[fakenode.Fault][]string{
		fakenode.StaleReads:   {"not linearizable", "went back", "replay differs"},
		fakenode.LostWrites:   {"lost", "lost append", "counted once for two", "replay differs"},
		fakenode.DoubleAdds:   {"too much", "replay differs"},
		fakenode.WrongOutcome: {"not linearizable", "too much", "replay differs"},
	} {
		t.Run(string(fault), func(t *testing.T) {
			kinds := map[string]int{}
			dir := ""                      // of the last run that has kept the counters' history
			for seed := range uint64(20) { // on a busy machine a short run may not meet every kind
				s, in := rehearse(t, seed, fault)
				if _, err := os.Stat(filepath.Join(in, "counter.jsonl")); err == nil {
					dir = in
				}
				for _, a := range s.Anomalies {
					kinds[a.Kind]++
				}
				if !slices.ContainsFunc(wants, func(w string) bool { return kinds[w] == 0 }) {
					break
				}
			}
			for _, want := range wants {
				if kinds[want] == 0 {
					t.Errorf("%q was not found among %v", want, kinds)
				}
			}
			for _, file := range []string{"counter.jsonl", "summary.json", "schedule.json", "report.html"} {
				if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
					t.Error(err)
				}
			}
			if ops, err := history.Load(filepath.Join(dir, "counter.jsonl")); err != nil || len(ops) == 0 {
				t.Errorf("the kept history holds %d operations, %v", len(ops), err)
			}
		})
	}
}

func TestCrashFailsTheRun(t *testing.T) {
	s, _ := rehearse(t, 7, fakenode.Quits)
	if len(s.Crashes) == 0 || !s.Failed() || !strings.Contains(s.String(), "quitting, as told") {
		t.Fatalf("a node that ended by itself was not reported: %v", s)
	}
}

// TestSoakGoesOn stops a soak after its first run and has it go on: what was done is not done again, and the whole is left for
// programs and for people.
func TestSoakGoesOn(t *testing.T) {
	c := Config{
		Binary: os.Args[0], Dir: t.TempDir(), Seed: 5, Duration: 2 * time.Second, Env: fakenode.Env(fakenode.None),
		Workloads: Workloads(), Faults: []nemesis.Fault{nemesis.Restart}, Gap: 100 * time.Millisecond, Clients: 2, Pause: time.Millisecond, Persist: time.Second,
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var told []uint64
	if _, err := Soak(ctx, c, time.Second, func(s *Summary) { told = append(told, s.Seed); stop() }); !errors.Is(err, context.Canceled) {
		t.Fatalf("stopped after its first run, it says %v", err)
	}
	total, err := Soak(context.Background(), c, time.Second, func(s *Summary) { told = append(told, s.Seed) })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(told, []uint64{5, 6}) {
		t.Errorf("ran the seeds %v", told)
	}
	if total.Runs != 2 || total.Ops == 0 || len(total.Failed) > 0 || total.Each[1].Seed != 6 {
		t.Errorf("comes to %+v", total)
	}
	var kept Total
	text, err := os.ReadFile(filepath.Join(c.Dir, "total.json"))
	if err := errors.Join(err, json.Unmarshal(text, &kept)); err != nil || kept.Ops != total.Ops {
		t.Errorf("kept as %s, %v", text, err)
	}
	page, err := os.ReadFile(filepath.Join(c.Dir, "index.html"))
	if err != nil || !strings.Contains(string(page), `href="run-002/report.html"`) {
		t.Errorf("the page is %s, %v", page, err)
	}
}
