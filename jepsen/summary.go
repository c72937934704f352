package jepsen

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/jepsen/check"
	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/nemesis"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// Millis is a duration that JSON shows in milliseconds.
type Millis time.Duration

// MarshalJSON implements json.Marshaler.
func (m Millis) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%.3f", time.Duration(m).Seconds()*1000), nil
}

// Counts is the outcome of a set of operations.
type Counts struct {
	Ops        int    `json:"ops"`
	OK         int    `json:"ok"`
	NotApplied int    `json:"notApplied"`
	Unknown    int    `json:"unknown"`
	P50        Millis `json:"p50Ms"` // latency of answered operations
	P99        Millis `json:"p99Ms"`
	Max        Millis `json:"maxMs"`
	Check      Millis `json:"checkMs"` // what judging them took
}

// FaultFigures counts one kind of fault and its effects.
type FaultFigures struct {
	Kind     string `json:"-"`
	Count    int    `json:"count"`
	OnLeader int    `json:"onLeader"`
	Recover  Millis `json:"firstWriteP50Ms"` // from the fault to the first write sent and acknowledged after it
	Worst    Millis `json:"firstWriteMaxMs"`
}

// Summary is the report of a run.
type Summary struct {
	Seed       uint64                   `json:"seed"`
	Seconds    float64                  `json:"seconds"`
	Ops        int                      `json:"ops"`
	OK         int                      `json:"ok"`
	NotApplied int                      `json:"notApplied"`
	Unknown    int                      `json:"unknown"`
	Workloads  map[string]Counts        `json:"workloads"`
	Faults     map[string]*FaultFigures `json:"faults"`
	Pauses
	Messages      map[string]int `json:"messages,omitempty"` // messages, ticks and runs that came to their end, by workload
	Standstill    Millis         `json:"standstillMs"`       // in which the harness did not run either
	Duplicates    int            `json:"duplicates"`         // deliveries that succeeded again after a claim was lost
	Network       string         `json:"network"`
	Commit        string         `json:"commit"`
	Timeline      []Second       `json:"timeline"`
	Rounds        []string       `json:"rounds,omitempty"`
	LeaderChanges int            `json:"leaderChanges"`
	Terms         uint64         `json:"terms"` // terms begun during the run
	Findings
	Events []nemesis.Event `json:"events"`

	stalls []stall
	record
}

// Pauses are the times without an acknowledged write.
type Pauses struct {
	LongestPause Millis `json:"longestPauseMs"`
	// HealthyPause and StalledPause are the longest of those that lie outside the faults
	// that leave no majority: away from stalled disks, and around them.
	HealthyPause Millis `json:"healthyPauseMs"`
	StalledPause Millis `json:"stalledPauseMs"`
	Unavailable  Millis `json:"unavailableMs"` // all pauses of a second and more
}

// Findings are what went wrong. A run without any has passed.
type Findings struct {
	Crashes   []testcluster.Crash `json:"crashes"`
	Problems  []string            `json:"problems"` // faults that failed, final reads that failed
	Anomalies []check.Anomaly     `json:"anomalies"`
}

// Failed reports whether anything went wrong.
func (f *Findings) Failed() bool {
	return len(f.Anomalies)+len(f.Crashes)+len(f.Problems) > 0
}

// record holds the times of operations, from which the pauses and the timeline are derived.
type record struct {
	acknowledged []span // of writes
	answered     []span // operations of all kinds
	failed       []int64
}

// span is one acknowledged write, in nanoseconds since the run began.
type span struct{ call, end int64 }

func newSummary(r *run) *Summary {
	s := &Summary{
		Seed: r.Seed, Seconds: r.took.Seconds(),
		Workloads: map[string]Counts{}, Faults: map[string]*FaultFigures{},
		Messages: map[string]int{}, Network: networks[r.Network], Commit: commit(),
		stalls: r.watch.stalls, LeaderChanges: r.watch.changes, Terms: r.watch.lastTerm - r.watch.firstTerm,
		Findings: Findings{Crashes: r.cluster.Crashes(), Problems: []string{}, Anomalies: []check.Anomaly{}}, Events: r.events,
	}
	for _, e := range r.events {
		if e.Error != "" {
			s.Problems = append(s.Problems, fmt.Sprintf("%s of %s at %v: %s", e.Fault, e.Node, e.From, e.Error))
		}
	}
	if r.final != nil {
		s.Problems = append(s.Problems, r.final.Error())
	}
	return s
}

// count adds one workload's operations to the figures.
func (s *Summary) count(name string, ops []history.Op) {
	counts := Counts{Ops: len(ops)}
	var took []time.Duration
	for _, op := range ops {
		switch op.Outcome {
		case history.OK:
			counts.OK++
			s.answered = append(s.answered, span{op.Call, op.Return})
			took = append(took, time.Duration(op.Return-op.Call))
			if op.Writes() && op.Kind != history.Publish {
				s.acknowledged = append(s.acknowledged, span{op.Call, op.Return})
			}
		case history.NotApplied:
			counts.NotApplied++
			s.failed = append(s.failed, op.Return)
		default:
			counts.Unknown++
			s.failed = append(s.failed, op.Return)
		}
	}
	slices.Sort(took)
	counts.P50, counts.P99, counts.Max = Millis(quantile(took, 0.5)), Millis(quantile(took, 0.99)), Millis(quantile(took, 1))
	s.Workloads[name] = counts
	s.Ops += counts.Ops
	s.OK += counts.OK
	s.NotApplied += counts.NotApplied
	s.Unknown += counts.Unknown
}

// judge adds one workload's verdict.
func (s *Summary) judge(name string, r check.Report, took time.Duration) {
	counts := s.Workloads[name]
	counts.Check = Millis(took)
	s.Workloads[name] = counts
	s.Anomalies = append(s.Anomalies, r.Anomalies...)
}

// replay has the second checker judge everything together.
func (s *Summary) replay(all []history.Op) {
	began := time.Now()
	report := check.Replay(all)
	s.Workloads["replay"] = Counts{Ops: report.Ops, Check: Millis(time.Since(began))}
	s.Anomalies = append(s.Anomalies, report.Anomalies...)
}

// quantile picks from a sorted list; 0 from an empty one.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// measure derives the figures about pauses, once everything is counted.
func (s *Summary) measure() {
	slices.SortFunc(s.acknowledged, func(a, b span) int { return int(a.end - b.end) })
	s.pauses()
	s.timeline()
	recovery := map[string][]time.Duration{}
	for _, e := range s.Events {
		kind := string(e.Fault)
		if s.Faults[kind] == nil {
			s.Faults[kind] = &FaultFigures{Kind: kind}
		}
		s.Faults[kind].Count++
		if e.Led {
			s.Faults[kind].OnLeader++
		}
		recovery[kind] = append(recovery[kind], s.firstWriteAfter(e.From))
	}
	for kind, took := range recovery {
		slices.Sort(took)
		s.Faults[kind].Recover, s.Faults[kind].Worst = Millis(quantile(took, 0.5)), Millis(quantile(took, 1))
	}
}

// pauses finds the times without an acknowledged write.
func (s *Summary) pauses() {
	for _, stall := range s.stalls {
		s.Standstill += Millis(stall.Until - stall.From)
	}
	last := int64(0)
	for _, w := range append(s.acknowledged, span{end: int64(s.Seconds * 1e9)}) {
		pause := Millis(w.end - last)
		s.LongestPause = max(s.LongestPause, pause)
		if time.Duration(pause) >= time.Second {
			s.Unavailable += pause
		}
		switch lost, stalled := s.around(last, w.end); {
		case lost:
		case stalled:
			s.StalledPause = max(s.StalledPause, pause)
		default:
			s.HealthyPause = max(s.HealthyPause, pause)
		}
		last = max(last, w.end)
	}
}

// around says whether a time touches a fault that left no majority, or a standstill of the
// machine, or a stalled disk.
func (s *Summary) around(from, to int64) (lost, stalled bool) {
	for _, stall := range s.stalls {
		lost = lost || int64(stall.From) < to && int64(stall.Until) > from
	}
	for _, e := range s.Events {
		if int64(e.From) < to && int64(e.Ready) > from {
			lost = lost || e.Fault.NoMajority()
			stalled = stalled || e.Fault.Stalls()
		}
	}
	return lost, stalled
}

// Second is one second of a run.
type Second struct {
	OK     int    `json:"ok"`     // operations answered
	Failed int    `json:"failed"` // refused, or of unknown outcome
	P50    Millis `json:"p50Ms"`
	P99    Millis `json:"p99Ms"`
}

// timeline sorts what was answered into seconds.
func (s *Summary) timeline() {
	took := make([][]time.Duration, int(s.Seconds)+1)
	s.Timeline = make([]Second, len(took))
	for _, a := range s.answered {
		if i := int(a.end / 1e9); i < len(took) {
			took[i] = append(took[i], time.Duration(a.end-a.call))
		}
	}
	for _, end := range s.failed {
		if i := int(end / 1e9); i < len(took) {
			s.Timeline[i].Failed++
		}
	}
	for i, all := range took {
		slices.Sort(all)
		s.Timeline[i].OK, s.Timeline[i].P50, s.Timeline[i].P99 = len(all), Millis(quantile(all, 0.5)), Millis(quantile(all, 0.99))
	}
}

// networks names what stands between the nodes.
var networks = map[testcluster.Kind]string{testcluster.Loopback: "loopback", testcluster.Relayed: "relay", testcluster.Switched: "switch"}

// commit is the product's, as far as the harness knows.
func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// firstWriteAfter returns the time from at to the first acknowledgement of a write that was sent after
// at, or to the run's end without one.
func (s *Summary) firstWriteAfter(at time.Duration) time.Duration {
	for _, w := range s.acknowledged {
		if w.call >= int64(at) {
			return time.Duration(w.end) - at
		}
	}
	return time.Duration(s.Seconds*1e9) - at
}

// shown bounds the anomalies that are rendered for people; the summary holds all.
const shown = 10

// String renders what went wrong for people.
func (s *Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d operations, %d anomalies, %d crashes, %d problems", s.Seed, s.Ops, len(s.Anomalies), len(s.Crashes), len(s.Problems))
	for _, a := range s.Anomalies[:min(len(s.Anomalies), shown)] {
		fmt.Fprintf(&b, "\n%v", a)
	}
	for _, c := range s.Crashes {
		fmt.Fprintf(&b, "\n%s (pid %d) ended by itself with exit code %d; its log ends:\n%s", c.Node, c.Pid, c.ExitCode, c.Log)
	}
	for _, p := range s.Problems {
		fmt.Fprintf(&b, "\n%s", p)
	}
	return b.String()
}

// Save writes the summary as JSON.
func (s *Summary) Save(path string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("save summary: %w", err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("save summary: %w", err)
	}
	return nil
}
