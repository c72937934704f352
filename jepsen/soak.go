package jepsen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Total adds up the runs of a soak.
type Total struct {
	Runs          int            `json:"runs"`
	Seconds       float64        `json:"seconds"`
	Ops           int            `json:"ops"`
	OK            int            `json:"ok"`
	NotApplied    int            `json:"notApplied"`
	Unknown       int            `json:"unknown"`
	Faults        map[string]int `json:"faults"`
	FaultCount    int            `json:"faultCount"`
	LeaderChanges int            `json:"leaderChanges"`
	Messages      map[string]int `json:"messages"`
	Duplicates    int            `json:"duplicates"`
	LongestPause  float64        `json:"longestPauseMs"`
	HealthyPause  float64        `json:"healthyPauseMs"`
	StalledPause  float64        `json:"stalledPauseMs"`
	Anomalies     int            `json:"anomalies"`
	Crashes       int            `json:"crashes"`
	Problems      int            `json:"problems"`
	Failed        []string       `json:"failed,omitempty"` // the folders of the runs that found something
	Each          []Figures      `json:"each"`             // what the goals are set for, by run
}

// Soak performs runs of so long each, one after the other, until together they have
// lasted as long as the settings say. Each has a folder and a seed of its own, both of
// which follow from the settings; those whose summaries are there are not run again, so
// that a stopped soak continues where it was. tell is called after each.
func Soak(ctx context.Context, c Config, each time.Duration, tell func(*Summary)) (Total, error) {
	all := Total{Faults: map[string]int{}, Messages: map[string]int{}}
	count := max(1, int((c.Duration+each-1)/each))
	for i := range count {
		one := c
		one.Dir, one.Seed, one.Duration = filepath.Join(c.Dir, fmt.Sprintf("run-%03d", i+1)), c.Seed+uint64(i), min(each, c.Duration-time.Duration(i)*each)
		summary := filepath.Join(one.Dir, "summary.json")
		if _, err := os.Stat(summary); errors.Is(err, os.ErrNotExist) {
			if err := os.RemoveAll(one.Dir); err != nil { // what a run that was stopped left
				return all, fmt.Errorf("soak: %w", err)
			}
			s, err := Run(ctx, one)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return all, errors.Join(err, os.Remove(summary))
			}
			tell(s)
		}
		if err := all.add(one.Dir, summary); err != nil {
			return all, err
		}
	}
	return all, all.save(c.Dir)
}

// stored is the part of a summary that Total reads.
type stored struct {
	Seed                                           uint64
	Commit                                         string
	Seconds                                        float64
	Ops, OK, NotApplied, Unknown                   int
	LeaderChanges, Duplicates                      int
	LongestPauseMs, HealthyPauseMs, StalledPauseMs float64
	Faults                                         map[string]struct{ Count int }
	Messages                                       map[string]int
	Anomalies, Crashes, Problems                   []json.RawMessage
}

// add takes in the summary of one run.
func (t *Total) add(dir, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	var s stored
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("soak: %s: %w", path, err)
	}
	t.Runs++
	t.Each = append(t.Each, s.figures(filepath.Base(dir)))
	t.Seconds += s.Seconds
	t.Ops, t.OK, t.NotApplied, t.Unknown = t.Ops+s.Ops, t.OK+s.OK, t.NotApplied+s.NotApplied, t.Unknown+s.Unknown
	t.LeaderChanges, t.Duplicates = t.LeaderChanges+s.LeaderChanges, t.Duplicates+s.Duplicates
	t.LongestPause, t.HealthyPause, t.StalledPause = max(t.LongestPause, s.LongestPauseMs), max(t.HealthyPause, s.HealthyPauseMs), max(t.StalledPause, s.StalledPauseMs)
	t.Anomalies, t.Crashes, t.Problems = t.Anomalies+len(s.Anomalies), t.Crashes+len(s.Crashes), t.Problems+len(s.Problems)
	for kind, f := range s.Faults {
		t.Faults[kind] += f.Count
		t.FaultCount += f.Count
	}
	for name, n := range s.Messages {
		t.Messages[name] += n
	}
	if len(s.Anomalies)+len(s.Crashes)+len(s.Problems) > 0 {
		t.Failed = append(t.Failed, filepath.Base(dir))
	}
	return nil
}
