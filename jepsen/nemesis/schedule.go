// Package nemesis hurts a cluster by a schedule that was drawn from a seed
// before the run began, so that it can be stored and played again.
package nemesis

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"trireme/failpoint"
)

// Fault names one way to hurt a node.
type Fault string

const (
	// Kill is kill -9, and a restart at the end of the step.
	Kill Fault = "kill"
	// Restart is kill -9 and a start at once.
	Restart Fault = "restart"
	// Pause is SIGSTOP, and SIGCONT at the end of the step.
	Pause Fault = "pause"
	// Stop is SIGTERM, and a start at the end of the step.
	Stop Fault = "stop"
	// Transfer makes the leader hand over leadership.
	Transfer Fault = "transfer"
	// Failpoint makes a node end at a named place in its code, if it passes there
	// before the end of the step, and starts it again.
	Failpoint Fault = "failpoint"
	// KillAll is kill -9 of all nodes at once, and their restart at the end.
	KillAll Fault = "kill-all"
)

// Faults lists every fault.
func Faults() []Fault { return []Fault{Kill, Restart, Pause, Stop, Transfer, Failpoint, KillAll} }

// ErrUnknownFault is returned for a name that is not a fault's.
var ErrUnknownFault = errors.New("unknown fault")

// ParseFaults reads a comma-separated list of faults; "all" names every one.
func ParseFaults(list string) ([]Fault, error) {
	if list == "all" {
		return Faults(), nil
	}
	var faults []Fault
	for _, name := range strings.Split(list, ",") {
		if name == "" {
			continue
		}
		if !slices.Contains(Faults(), Fault(name)) {
			return nil, fmt.Errorf("%w %q, known are %v", ErrUnknownFault, name, Faults())
		}
		faults = append(faults, Fault(name))
	}
	return faults, nil
}

// writePath is the failpoints that every write passes.
var writePath = []string{failpoint.BeforePropose, failpoint.AfterPropose, failpoint.AfterFsync, failpoint.ApplyBeforeReply}

// Leader as a step's Node means whoever leads when the step begins.
const Leader = -1

// Step is one fault. Times are counted from the start of the run.
type Step struct {
	At    time.Duration `json:"at"`
	Hold  time.Duration `json:"hold"` // how long until the fault is undone
	Fault Fault         `json:"fault"`
	Node  int           `json:"node"`            // an index, or Leader
	Point string        `json:"point,omitempty"` // of a Failpoint
}

// String renders the step for logs.
func (s Step) String() string {
	node := "leader"
	if s.Node != Leader {
		node = fmt.Sprintf("n%d", s.Node+1)
	}
	return fmt.Sprintf("%v %s %s%s for %v", s.At, s.Fault, node, strings.TrimSuffix(" at "+s.Point, " at "), s.Hold)
}

// Schedule is the faults of one run, in order of time. At most one node is hurt
// at a time, but for KillAll, so that a majority always lives.
type Schedule struct {
	Seed     uint64        `json:"seed"`
	Duration time.Duration `json:"duration"`
	Steps    []Step        `json:"steps"`
}

// Plan is what a schedule is drawn from.
type Plan struct {
	Seed     uint64
	Duration time.Duration
	Nodes    int
	Faults   []Fault
	// Gap is the mean time between the end of one fault and the next; 0 means 2 s.
	Gap time.Duration
}

// Generate draws a schedule. The same plan gives the same schedule. Half of the
// faults hit the leader. The first len(Faults) steps use each fault once, so that
// a short run sees them all; nothing is still broken at the end.
func Generate(p Plan) Schedule {
	if p.Gap == 0 {
		p.Gap = 2 * time.Second
	}
	s := Schedule{Seed: p.Seed, Duration: p.Duration}
	if len(p.Faults) == 0 {
		return s
	}
	rng := rand.New(rand.NewPCG(p.Seed, 1))
	order := rng.Perm(len(p.Faults))
	at := p.Gap/2 + between(rng, 0, p.Gap)
	for i := 0; ; i++ {
		step := Step{At: at, Fault: p.Faults[rng.IntN(len(p.Faults))], Node: Leader}
		if i < len(order) {
			step.Fault = p.Faults[order[i]]
		}
		if rng.IntN(2) == 0 {
			step.Node = rng.IntN(p.Nodes)
		}
		if step.Fault == Failpoint {
			step.Point = writePath[rng.IntN(len(writePath))]
		}
		step.Hold = hold(rng, step.Fault)
		if at += step.Hold; at > p.Duration {
			return s
		}
		s.Steps = append(s.Steps, step)
		at += p.Gap/2 + between(rng, 0, p.Gap)
	}
}

// hold draws how long a fault lasts.
func hold(rng *rand.Rand, f Fault) time.Duration {
	switch f {
	case Kill, Stop, KillAll, Failpoint:
		return between(rng, 200*time.Millisecond, 2*time.Second)
	case Pause:
		return between(rng, 100*time.Millisecond, 5*time.Second)
	default:
		return 0
	}
}

// between draws from [low, high) in whole milliseconds.
func between(rng *rand.Rand, low, high time.Duration) time.Duration {
	span := int64((high - low) / time.Millisecond)
	return low + time.Duration(rng.Int64N(span+1))*time.Millisecond
}

// Save stores the schedule as JSON.
func (s Schedule) Save(path string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("save schedule: %w", err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("save schedule: %w", err)
	}
	return nil
}

// LoadSchedule reads what Save wrote.
func LoadSchedule(path string) (s Schedule, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return s, fmt.Errorf("load schedule: %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("load schedule %s: %w", path, err)
	}
	return s, nil
}
