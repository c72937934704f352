package jepsen

import (
	"fmt"
	"strings"
)

// Goals are the minimum load and the limits of a run, without which the absence of anomalies proves nothing.
type Goals struct {
	Ops, Faults, Kinds, LeaderChanges, Messages int // at least
	// Healthy and Stalled are the longest times, in milliseconds, that may pass without an acknowledged write while a
	// majority is healthy: away from stalled disks, and around them.
	Healthy, Stalled float64
	// Unknown is the largest part of the operations, in percent, of which the outcome may be unknown.
	Unknown float64
}

// ShortRun are the goals of a run of some minutes with everything in it.
var ShortRun = Goals{Ops: 75_000, Faults: 60, Kinds: 12, LeaderChanges: 15, Messages: 5_000, Healthy: 3_000, Stalled: 5_000, Unknown: 5}

// Figures are the results of one run that goals are set for.
type Figures struct {
	Name                                        string // of its folder
	Seed                                        uint64
	Commit                                      string
	Ops, Faults, Kinds, LeaderChanges, Messages int
	HealthyPauseMs, StalledPauseMs, Unknown     float64
	Anomalies, Crashes, Problems                int
}

// delivering are the workloads that count messages; the others count runs and waiters.
var delivering = []string{"delivery", "outbox", "queue", "wide-queue", "once", "schedules"}

// figures picks what goals are set for.
func (s *stored) figures(name string) Figures {
	f := Figures{
		Name: name, Seed: s.Seed, Commit: s.Commit, Ops: s.Ops, Kinds: len(s.Faults), LeaderChanges: s.LeaderChanges, HealthyPauseMs: s.HealthyPauseMs, StalledPauseMs: s.StalledPauseMs,
		Anomalies: len(s.Anomalies), Crashes: len(s.Crashes), Problems: len(s.Problems),
	}
	if s.Ops > 0 {
		f.Unknown = 100 * float64(s.Unknown) / float64(s.Ops)
	}
	for _, kind := range s.Faults { // unordered: a sum
		f.Faults += kind.Count
	}
	for _, workload := range delivering {
		f.Messages += s.Messages[workload]
	}
	return f
}

// Goal is one line of a verdict.
type Goal struct {
	About string
	Want  string
	Got   string
	Met   bool
}

// Judge holds one run's figures against the goals.
func (g Goals) Judge(f Figures) []Goal {
	least := func(about string, got, want int) Goal {
		return Goal{about, fmt.Sprintf("at least %d", want), fmt.Sprint(got), got >= want}
	}
	most := func(about string, got, want float64, unit string) Goal {
		return Goal{about, fmt.Sprintf("at most %.0f%s", want, unit), fmt.Sprintf("%.1f%s", got, unit), got <= want}
	}
	none := func(about string, got int) Goal { return Goal{about, "none", fmt.Sprint(got), got == 0} }
	return []Goal{
		least("operations checked", f.Ops, g.Ops),
		least("faults", f.Faults, g.Faults),
		least("kinds of faults", f.Kinds, g.Kinds),
		least("leader changes", f.LeaderChanges, g.LeaderChanges),
		least("messages at their end", f.Messages, g.Messages),
		most("outcomes unknown", f.Unknown, g.Unknown, " %"),
		most("longest time without a write", f.HealthyPauseMs, g.Healthy, " ms"),
		most("the same around a stalled disk", f.StalledPauseMs, g.Stalled, " ms"),
		none("anomalies", f.Anomalies),
		none("processes that ended by themselves", f.Crashes),
		none("faults or reads that failed", f.Problems),
	}
}

// Verdict holds every run against the goals and renders that for people. met says that all runs meet all of them.
func (g Goals) Verdict(runs []Figures) (text string, met bool) {
	var b strings.Builder
	missed := 0
	for _, f := range runs {
		fmt.Fprintf(&b, "%s\n", f.Name)
		for _, line := range g.Judge(f) {
			word := "ok"
			if !line.Met {
				word = "MISSED"
				missed++
			}
			fmt.Fprintf(&b, "  %-36s %-18s %12s  %s\n", line.About, line.Want, line.Got, word)
		}
	}
	if missed == 0 && len(runs) > 0 {
		fmt.Fprintf(&b, "PASS: %d runs meet every goal\n", len(runs))
		return b.String(), true
	}
	fmt.Fprintf(&b, "FAIL: %d goals were missed in %d runs\n", missed, len(runs))
	return b.String(), false
}
