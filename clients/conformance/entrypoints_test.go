package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
)

// rows is the table of commands, in which the tests look calls up.
var rows = command.NewTable()

// TestEntryPoints takes the script of every row through the entry points that clients use: as single
// commands and as transactions over HTTP, from a Lua script, over RESP. What belongs to
// connections is in the conversations of the RESP port, which are held too. A row is proven
// at an entry point if a call of it was answered there as its script has it, or, where the entry point is
// closed to it, was refused. Every row must be proven at every entry point, or have its reason in
// unlike; the table in docs must say no more than what was seen, and with
// TRIREME_COVERAGE=write it is written anew.
func TestEntryPoints(t *testing.T) {
	seen := newCoverage()
	for _, c := range rows.Rows() {
		path := filepath.Join("../../fsm/command/testdata", c.Group(), strings.ReplaceAll(c.Name, " ", "-")+".txt")
		steps := read(t, path)
		t.Run(strings.ReplaceAll(c.Name, " ", "-"), func(t *testing.T) {
			w := witness{seen: seen, row: c, refused: alwaysRefused(steps, c.Name)}
			singly(t, path, steps, w.at(overHTTP))
			together(t, path, steps, w.at(inTransaction))
			fromLua(t, path, steps, w.at(inScript))
			overPort(t, path, steps, w.at(overRESP))
		})
	}
	if compared := seen.compared[overRESP]; compared < 3000 {
		t.Errorf("only %d replies were compared over RESP", compared)
	}
	converse(t, seen)
	seen.judge(t)
	seen.write(t)
}

// read is the script at path.
func read(t *testing.T, path string) []scripttest.Step {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := scripttest.Parse(string(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return steps
}

// alwaysRefused reports whether the script has nothing but errors for the row.
func alwaysRefused(steps []scripttest.Step, name string) bool {
	for i := range steps {
		if row := rows.Find(steps[i].Argv); row != nil && row.Name == name && !strings.HasPrefix(steps[i].Want, "(error)") {
			return false
		}
	}
	return true
}
