package jepsen

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerdict: a run that meets every goal passes, and one that misses any single one does not.
func TestVerdict(t *testing.T) {
	good := Figures{Name: "run", Ops: 75_000, Faults: 60, Kinds: 12, LeaderChanges: 15, Messages: 5_000, HealthyPauseMs: 3_000, StalledPauseMs: 5_000, Unknown: 5}
	if text, met := ShortRun.Verdict([]Figures{good, good}); !met || strings.Contains(text, "MISSED") {
		t.Errorf("what meets every goal fails:\n%s", text)
	}
	if text, met := ShortRun.Verdict(nil); met {
		t.Errorf("no run passes:\n%s", text)
	}
	for name, worsen := range map[string]func(*Figures){
		"operations checked":                 func(f *Figures) { f.Ops-- },
		"faults":                             func(f *Figures) { f.Faults-- },
		"kinds of faults":                    func(f *Figures) { f.Kinds-- },
		"leader changes":                     func(f *Figures) { f.LeaderChanges-- },
		"messages at their end":              func(f *Figures) { f.Messages-- },
		"outcomes unknown":                   func(f *Figures) { f.Unknown += 0.1 },
		"longest time without a write":       func(f *Figures) { f.HealthyPauseMs++ },
		"the same around a stalled disk":     func(f *Figures) { f.StalledPauseMs++ },
		"anomalies":                          func(f *Figures) { f.Anomalies++ },
		"processes that ended by themselves": func(f *Figures) { f.Crashes++ },
		"faults or reads that failed":        func(f *Figures) { f.Problems++ },
	} {
		bad := good
		worsen(&bad)
		text, met := ShortRun.Verdict([]Figures{good, bad})
		if met || strings.Count(text, "MISSED") != 1 {
			t.Errorf("%s: it passes, or more is missed than that:\n%s", name, text)
		}
		for _, line := range ShortRun.Judge(bad) {
			if line.Met == (line.About == name) {
				t.Errorf("%s: the line of %s says %v", name, line.About, line.Met)
			}
		}
	}
}

// TestFiguresOfAStoredRun: the goals are held against what the runs have left, also those of an earlier call.
func TestFiguresOfAStoredRun(t *testing.T) {
	s := Summary{
		Ops: 200, Unknown: 4, LeaderChanges: 3, Pauses: Pauses{HealthyPause: 2_000_000}, Faults: map[string]*FaultFigures{"kill": {Count: 2}, "pause": {Count: 1}},
		Messages: map[string]int{"delivery": 5, "schedules": 2, "workflow": 9},
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "summary.json")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	all := Total{Faults: map[string]int{}, Messages: map[string]int{}}
	if err := all.add("run-001", path); err != nil {
		t.Fatal(err)
	}
	want := Figures{Name: "run-001", Ops: 200, Faults: 3, Kinds: 2, LeaderChanges: 3, Messages: 7, HealthyPauseMs: 2, Unknown: 2}
	if len(all.Each) != 1 || all.Each[0] != want {
		t.Errorf("the figures are %+v, not %+v", all.Each, want)
	}
}
