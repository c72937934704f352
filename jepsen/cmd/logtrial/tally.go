package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// verdict is the outcome of one trial.
type verdict string

const (
	unharmed verdict = "unharmed" // opened, everything acknowledged is there
	refused  verdict = "refused"  // not opened, with the error for damage
	failed   verdict = "failed"   // not opened, with another error
	died     verdict = "died"     // the process that looked ended by itself
	stuck    verdict = "stuck"    // opens, but takes no append any more
	wentOn   verdict = "went on"  // after an error that must end the process
	silent   verdict = "SILENT"   // prefix: wrong without an error
)

// tally counts the outcomes of an experiment.
type tally struct {
	total   int
	n       map[verdict]int
	allowed []verdict
	samples map[verdict]string
	notes   []string
}

func newTally(allowed ...verdict) *tally {
	return &tally{n: map[verdict]int{}, samples: map[verdict]string{}, allowed: append(allowed, unharmed)}
}

func (t *tally) add(v verdict, detail string) {
	t.total++
	t.n[v]++
	if t.samples[v] == "" {
		t.samples[v] = detail
	}
}

func (t *tally) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

func (t *tally) silent() (k int) {
	for v, n := range t.n {
		if strings.HasPrefix(string(v), string(silent)) {
			k += n
		}
	}
	return k
}

func (t *tally) bad() (k int) {
	for v, n := range t.n {
		if !slices.Contains(t.allowed, v) {
			k += n
		}
	}
	return k
}

// line is the report: one line, and one more for each sort of bad outcome.
func (t *tally) line(name string) string {
	var b strings.Builder
	var parts []string
	for _, v := range slices.Sorted(maps.Keys(t.n)) {
		parts = append(parts, fmt.Sprintf("%s %d", v, t.n[v]))
	}
	fmt.Fprintf(&b, "%s: %d trials, %d silent, %d bad (%s)", name, t.total, t.silent(), t.bad(), strings.Join(append(parts, t.notes...), ", "))
	for _, v := range slices.Sorted(maps.Keys(t.n)) {
		if !slices.Contains(t.allowed, v) {
			fmt.Fprintf(&b, "\n    %s: e.g. %.300s", v, t.samples[v])
		}
	}
	return b.String()
}
