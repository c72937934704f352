package nemesis

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/internal/failpoint"
)

// crashPoints are the failpoints that a fault may make a node end at.
var crashPoints = []string{
	failpoint.BeforePropose, failpoint.AfterPropose, failpoint.AfterFsync, failpoint.ApplyBeforeReply,
	failpoint.AfterClaim, failpoint.MidSnapshot,
}

// Leader as a step's Node means the leader when the step's episode begins.
const Leader = -1

// Step is one fault. Times are counted from the start of the run.
type Step struct {
	At      time.Duration `json:"at"`
	Hold    time.Duration `json:"hold"` // how long until the fault is undone
	Fault   Fault         `json:"fault"`
	Node    int           `json:"node"`             // an index, or Leader
	Point   string        `json:"point,omitempty"`  // of a Failpoint
	Amount  int           `json:"amount,omitempty"` // what it means, the fault says
	Episode int           `json:"episode"`          // steps of one episode may overlap
}

// String renders the step for logs.
func (s Step) String() string {
	node := "leader"
	if s.Node != Leader {
		node = fmt.Sprintf("n%d", s.Node+1)
	}
	return fmt.Sprintf("%v %s %s%s for %v", s.At, s.Fault, node, strings.TrimSuffix(" at "+s.Point, " at "), s.Hold)
}

// Schedule is the faults of one run, in order of time: episodes of one to three faults
// at the same time, after each of which all nodes get well again. Within an episode at
// most one node is taken away, but for the faults that leave no majority, which stand
// alone.
type Schedule struct {
	Seed     uint64        `json:"seed"`
	Duration time.Duration `json:"duration"`
	Steps    []Step        `json:"steps"`
}

// A Plan holds the parameters from which a schedule is drawn.
type Plan struct {
	Seed     uint64
	Duration time.Duration
	Nodes    int
	Faults   []Fault
	// Gap is the mean time between the end of one episode and the next; 0 means 2 s.
	Gap time.Duration
}

// Generate draws a schedule. The same plan gives the same schedule. Half of the
// faults hit the leader. The first len(Faults) episodes use each fault once, so that
// a short run sees many; nothing is still broken at the end.
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
		main := p.Faults[rng.IntN(len(p.Faults))]
		if i < len(order) {
			main = p.Faults[order[i]]
		}
		steps := episode(rng, p, main, at)
		for j := range steps {
			steps[j].Episode = i
			at = max(at, steps[j].At+steps[j].Hold)
		}
		if at > p.Duration {
			return s
		}
		s.Steps = append(s.Steps, steps...)
		at += p.Gap/2 + between(rng, 0, p.Gap)
	}
}

// episode draws a fault and what goes with it.
func episode(rng *rand.Rand, p Plan, main Fault, at time.Duration) []Step {
	victim := Leader
	if rng.IntN(2) == 0 {
		victim = rng.IntN(p.Nodes)
	}
	steps := []Step{draw(rng, main, victim, at)}
	if kinds[main].class == exclusive {
		return steps
	}
	for range 2 {
		with := p.Faults[rng.IntN(len(p.Faults))]
		switch {
		case rng.IntN(3) > 0 || with == main: // most faults come alone
		case kinds[with].class == mild && !slices.ContainsFunc(steps, func(s Step) bool { return s.Fault == with }):
			on := victim // so that the others stay healthy
			if with == Clock || with == SlowDisk {
				on = rng.IntN(p.Nodes)
			}
			steps = append(steps, draw(rng, with, on, at))
		case kinds[with].class == severe && len(steps) == 1:
			steps = append(steps, draw(rng, with, victim, at+between(rng, 0, time.Second)))
		}
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return int(a.At - b.At) })
	return steps
}

// draw draws how long and how hard a fault is.
func draw(rng *rand.Rand, f Fault, node int, at time.Duration) Step {
	s := Step{At: at, Fault: f, Node: node, Hold: hold(rng, f)}
	switch f {
	case Failpoint:
		s.Point = crashPoints[rng.IntN(len(crashPoints))]
	case Slow:
		s.Amount = 20 + rng.IntN(60)
	case LowMemory:
		s.Amount = []int{16, 32, 64}[rng.IntN(3)]
	case FewFiles:
		s.Amount = 16 + rng.IntN(32)
	case Clock:
		s.Amount = []int{-3600, -60, -1, 1, 60, 3600}[rng.IntN(6)]
	case OneWay:
		s.Amount = rng.IntN(2)
	case Delay:
		s.Amount = []int{1, 5, 20, 50, 100}[rng.IntN(5)]
	case Loss:
		s.Amount = 1 + rng.IntN(20)
	case Duplicate, Corrupt:
		s.Amount = 1 + rng.IntN(30)
	case Rate:
		s.Amount = []int{256, 1024, 10240}[rng.IntN(3)]
	case SlowDisk:
		s.Amount = []int{5, 20, 100}[rng.IntN(3)]
	case Full:
		s.Amount = rng.IntN(2) * 1024
	case Damage:
		s.Amount = rng.IntN(1 << 30)
	}
	return s
}

// hold draws how long a fault lasts.
func hold(rng *rand.Rand, f Fault) time.Duration {
	switch f {
	case Kill, Stop, KillAll, ColdStart, Failpoint, PowerCut, PowerCutAll, LostDisk, OldCopy:
		return between(rng, 200*time.Millisecond, 2*time.Second)
	case Restart, Transfer:
		return 0
	case Damage:
		return between(rng, 2*time.Second, 6*time.Second)
	case Freeze:
		return between(rng, 500*time.Millisecond, 6*time.Second)
	default:
		return between(rng, 100*time.Millisecond, 5*time.Second)
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
