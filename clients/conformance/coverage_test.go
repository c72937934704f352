package conformance

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/commandtest"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
)

// entryPoint is one of the ways in which clients reach a command.
type entryPoint int

const (
	overHTTP entryPoint = iota
	inTransaction
	inScript
	overRESP
	entryPoints
)

var entryNames = [entryPoints]string{"HTTP", "/multi-exec", "script", "RESP"}

// closed are the flags that close an entry point to a row.
var closed = [entryPoints]command.Flags{command.NoHTTP, command.NoHTTP | command.NoMulti, command.NoScript | command.NoScriptWait, 0}

func (p entryPoint) open(c *command.Command) bool { return c.Flags&closed[p] == 0 }

// unlike are the rows whose replies need not be those of their scripts, and why. What they
// answer is compared all the same with what the machine answers without an entry point.
var unlike = map[string]string{
	"restore":       "its payloads are bytes that JSON can't hold",
	"acl genpass":   "chance decides the answer",
	"acl gentoken":  "chance decides the answer",
	"acl list":      "it tells the tokens, which a cluster is founded with",
	"acl resttoken": "the answer is made with the cluster's secret",
	"command":       "existing clients of the gateway expect an empty array of it there; elsewhere it tells the table, which is compared with redis-server",
	"command count": "its script has mistakes only, which discard a transaction; the number grows with the table",
}

// coverage counts the calls that were answered correctly, by entry point and row.
type coverage struct {
	answered, refused [entryPoints]map[string]bool
	compared          [entryPoints]int
}

func newCoverage() *coverage {
	s := &coverage{}
	for d := range entryPoints {
		s.answered[d], s.refused[d] = map[string]bool{}, map[string]bool{}
	}
	return s
}

// proven reports whether the row was answered at the entry point, or refused if it is closed.
func (co *coverage) proven(d entryPoint, c *command.Command) bool {
	if d.open(c) {
		return co.answered[d][c.Name]
	}
	return co.refused[d][c.Name]
}

// witness is the test that checks the replies to the calls of a row.
type witness struct {
	seen    *coverage
	row     *command.Command
	entry   entryPoint
	refused bool // the row has no other replies than errors
}

func (w witness) at(d entryPoint) witness {
	w.entry = d
	return w
}

// ids are those of the cluster and its nodes, which every cluster draws for itself.
var ids = regexp.MustCompile(`[0-9a-f]{40}`)

// closing are the words in which entry points refuse rows.
var closing = regexp.MustCompile(`is not allowed in REST|Command not allowed inside a transaction|is not allowed from script`)

// saw is told that a call was answered, in the form of its script, and what the script has.
func (w witness) saw(argv [][]byte, answer, want string) {
	w.seen.compared[w.entry]++
	row := rows.Find(argv)
	if row == nil || row.Name != w.row.Name {
		return
	}
	failed := strings.HasPrefix(answer, "(error)")
	if failed && closing.MatchString(answer) {
		w.seen.refused[w.entry][row.Name] = true
	}
	if (w.refused || !failed) && ids.ReplaceAllString(answer, "") == ids.ReplaceAllString(want, "") {
		w.seen.answered[w.entry][row.Name] = true
	}
}

// sawStep is told that a step was answered as it would be without an entry point.
func (w witness) sawStep(s *scripttest.Step, answer string) { w.saw(s.Argv, answer, s.Want) }

// judge demands of every row a proof at every entry point, and that the list of commands that
// there have to be names no row that isn't there.
func (co *coverage) judge(t *testing.T) {
	t.Helper()
	for _, c := range rows.Rows() {
		for d := range entryPoints {
			if !co.proven(d, c) && unlike[c.Name] == "" {
				t.Errorf("%s is unproven at %s, which is open to it: %v", c.Name, entryNames[d], d.open(c))
			}
		}
	}
	for _, r := range surface(t).Rows {
		if c := rows.Row(r.Name); r.Tier != "P2" && c == nil {
			t.Errorf("%s of tier %s is missing", r.Name, r.Tier)
		}
	}
}

func surface(t *testing.T) *commandtest.Surface {
	t.Helper()
	s, err := commandtest.ReadSurface("../../fsm/command/testdata/surface.txt")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tablePath is the table of what this test has seen.
const tablePath = "../../docs/reports/coverage.md"

// write compares the table in docs with what was seen, or writes it.
func (co *coverage) write(t *testing.T) {
	t.Helper()
	tiers := map[string]string{}
	for _, r := range surface(t).Rows {
		tiers[r.Name] = r.Tier
	}
	var out strings.Builder
	out.WriteString(head)
	lines := map[string]bool{}
	for _, c := range rows.Rows() {
		line := fmt.Sprintf("| %s | %s | %s |", strings.ToUpper(c.Name), c.Group(), tiers[c.Name])
		for d := range entryPoints {
			line += " " + co.cell(d, c) + " |"
		}
		line += "\n"
		out.WriteString(line)
		lines[line] = true
	}
	if os.Getenv("TRIREME_COVERAGE") == "write" {
		if err := os.WriteFile(tablePath, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	compare(t, lines)
}

// compare fails where the table in docs says what was not seen, or leaves a row out.
func compare(t *testing.T, lines map[string]bool) {
	t.Helper()
	was, err := os.ReadFile(tablePath)
	if err != nil {
		t.Fatal(err)
	}
	text := string(was)
	for _, line := range strings.SplitAfter(strings.TrimPrefix(text, head), "\n") {
		if line != "" && !lines[line] {
			t.Errorf("docs/reports/coverage.md says what was not seen; make coverage writes it anew: %s", line)
		}
	}
	for line := range lines {
		if !strings.Contains(text, line) {
			t.Errorf("docs/reports/coverage.md lacks a line; make coverage writes it anew: %s", line)
		}
	}
}

const head = `# Commands by entry point

Written by a test (` + "`make coverage`" + `), not by hand: "yes" means that the row's script was sent through that entry point to a
served machine, and that at least one call of the row was answered there as the script has it; all others were answered
as the same machine answers them without an entry point. From a script means ` + "`redis.pcall`" + ` in ` + "`EVAL`" + `. What belongs to a connection, such
as subscriptions and waits, was answered as the conversations of the RESP port's tests have it. "closed" rows are
refused at that entry point on purpose, and the refusal was seen; "unlike" rows answered as the machine does, which is not what
the script has, for the reason given. P0 is what clients send, P1 what tools do.

| Command | Family | Tier | HTTP | /multi-exec | Script | RESP |
|---|---|---|---|---|---|---|
`

func (co *coverage) cell(d entryPoint, c *command.Command) string {
	switch {
	case co.proven(d, c) && d.open(c):
		return "yes"
	case co.proven(d, c):
		return "closed"
	case unlike[c.Name] != "":
		return "unlike: " + unlike[c.Name]
	}
	return "no"
}
