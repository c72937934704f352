package doors

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"trireme/fsm"
	"trireme/fsm/command"
	"trireme/fsm/command/scripttest"
)

// tablePath is the table of what this test has seen.
const tablePath = "../docs/coverage.md"

// TestDoors takes every script through the doors. A row counts as covered by a door if a
// call of it was answered there as its script has it. Every row must be covered where it
// is open, and the table in docs must say no more than what was seen; with
// TRIREME_COVERAGE=write it is written anew.
func TestDoors(t *testing.T) {
	seen := map[string]map[string]bool{"HTTP": {}, "/multi-exec": {}}
	table := rows
	for _, c := range table.Rows() {
		path := filepath.Join("../fsm/command/testdata", c.Group, strings.ReplaceAll(c.Name, " ", "-")+".txt")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		steps, err := scripttest.Parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		t.Run(strings.ReplaceAll(c.Name, " ", "-"), func(t *testing.T) {
			seen["HTTP"][c.Name] = singly(t, path, steps, c.Name)
			seen["/multi-exec"][c.Name] = together(t, path, steps, c.Name)
		})
	}
	for _, c := range table.Rows() {
		for door, open := range map[string]bool{"HTTP": c.Flags&command.NoHTTP == 0, "/multi-exec": c.Flags&(command.NoHTTP|command.NoMulti) == 0} {
			if open && !seen[door][c.Name] && unlike[c.Name] == "" {
				t.Errorf("%s is open over %s, and no call of its script was answered there as it says", c.Name, door)
			}
		}
	}
	check(t, table, seen)
}

// ids are those of the cluster and its nodes, which every cluster draws for itself.
var ids = regexp.MustCompile(`[0-9a-f]{40}`)

// counts tells whether a reply is what the script has for a call of the row that does
// something; of a row that is always refused, the refusal.
func counts(s *scripttest.Step, name string, answer string, refused bool) bool {
	row := rows.Find(s.Argv)
	return row != nil && row.Name == name && (refused || !strings.HasPrefix(answer, "(error)")) &&
		ids.ReplaceAllString(answer, "") == ids.ReplaceAllString(s.Want, "")
}

var rows = command.NewTable()

// alwaysRefused tells whether the script has nothing but errors for the row.
func alwaysRefused(steps []scripttest.Step, name string) bool {
	for i := range steps {
		if row := rows.Find(steps[i].Argv); row != nil && row.Name == name && !strings.HasPrefix(steps[i].Want, "(error)") {
			return false
		}
	}
	return true
}

// unlike are the rows whose replies need not be those of their scripts, and why.
var unlike = map[string]string{
	"restore":       "its payloads are bytes that JSON can't hold",
	"acl genpass":   "chance decides the answer",
	"acl gentoken":  "chance decides the answer",
	"acl list":      "it tells the tokens, which a cluster is founded with",
	"acl resttoken": "the answer is made with the cluster's secret",
	"command count": "its script has mistakes only, which discard a transaction; the number grows with the table",
}

// singly sends a script command by command.
func singly(t *testing.T, where string, steps []scripttest.Step, name string) (covered bool) {
	w, refused := newWorld(t), alwaysRefused(steps, name)
	for i := range steps {
		s := &steps[i]
		w.now += s.After
		if v, went := w.single(t, where, s); went && counts(s, name, s.Shown(v), refused) {
			covered = true
		}
	}
	return covered
}

// together sends what stands between two moments as transactions.
func together(t *testing.T, where string, steps []scripttest.Step, name string) (covered bool) {
	w, refused := newWorld(t), alwaysRefused(steps, name)
	var open []*scripttest.Step
	flush := func() {
		if len(open) == 0 {
			return
		}
		for i, v := range w.transaction(t, where, open) {
			if i < len(open) && counts(open[i], name, open[i].Shown(v), refused) {
				covered = true
			}
		}
		open = nil
	}
	for i := range steps {
		s := &steps[i]
		if s.After > 0 || len(open) > 0 && open[0].As != s.As {
			flush()
			w.now += s.After
		}
		if w.fits(s) {
			open = append(open, s)
			continue
		}
		flush()
		w.single(t, where, s)
	}
	flush()
	return covered
}

// fits tells whether a step can stand in a transaction over HTTP.
func (w *world) fits(s *scripttest.Step) (fits bool) {
	if _, ok := body(s.Argv); !ok || token(s.As) == "" || s.Door == command.Script || s.Door == command.Inside {
		return false
	}
	w.beside.Local(func(v *fsm.View) {
		c, refusal := v.Check(s.As, command.HTTP, s.Argv)
		fits = refusal == nil && c.Flags&command.NoMulti == 0
	})
	return fits
}

// check compares the table in docs with what was seen.
func check(t *testing.T, table *command.Table, seen map[string]map[string]bool) {
	t.Helper()
	var out strings.Builder
	out.WriteString(head)
	lines := map[string]bool{}
	for _, c := range table.Rows() {
		line := fmt.Sprintf("| %s | %s | %s | %s |\n", strings.ToUpper(c.Name), c.Group, cell(c, command.NoHTTP, seen["HTTP"][c.Name]), cell(c, command.NoHTTP|command.NoMulti, seen["/multi-exec"][c.Name]))
		out.WriteString(line)
		lines[line] = true
	}
	if os.Getenv("TRIREME_COVERAGE") == "write" {
		if err := os.WriteFile(tablePath, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	was, err := os.ReadFile(tablePath)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.SplitAfter(strings.TrimPrefix(string(was), head), "\n") {
		if line != "" && !lines[line] {
			t.Errorf("docs/coverage.md says what was not seen; make coverage writes it anew: %s", line)
		}
	}
}

const head = `# What went through which door

Written by a test (` + "`make coverage`" + `), not by hand: "yes" means that the row's script was sent through that door to a
served machine, and that at least one call of the row was answered there as the script has it; all others were answered
as the same machine answers them without a door. "closed" rows are refused there on purpose; "unlike" rows answered as the
machine does, which is not what the script has, for the reason given.

| Command | Family | HTTP | /multi-exec |
|---|---|---|---|
`

func cell(c *command.Command, closed command.Flags, covered bool) string {
	switch {
	case c.Flags&closed != 0:
		return "closed"
	case covered:
		return "yes"
	case unlike[c.Name] != "":
		return "unlike: " + unlike[c.Name]
	}
	return "no"
}
