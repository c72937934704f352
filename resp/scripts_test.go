package resp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"trireme/fsm"
	"trireme/fsm/acl"
	"trireme/fsm/command"
	"trireme/fsm/command/scripttest"
	"trireme/resp"
	"trireme/resp/resptest"
)

// TestCommandScripts runs the scripts of all commands over connections: one that speaks
// RESP3 and is answered in types, and one that speaks RESP2. Other doors and users are not
// the port's, and what waits or belongs to a connection has tests of its own.
func TestCommandScripts(t *testing.T) {
	paths, err := filepath.Glob("../fsm/command/testdata/*/*.txt")
	if err != nil || len(paths) < 100 {
		t.Fatal(len(paths), err)
	}
	table := command.NewTable()
	compared := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		steps, err := scripttest.Parse(string(text))
		if err != nil {
			t.Fatal(path, err)
		}
		t.Run(filepath.Base(path), func(t *testing.T) { compared += overRESP(t, table, steps) })
	}
	if compared < 3000 {
		t.Errorf("only %d replies were compared", compared)
	}
}

// overRESP runs a script twice, once in each protocol, and counts the replies compared.
func overRESP(t *testing.T, table *command.Table, steps []scripttest.Step) (compared int) {
	for _, three := range []bool{true, false} {
		e := resptest.NewEngine(t, scripttest.Start)
		c := resptest.Login(t, e.Serve(t, resp.Options{}))
		if three {
			c.Do("HELLO", "3")
		}
		for i := range steps {
			s := &steps[i]
			e.Pass(s.After)
			if !ofPort(table, s) {
				e.Run(t, fsm.Batch{As: s.As, Door: s.Door, Rows: [][][]byte{s.Argv}})
				continue
			}
			words := make([]string, len(s.Argv))
			for i, w := range s.Argv {
				words[i] = string(w)
			}
			v := c.Do(words...)
			compared++
			if want := strings.ReplaceAll(s.Want, "(nil array)", "(nil)"); three && s.Shown(v) != want {
				t.Errorf("line %d: %s\ngot:\n%s\nwant:\n%s", s.Line, s.Text, s.Shown(v), want)
			} else if !three && v.IsError() != strings.HasPrefix(s.Want, "(error) ") {
				t.Errorf("line %d: %s\ngot:\n%s\nwant:\n%s", s.Line, s.Text, s.Shown(v), s.Want)
			}
		}
	}
	return compared
}

// ofPort tells whether a step can be asked of the port with the script's answer.
func ofPort(table *command.Table, s *scripttest.Step) bool {
	if s.Door != command.RESP || s.As != acl.Trusted(acl.DefaultName) || len(s.Argv) == 0 {
		return false
	}
	row := table.Find(s.Argv)
	if row == nil {
		return true
	}
	return row.Flags&command.Blocking == 0 && row.Group != "connection" && row.Group != "transactions" &&
		!strings.HasSuffix(s.Want, "belongs to a connection of its own")
}
