package nemesis

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func everything() []Fault { return Faults(Links, Frames, Disks) }

func TestGenerate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Plan{
			Seed:     rapid.Uint64().Draw(t, "seed"),
			Duration: time.Duration(rapid.IntRange(0, 600).Draw(t, "seconds")) * time.Second,
			Nodes:    3,
			Faults:   rapid.SliceOfDistinct(rapid.SampledFrom(everything()), rapid.ID[Fault]).Draw(t, "faults"),
		}
		s := Generate(p)
		if again := Generate(p); !reflect.DeepEqual(s, again) {
			t.Fatal("the same plan gave two schedules")
		}
		judgeEpisodes(t, s)
	})
}

// judgeEpisodes holds a schedule to its rules: episodes don't overlap, each takes at most
// one node away, and nothing lasts beyond the end.
func judgeEpisodes(t *rapid.T, s Schedule) {
	end, before := time.Duration(0), time.Duration(0) // of this episode, and of those before
	for i, step := range s.Steps {
		if i > 0 && step.Episode != s.Steps[i-1].Episode {
			before = end
		}
		if step.At < before {
			t.Fatalf("%v overlaps the episode before it, which ends at %v", step, before)
		}
		end = max(end, step.At+step.Hold)
		if step.Node < Leader || step.Node >= 3 {
			t.Fatalf("%v names no node", step)
		}
		for _, other := range s.Steps[:i] {
			if other.Episode != step.Episode {
				continue
			}
			if kinds[step.Fault].class == exclusive || kinds[other.Fault].class == exclusive {
				t.Fatalf("%v and %v are in one episode", step, other)
			}
			if kinds[step.Fault].class == severe && kinds[other.Fault].class == severe && step.Node != other.Node {
				t.Fatalf("%v and %v take two nodes away", step, other)
			}
		}
	}
	if end > s.Duration {
		t.Fatalf("the last fault ends at %v of %v", end, s.Duration)
	}
}

func TestScheduleUsesEveryFault(t *testing.T) {
	for seed := range uint64(50) {
		s := Generate(Plan{Seed: seed, Duration: 5 * time.Minute, Nodes: 3, Faults: everything()})
		seen := map[Fault]bool{}
		for _, step := range s.Steps {
			seen[step.Fault] = true
		}
		if len(seen) != len(everything()) {
			t.Fatalf("seed %d: only %v in five minutes", seed, seen)
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

func TestFaultsNeedWhatIsThere(t *testing.T) {
	if _, err := ParseFaults("freeze", Links); !errors.Is(err, ErrNeeds) {
		t.Fatalf("freeze was taken without disks: %v", err)
	}
	if got, err := ParseFaults("isolate", Links); err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	for f := range kinds {
		if !slices.Contains(everything(), f) {
			t.Errorf("%s is not listed", f)
		}
	}
}
