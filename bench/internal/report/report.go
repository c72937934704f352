package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Exit codes of a benchmark run.
const (
	ExitHolds  = 0 // every row that ran holds its line
	ExitMissed = 1 // a line was missed or a row could not be measured
	ExitNoPeer = 3 // nothing missed, but a peer is not installed
)

// Report is one run.
type Report struct {
	Started time.Time         `json:"started"`
	Machine Machine           `json:"machine"`
	Servers map[string]string `json:"servers"` // versions
	Flags   []string          `json:"flags"`
	Rows    []*Row            `json:"rows"`
}

// Put adds row or replaces the one with the same number and part, keeping the
// order of the plan.
func (r *Report) Put(row *Row) {
	i := slices.IndexFunc(r.Rows, func(o *Row) bool { return o.ID == row.ID && o.Part == row.Part })
	if i >= 0 {
		r.Rows[i] = row
		return
	}
	r.Rows = append(r.Rows, row)
	slices.SortStableFunc(r.Rows, func(a, b *Row) int { return number(a.ID) - number(b.ID) })
}

// Done reports whether the row with this number has a figure in the report,
// good or bad, in all its parts.
func (r *Report) Done(id string) bool {
	found := false
	for _, row := range r.Rows {
		if row.ID == id {
			if row.Verdict == Failed || row.Verdict == NoPeer {
				return false
			}
			found = true
		}
	}
	return found
}

// Measured reports whether this very row, by its number and part, has a figure in the report.
func (r *Report) Measured(row *Row) bool {
	return slices.ContainsFunc(r.Rows, func(o *Row) bool {
		return o.ID == row.ID && o.Part == row.Part && o.Verdict != Failed && o.Verdict != NoPeer
	})
}

// number is the leading number of a row's id.
func number(id string) (n int) {
	fmt.Sscan(id, &n)
	return n
}

// Exit is the exit code that the rows ask for.
func (r *Report) Exit() int {
	code := ExitHolds
	for _, row := range r.Rows {
		switch row.Verdict {
		case Missed, Failed:
			return ExitMissed
		case NoPeer:
			code = ExitNoPeer
		}
	}
	return code
}

// Save writes the report as JSON, whole or not at all.
func (r *Report) Save(path string) error { return save(path, r) }

func save(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(b, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Load reads what Save wrote.
func Load(path string) (*Report, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
