package nemesis

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestGenerate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Plan{
			Seed:     rapid.Uint64().Draw(t, "seed"),
			Duration: time.Duration(rapid.IntRange(0, 600).Draw(t, "seconds")) * time.Second,
			Nodes:    3,
			Faults:   rapid.SliceOfDistinct(rapid.SampledFrom(Faults()), rapid.ID[Fault]).Draw(t, "faults"),
		}
		s := Generate(p)
		if again := Generate(p); !reflect.DeepEqual(s, again) {
			t.Fatal("the same plan gave two schedules")
		}
		end := time.Duration(0)
		for _, step := range s.Steps {
			if step.At < end {
				t.Fatalf("%v overlaps the fault before it, which ends at %v", step, end)
			}
			if step.Node < Leader || step.Node >= p.Nodes {
				t.Fatalf("%v names no node", step)
			}
			end = step.At + step.Hold
		}
		if end > p.Duration {
			t.Fatalf("the last fault ends at %v of %v", end, p.Duration)
		}
	})
}

func TestShortScheduleUsesEveryFault(t *testing.T) {
	for seed := range uint64(50) {
		s := Generate(Plan{Seed: seed, Duration: time.Minute, Nodes: 3, Faults: Faults()})
		seen := map[Fault]bool{}
		for _, step := range s.Steps {
			seen[step.Fault] = true
		}
		if len(seen) != len(Faults()) {
			t.Fatalf("seed %d: only %v in a minute", seed, seen)
		}
	}
}

func TestScheduleIsKept(t *testing.T) {
	s := Generate(Plan{Seed: 3, Duration: time.Minute, Nodes: 3, Faults: Faults()})
	path := filepath.Join(t.TempDir(), "schedule.json")
	if err := s.Save(path); err != nil {
		t.Fatal(err)
	}
	if got, err := LoadSchedule(path); err != nil || !reflect.DeepEqual(got, s) {
		t.Fatalf("loaded %+v, %v", got, err)
	}
}

func TestParseFaults(t *testing.T) {
	if got, err := ParseFaults("kill,pause"); err != nil || !reflect.DeepEqual(got, []Fault{Kill, Pause}) {
		t.Fatalf("%v, %v", got, err)
	}
	if got, err := ParseFaults("all"); err != nil || len(got) != len(Faults()) {
		t.Fatalf("%v, %v", got, err)
	}
	if _, err := ParseFaults("kill,flood"); !errors.Is(err, ErrUnknownFault) {
		t.Fatalf("flood was taken: %v", err)
	}
}
