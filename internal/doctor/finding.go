package doctor

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Level is how bad a finding is.
type Level int

// The levels, from good to bad.
const (
	OK      Level = iota // as it should be
	Warning              // works, and will hurt one day
	Failure              // must be put right
)

var levelNames = [...]string{"ok", "warning", "failure"}

// String names the level as tables and JSON show it.
func (l Level) String() string { return levelNames[l] }

// MarshalText is String, for JSON.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (l *Level) UnmarshalText(b []byte) error {
	i := slices.Index(levelNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("doctor: %q is not a level", b)
	}
	*l = Level(i)
	return nil
}

// Finding is the outcome of one check.
type Finding struct {
	// Check names what was looked at: clock, disk, space, limits, memory, address, certificate,
	// peer, gossip, version, state, settings, start.
	Check string `json:"check"`
	// About is the node, folder or file that it is about; empty for the node itself.
	About string `json:"about,omitempty"`
	Level Level  `json:"level"`
	Found string `json:"found"`
	// Do says what to do; empty where nothing is amiss.
	Do string `json:"do,omitempty"`
}

func found(check, about string, level Level, do, format string, args ...any) Finding {
	if level == OK {
		do = ""
	}
	return Finding{Check: check, About: about, Level: level, Found: fmt.Sprintf(format, args...), Do: do}
}

// Report is what an examination of one node found.
type Report struct {
	Node     string    `json:"node"`
	Worst    Level     `json:"worst"`
	Findings []Finding `json:"findings"`
}

// NewReport makes a report, the worst findings first and otherwise in their order.
func NewReport(node string, findings []Finding) Report {
	r := Report{Node: node, Findings: slices.Clone(findings)}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(b.Level, a.Level) })
	if len(r.Findings) > 0 {
		r.Worst = r.Findings[0].Level
	}
	return r
}

// Write prints a report for people: a table, and below it what to do.
func (r Report) Write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "LEVEL\tCHECK\tABOUT\tFOUND")
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", f.Level, f.Check, cmp.Or(f.About, "-"), f.Found)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, f := range r.Findings {
		if f.Do != "" {
			fmt.Fprintf(out, "%s: %s\n", strings.TrimSpace(f.Check+" "+f.About), f.Do)
		}
	}
	_, err := fmt.Fprintf(out, "%s: %s\n", cmp.Or(r.Node, "this machine"), r.Worst)
	return err
}
