package command_test

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/commandtest"
)

// TestSurface keeps the table and the list of commands that there have to be together:
// every one is there, with its arity, and is open to the HTTP gateway and to the Read Only
// token as the list says; what is not must say why. A reason that has become wrong fails
// the test too.
func TestSurface(t *testing.T) {
	surface, err := commandtest.ReadSurface("testdata/surface.txt")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]*command.Command{}
	for _, c := range command.NewTable().Rows() {
		table[c.Name] = c
	}
	for _, r := range surface.Rows {
		c := table[r.Name]
		delete(table, r.Name)
		reason, waits := surface.Pending[r.Name]
		if c == nil {
			if !waits {
				t.Errorf("surface.txt:%d: %s is not in the table", r.Line, r.Name)
			}
			continue
		}
		if waits {
			t.Logf("surface.txt:%d: %s is there and still said to wait for %s", r.Line, r.Name, reason)
		}
		same := c.Arity == r.Arity && (c.Flags&command.NoHTTP == 0) == r.HTTP && (c.Flags&command.ReadOnlyUser != 0) == r.ReadOnly
		if reason, explained := surface.Differs[r.Name]; explained == same {
			t.Errorf("surface.txt:%d: %s: arity %d, HTTP %v, Read Only %v; said to differ: %q", r.Line, r.Name, c.Arity,
				c.Flags&command.NoHTTP == 0, c.Flags&command.ReadOnlyUser != 0, reason)
		}
	}
	for name, c := range table {
		if c.Group() != "messages" { // these are ours alone
			t.Errorf("%s is in the table, but not in surface.txt", name)
		}
	}
}
