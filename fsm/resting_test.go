package fsm

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// TestOnlyBlankDatabasesRest has something happen in one of three databases, in every way in which something may stay of it, and reads
// the snapshot: the two others rest, and the state is the same.
func TestOnlyBlankDatabasesRest(t *testing.T) {
	table := command.NewTable()
	shop := tenantName(1)
	rows := func(rows ...[][]byte) Request {
		as := acl.Trusted(acl.DefaultName)
		as.DB = shop
		return Request{Code: Exec.Code, Body: Exec.Body(Batch{As: as, Origin: command.OriginHTTP, Mode: Pipeline, Rows: rows})}
	}
	words := func(all ...string) (row [][]byte) {
		for _, w := range all {
			row = append(row, []byte(w))
		}
		return row
	}
	for _, c := range []struct {
		what  string
		do    func(te *tenants)
		rests bool
	}{
		{"nothing", func(*tenants) {}, true},
		{"a command that only reads", func(te *tenants) { te.apply(t, rows(words("GET", "k"))) }, true},
		{"a key", func(te *tenants) { te.apply(t, setIn(shop, "k", "v")) }, false},
		{"a key that has gone", func(te *tenants) { te.apply(t, rows(words("SET", "k", "v"), words("DEL", "k"))) }, false},
		{"a setting", func(te *tenants) { te.apply(t, rows(words("CONFIG", "SET", "notify-keyspace-events", "KEA"))) }, false},
		{"a user", func(te *tenants) { te.apply(t, rows(words("ACL", "SETUSER", "ada", "on", "nopass", "+@all", "~*"))) }, false},
		{"a function", func(te *tenants) {
			te.apply(t, rows(words("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end)")))
		}, false},
		{"other tokens", func(te *tenants) {
			te.apply(t, Request{Code: RotateTokens.Code, Body: RotateTokens.Body(TokenRotation{Database: shop, Tokens: acl.Tokens{acl.Standard: acl.DigestOf("a"), acl.ReadOnly: acl.DigestOf("b")}})})
		}, true},
		{"tokens of which the former are in force, too", func(te *tenants) {
			te.apply(t, Request{Code: RotateTokens.Code, Body: RotateTokens.Body(TokenRotation{Database: shop, Overlap: 60_000, Tokens: acl.Tokens{acl.Standard: acl.DigestOf("a"), acl.ReadOnly: acl.DigestOf("b")}})})
		}, false},
		{"a quarantine", func(te *tenants) {
			te.m.Isolate(QuarantineOrder{Database: shop, Number: te.m.state.database(shop).id, Index: te.index + 1})
		}, false},
		{"a daily quota", func(te *tenants) { te.m.state.open(te.m.state.database(shop)).quota.taken = 3; te.m.state.close() }, false},
		{"a message", func(te *tenants) {
			te.apply(t, Request{Code: InDatabase.Code, Body: InDatabase.Body(Owned{Database: shop, Number: te.m.state.database(shop).id, Code: Publish.Code,
				Body: Publish.Body(queue.Publications{Items: []queue.Publication{publicationOf("p", 10)}})})})
		}, false},
		{"other signing keys", func(te *tenants) {
			te.m.state.openWork(te.m.state.database(shop)).messages.SetKeys(queue.Keys{Current: "a", Next: "b"})
			te.m.state.close()
		}, true},
	} {
		te := newTenants(t, table, 4)
		c.do(te)
		again := NewMachineWith(table)
		var snapshot bytes.Buffer
		if err := te.m.Fork().Write(&snapshot); err != nil {
			t.Fatal(err)
		}
		if err := again.Restore(&snapshot); err != nil {
			t.Fatal(err)
		}
		if before, after := te.m.Fork().Digest(), again.Fork().Digest(); before != after {
			t.Errorf("%s: the digest is %s, and %s after a start", c.what, before, after)
		}
		for i := range 3 {
			name := tenantName(i)
			p, _ := again.state.databases.Get(name)
			if want := c.rests || name != shop; (p.resting != nil) != want {
				t.Errorf("%s: %s rests: %v, want %v", c.what, name, !want, want)
			}
			was, is := te.m.state.database(name), again.state.database(name)
			if a, b := fmt.Sprint(was.info(), was.counted, was.queue(te.m.state.blank).Keys(), was.users.Serial()), fmt.Sprint(is.info(), is.counted, is.queue(again.state.blank).Keys(), is.users.Serial()); a != b {
				t.Errorf("%s: %s is %s, and %s after a start", c.what, name, a, b)
			}
		}
	}
}
