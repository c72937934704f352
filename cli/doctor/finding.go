package doctor

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Level is the severity of a finding.
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

// Mode says which command started a node. It decides which checks are worth a finding: a developer's machine need not bear the load of production.
type Mode uint8

const (
	// Production is a node of serve.
	Production Mode = 1 << iota
	// LocalCluster is a node of serve whose whole cluster is on this machine.
	LocalCluster
	// Development is a node of dev.
	Development

	everywhere = Production | LocalCluster | Development
)

// A check has the name that its findings show and the modes that they apply to.
type check struct {
	name string
	in   Mode
}

// The checks. Each says by itself where it applies.
var (
	checkDisk        = check{"disk", everywhere}
	checkSpeed       = check{"disk", Production}                // of the disk, before the node runs, and whether it keeps what it has
	checkRunning     = check{"disk", Production | LocalCluster} // the disk's speed while the node runs: no news of a developer's machine
	checkSpace       = check{"space", everywhere}
	checkFiles       = check{"limits", Production}
	checkMemory      = check{"memory", Production}
	checkAddress     = check{"address", everywhere}
	checkCertificate = check{"certificate", everywhere}
	checkPeer        = check{"peer", everywhere}
	checkClock       = check{"clock", everywhere}
	checkGossip      = check{"gossip", everywhere}
	checkVersion     = check{"version", everywhere}
	checkState       = check{"state", everywhere}
	checkSettings    = check{"settings", everywhere}
	checkStart       = check{"start", everywhere}
	checkHistory     = check{"history", Production}
	checkDeliveries  = check{"deliveries", everywhere}
)

// Finding is the outcome of one check.
type Finding struct {
	// Check names what was looked at: clock, disk, space, limits, memory, address, certificate,
	// peer, gossip, version, state, settings, start, history, deliveries.
	Check string `json:"check"`
	// About is the node, folder or file that it is about; empty for the node itself.
	About string `json:"about,omitempty"`
	Level Level  `json:"level"`
	Found string `json:"found"`
	// Do says what to do; empty where nothing is amiss.
	Do string `json:"do,omitempty"`

	in Mode // where it applies; none once it is in a report
}

func found(c check, about string, level Level, do, format string, args ...any) Finding {
	if level == OK {
		do = ""
	}
	return Finding{Check: c.name, About: about, Level: level, Found: fmt.Sprintf(format, args...), Do: do, in: c.in}
}

// Report holds the findings of an examination of one node.
type Report struct {
	Node     string    `json:"node"`
	Worst    Level     `json:"worst"`
	Findings []Finding `json:"findings"`
}

// NewReport makes a report of the findings that apply to a node that was started so, the worst first and otherwise in their order.
func NewReport(node string, started Mode, findings []Finding) Report {
	r := Report{Node: node, Findings: []Finding{}}
	for _, f := range findings {
		if f.in&started != 0 {
			f.in = 0
			r.Findings = append(r.Findings, f)
		}
	}
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
