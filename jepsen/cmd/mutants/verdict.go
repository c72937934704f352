package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/jepsen/mutant"
)

// A verdict records which check found a fault, or that none did.
type verdict struct {
	fault    mutant.Fault
	workload string
	seed     uint64
	took     time.Duration
	rule     string // that was broken; empty if none was
	invalid  string // why what was seen proves nothing: what went wrong without the fault
}

// found reports whether the fault, and nothing else, was seen.
func (v *verdict) found() bool { return v.rule != "" && v.invalid == "" }

// outcome is the last column.
func (v *verdict) outcome() string {
	switch {
	case v.invalid != "":
		return "**invalid**: fails without the fault"
	case v.rule == "":
		return "**not found**"
	}
	return v.rule
}

// line is a verdict for people who wait.
func (v *verdict) line() string {
	text := fmt.Sprintf("%-40s %-18s seed %-6d %6.2f s  %s", v.fault.Name, v.workload, v.seed, v.took.Seconds(), v.outcome())
	if v.invalid != "" {
		text += "\n" + v.invalid
	}
	return text
}

func missed(all []verdict) (n int) {
	for i := range all {
		if !all[i].found() {
			n++
		}
	}
	return n
}

// document is the table.
func document(all []verdict) string {
	var b strings.Builder
	b.WriteString(`# Seeded faults

Written by ` + "`make accept RUN=seeded-faults`" + `. Each line is a fault that the product is built with (package
` + "`jepsen/mutant`" + `), and how long the checkers took to notice. They have 90 seconds. The seed is that of the history or run
that showed it, searched from 1 on; the same one has passed without the fault. A line is *invalid* if it has not: then what
was seen proves nothing.

| fault | what the product does | workload | seed | seconds | what was noticed |
|---|---|---|---|---|---|
`)
	for i := range all {
		v := &all[i]
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %.2f | %s |\n", v.fault.Name, v.fault.Means, v.workload, v.seed, v.took.Seconds(), v.outcome())
	}
	fmt.Fprintf(&b, "\n%d faults, %d found.\n", len(all), len(all)-missed(all))
	return b.String()
}
