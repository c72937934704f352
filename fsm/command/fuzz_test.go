package command

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// FuzzExec runs any words as a command, after another that gives it a key to work
// on: an answer on one line, if it is an error, and never a panic. SETRANGE is left
// out: it may ask for half a gigabyte, which is right and slow.
func FuzzExec(f *testing.F) {
	for _, c := range NewTable().Rows() {
		f.Add(strings.ReplaceAll(c.Syntax, " ", "\n"))
		f.Add(c.Name + "\nk\n1\n2\n3")
		f.Add(c.Name + "\n1\nk\nv\nEX\n10")
		f.Add(c.Name + "\nj\n$..a\n1\n2")
	}
	tx := testTx(acl.Default, RESP)
	f.Fuzz(func(t *testing.T, line string) {
		argv := bytes.Split([]byte(line), []byte("\n"))
		if EqualFold(argv[0], "SETRANGE") {
			return
		}
		tx.do("FLUSHALL")
		tx.do("SET k 10 EX 100")
		tx.do(`JSON.SET j $ {"a":[1,{"a":"x"}],"b":{"a":true}}`)
		v := tx.Exec(argv)
		if v.IsError() && strings.ContainsAny(v.Text(), "\r\n") {
			t.Fatalf("an error of several lines: %q", v.Text())
		}
		if left := reloadedUsed(t, tx); left != tx.DB.Used() {
			t.Fatalf("%q: %d bytes used, %d counted anew", argv, tx.DB.Used(), left)
		}
	})
}

// reloadedUsed is the memory of a keyspace loaded from tx's records.
func reloadedUsed(t *testing.T, tx *Tx) int64 {
	t.Helper()
	l := keyspace.NewLoader()
	if err := tx.DB.Save(l.Add); err != nil {
		t.Fatal(err)
	}
	db, err := l.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return db.Used()
}

// FuzzLongDouble reads any text as a number: what is taken is what an exact
// arithmetic reads, to 64 bits, and its print is taken again.
func FuzzLongDouble(f *testing.F) {
	for _, s := range []string{"0.1", "-1e22", ".5", "5.", "+7", "1e4931", "1e-4950", "inf", "nan", "1_0", "0x1p3", "-0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := parseLongDouble(s)
		if !ok || n.IsInf() {
			return
		}
		if len(s) < 40 {
			exact, err := new(big.Float).SetPrec(40_000).SetString(s)
			if !err || new(big.Float).SetPrec(longDoubleBits).Set(exact).Cmp(n) != 0 {
				t.Fatalf("%q was read as %s", s, n.Text('g', 25))
			}
		}
		if again, ok := parseLongDouble(formatLongDouble(n)); !ok || formatLongDouble(again) != formatLongDouble(n) {
			t.Fatalf("%q prints as %s, which is not read back", s, formatLongDouble(n))
		}
	})
}
