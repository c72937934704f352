package command_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"trireme/fsm/command"
)

// surfaceRow is a line of testdata/surface.txt: a command that there has to be.
type surfaceRow struct {
	name     string
	arity    int
	tier     string // P0, P1 or P2
	http     bool   // the gateway takes it as a command
	readOnly bool   // the Read Only token may give it
	line     int
}

// readSurface reads the rows, and what is said of rows that differ on purpose or are
// still to come: the reasons by name.
func readSurface(t *testing.T) (rows []surfaceRow, differs, pending map[string]string) {
	t.Helper()
	file, err := os.Open("testdata/surface.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	differs, pending = map[string]string{}, map[string]string{}
	in := bufio.NewScanner(file)
	for line := 1; in.Scan(); line++ {
		text := in.Text()
		f := strings.Split(text, " | ")
		switch {
		case text == "" || text[0] == '#':
		case len(f) == 3 && f[0] == "differs":
			differs[f[1]] = f[2]
		case len(f) == 3 && f[0] == "pending":
			pending[f[1]] = f[2]
		case len(f) == 5:
			arity, err := strconv.Atoi(f[1])
			if err != nil {
				t.Fatalf("surface.txt:%d: %v", line, err)
			}
			rows = append(rows, surfaceRow{f[0], arity, f[2], f[3] == "yes", f[4] == "yes", line})
		default:
			t.Fatalf("surface.txt:%d: %q", line, text)
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return rows, differs, pending
}

// TestSurface keeps the table and the list of commands that there have to be together:
// every one is there, with its arity, and is open to the HTTP gateway and to the Read Only
// token as the list says; what is not must say why. A reason that has become wrong fails
// the test too.
func TestSurface(t *testing.T) {
	rows, differs, pending := readSurface(t)
	table := map[string]*command.Command{}
	for _, c := range command.NewTable().Rows() {
		table[c.Name] = c
	}
	for _, r := range rows {
		c := table[r.name]
		delete(table, r.name)
		reason, waits := pending[r.name]
		if c == nil {
			if !waits {
				t.Errorf("surface.txt:%d: %s is not in the table", r.line, r.name)
			}
			continue
		}
		if waits {
			t.Logf("surface.txt:%d: %s is there and still said to wait for %s", r.line, r.name, reason)
		}
		same := c.Arity == r.arity && (c.Flags&command.NoHTTP == 0) == r.http && (c.Flags&command.ReadOnlyUser != 0) == r.readOnly
		if reason, explained := differs[r.name]; explained == same {
			t.Errorf("surface.txt:%d: %s: arity %d, HTTP %v, Read Only %v; said to differ: %q", r.line, r.name, c.Arity,
				c.Flags&command.NoHTTP == 0, c.Flags&command.ReadOnlyUser != 0, reason)
		}
	}
	for name, c := range table {
		if c.Group != "messages" { // these are ours alone
			t.Errorf("%s is in the table, but not in surface.txt", name)
		}
	}
}
