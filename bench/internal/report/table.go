package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// columns are the headings of both tables.
var columns = []string{"#", "work", "against", "ours", "peer", "median", "quartiles", "line", "aim", "pairs", "verdict"}

// cells renders a row in the order of columns.
func (r *Row) cells() []string {
	name := r.Work
	if r.Part != "" {
		name += " (" + r.Part + ")"
	}
	sign := ">="
	if r.AtMost {
		sign = "<="
	}
	aim := Figure(r.AimAt, r.unit())
	if r.AimOurs {
		aim = Figure(r.AimAt, r.Unit)
	}
	if len(r.Pairs) == 0 {
		return []string{r.ID, name, r.Against, "", "", "", "", sign + " " + Figure(r.Line, r.unit()), aim, "0", string(r.Verdict)}
	}
	peer := ""
	if r.Ratio {
		peer = Figure(r.PeerMid, r.Unit)
	}
	return []string{
		r.ID, name, r.Against, Figure(r.OursMid, r.Unit), peer, Figure(r.Median, r.unit()),
		Figure(r.Q1, "") + " .. " + Figure(r.Q3, ""), sign + " " + Figure(r.Line, r.unit()), aim, fmt.Sprint(len(r.Pairs)), string(r.Verdict),
	}
}

// unit is the unit of Value.
func (r *Row) unit() string {
	if r.Ratio {
		return "x"
	}
	return r.Unit
}

// Figure prints three significant digits, with k and M for large numbers.
func Figure(v float64, unit string) string {
	scale, text := "", ""
	switch a := math.Abs(v); {
	case a >= 1e6:
		v, scale = v/1e6, "M"
	case a >= 1e4:
		v, scale = v/1e3, "k"
	}
	switch a := math.Abs(v); {
	case a >= 100 || v == math.Trunc(v):
		text = fmt.Sprintf("%.0f", v)
	case a >= 10:
		text = fmt.Sprintf("%.1f", v)
	default:
		text = fmt.Sprintf("%.2f", v)
	}
	return strings.TrimSpace(text + scale + " " + unit)
}

// Text writes the rows for a terminal, with reasons and notes below each.
func (r *Report) Text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(columns, "\t"))
	for _, row := range r.Rows {
		fmt.Fprintln(t, strings.Join(row.cells(), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return r.remarks(w, "  row %s: %s\n")
}

// Markdown writes the same as a table to paste into docs/performance.md.
func (r *Report) Markdown(w io.Writer) error {
	fmt.Fprintf(w, "%s, %s, %d cores, %s, Linux %s, %s. Load before: %s. Versions: %s.\n\n", r.Started.Format("2006-01-02"), r.Machine.CPU, r.Machine.Cores,
		r.Machine.Memory, r.Machine.Kernel, r.Machine.Go, r.Machine.Load, r.versions())
	fmt.Fprintln(w, "| "+strings.Join(columns, " | ")+" |")
	fmt.Fprintln(w, strings.Repeat("|---", len(columns))+"|")
	for _, row := range r.Rows {
		fmt.Fprintln(w, "| "+strings.Join(row.cells(), " | ")+" |")
	}
	fmt.Fprintln(w)
	return r.remarks(w, "- Row %s: %s\n")
}

// versions lists the servers measured.
func (r *Report) versions() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.Servers)) {
		all = append(all, name+" "+r.Servers[name])
	}
	return strings.Join(all, ", ")
}

// remarks writes reasons and notes, one a line.
func (r *Report) remarks(w io.Writer, format string) error {
	for _, row := range r.Rows {
		name := strings.TrimSpace(row.ID + " " + row.Part)
		if row.Reason != "" {
			if _, err := fmt.Fprintf(w, format, name, row.Reason); err != nil {
				return err
			}
		}
		for _, n := range row.Notes {
			if _, err := fmt.Fprintf(w, format, name, n); err != nil {
				return err
			}
		}
	}
	return nil
}
