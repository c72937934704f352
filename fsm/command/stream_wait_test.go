package command

import (
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
)

// TestStreamReadsThatWait checks what whoever waits is told of a call: whether and how
// long it waits, on which keys, what it means from then on, and when to call again.
func TestStreamReadsThatWait(t *testing.T) {
	tx := testTx(acl.Default, RESP)
	tx.Now = 1_700_000_000_000
	for _, line := range []string{"XADD s 1-1 a 1", "XADD s 1-2 a 1", "XDEL s 1-2", "XADD t 5-5 a 1", "XGROUP CREATE t g $", "XGROUP CREATE s g 1-1", "XGROUP CREATECONSUMER t g c", "XGROUP CREATECONSUMER s g c", "SET str v"} {
		if v := tx.do(line); v.IsError() {
			t.Fatalf("%s: %s", line, v.Text())
		}
	}
	for _, c := range []struct {
		line  string
		ms    int64
		waits bool
		keys  string
		then  string // "": as it is
		ready bool
	}{
		{"XREAD STREAMS s 0", 0, false, "s", "", true},
		{"XREAD BLOCK 0 STREAMS s 1-1", 0, true, "s", "", false},
		{"XREAD COUNT 5 block 250 STREAMS s t $ $", 250, true, "s t", "XREAD COUNT 5 block 250 STREAMS s t 1-2 5-5", false},
		{"XREAD BLOCK 250 STREAMS s none $ $", 250, true, "s none", "XREAD BLOCK 250 STREAMS s none 1-2 0-0", false},
		{"XREAD BLOCK 250 STREAMS s t $ 5-4", 250, true, "s t", "XREAD BLOCK 250 STREAMS s t 1-2 5-4", true},
		{"XREAD BLOCK 1 STREAMS s +", 1, true, "s", "", true},
		{"XREAD BLOCK 1 STREAMS str $", 1, true, "str", "", true},
		{"XREAD BLOCK x STREAMS s 0", 0, false, "s", "", true},
		{"XREAD BLOCK -1 STREAMS s 0", 0, false, "s", "", true},
		{"XREAD BLOCK STREAMS s 0", 0, false, "", "", true},
		{"XREAD FOO BLOCK 1 STREAMS s 0", 0, false, "", "", true},
		{"XREADGROUP GROUP g c BLOCK 7 STREAMS s t > >", 7, true, "s t", "", false},
		{"XREADGROUP GROUP BLOCK NOACK BLOCK 7 NOACK STREAMS s >", 7, true, "s", "", true}, // no such group
		{"XREADGROUP GROUP g new BLOCK 7 STREAMS s t > >", 7, true, "s t", "", false},      // makes its consumer, once: see TestPreparations
		{"XREADGROUP GROUP g c BLOCK 7 STREAMS s 0", 7, true, "s", "", true},
		{"XREADGROUP GROUP g c BLOCK 7 STREAMS none >", 7, true, "none", "", true},
		{"XREADGROUP GROUP g c BLOCK 7 STREAMS s $", 7, true, "s", "", true},
	} {
		argv := words(c.line)
		row := tx.Table.Find(argv)
		if ms, waits := row.Timeout(argv, tx.Now); ms != c.ms || waits != c.waits {
			t.Errorf("%s: waits %d, %v", c.line, ms, waits)
		}
		var keys []string
		for _, i := range row.Keys.Positions(argv) {
			keys = append(keys, string(argv[i]))
		}
		if got := strings.Join(keys, " "); got != c.keys {
			t.Errorf("%s: keys %q", c.line, got)
		}
		if row.Pin != nil {
			argv = row.Pin(tx, argv)
			then := make([]string, len(argv))
			for i, w := range argv {
				then[i] = string(w)
			}
			if got := strings.Join(then, " "); got != c.then && (c.then != "" || got != c.line) && c.keys != "str" {
				t.Errorf("%s: becomes %s", c.line, got)
			}
		}
		if got := row.Wait.Ready(tx, argv) != Nothing; got != c.ready {
			t.Errorf("%s: ready %v", c.line, got)
		}
	}
	pinned := tx.Table.Find(words("XREAD STREAMS s $")).Pin(tx, words("XREAD BLOCK 9 STREAMS s $"))
	tx.do("XADD s 1-3 late entry")
	if tx.Table.Find(pinned).Wait.Ready(tx, pinned) == Nothing || tx.Exec(pinned).IsNil() {
		t.Error("a pinned call does not see what came later")
	}
	for line, want := range map[string]int{"XREAD BLOCK 7 STREAMS str s $ 0": 0, "XREAD BLOCK 7 STREAMS s str 0 $": 1, "XREADGROUP GROUP g c BLOCK 7 STREAMS str >": 0} {
		argv := words(line)
		row := tx.Table.Find(argv)
		if n := row.Available(tx, argv, argv[row.Keys.Positions(argv)[0]]); n != want {
			t.Errorf("%s: available %d, want %d: a key of another type has nothing for those who wait", line, n, want)
		}
	}
	if tx.ready("XREADGROUP GROUP g c BLOCK 7 STREAMS t >") || !tx.ready("XREADGROUP GROUP g c BLOCK 7 STREAMS t s > >") {
		t.Error("a group is not ready for what came later")
	}
}

// ready asks the row of a line.
func (tx *Tx) ready(line string) bool {
	argv := words(line)
	return tx.Table.Find(argv).Wait.Ready(tx, argv) != Nothing
}
