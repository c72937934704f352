package fsm_test

import (
	"errors"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
)

// TestSecondIdenticalDefinitionsChangeNothing: what defines a user, a library, an index, a group, a database or a setting moves
// the clock, and nothing else, when a client that has not learned the outcome sends it again. The second one may be refused.
// Writes of keys are left out: each gives its key a new version, by which WATCH goes. Package queue has the same for messages.
func TestSecondIdenticalDefinitionsChangeNothing(t *testing.T) {
	d := newDatabases(t)
	admin := acl.Trusted(acl.DefaultName)
	command := func(words ...string) func() error {
		return func() error {
			argv := make([][]byte, len(words))
			for i, w := range words {
				argv[i] = []byte(w)
			}
			v, err := d.propose(fsm.Exec.Code, fsm.Exec.Body(fsm.Batch{As: admin, Rows: [][][]byte{argv}}))
			if r, ok := v.(fsm.Results); ok && r.Values[0].IsError() {
				return errors.New(r.Values[0].Text())
			}
			return err
		}
	}
	salt := acl.SaltOf("c")
	if _, err := d.propose(fsm.BootstrapState.Code, fsm.BootstrapState.Body(fsm.Bootstrap{ClusterID: "c", Level: fsm.MaxLevel, Tokens: acl.Tokens{acl.Messages: acl.DigestOf("m")}, Salt: salt})); err != nil {
		t.Fatal(err)
	}
	rotation := fsm.TokenRotation{Salt: salt, Tokens: acl.Tokens{acl.Messages: acl.DigestOf("new")}, Overlap: 60_000}
	ofDatabase := fsm.TokenRotation{Database: "a", Salt: salt, Tokens: acl.Tokens{acl.Standard: acl.DigestOf("a4"), acl.ReadOnly: acl.DigestOf("a5")}, Overlap: 60_000}
	for _, c := range []struct {
		name    string
		refused bool // the second one is
		send    func() error
	}{
		{"ACL SETUSER", false, command("ACL", "SETUSER", "ada", "on", ">secret", "~k:*", "&c:*", "+@read", "-@dangerous")},
		{"FUNCTION LOAD REPLACE", false, command("FUNCTION", "LOAD", "REPLACE", "#!lua name=l\nredis.register_function('f', function() return 1 end)")},
		{"SEARCH.CREATE", false, command("SEARCH.CREATE", "i", "EXISTSOK", "ON", "HASH", "PREFIX", "1", "d:", "SCHEMA", "t", "TEXT")},
		{"SEARCH.ALIASADD", false, command("SEARCH.ALIASADD", "alias", "i")},
		{"VECTOR.CREATE", false, command("VECTOR.CREATE", "v", "DIM", "2", "METRIC", "COSINE", "EXISTSOK")},
		{"XGROUP CREATE", true, command("XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")},
		{"XGROUP CREATECONSUMER", false, command("XGROUP", "CREATECONSUMER", "s", "g", "c")},
		{"create a database", true, func() error { return d.create("a") }},
		{"create another", true, func() error { return d.create("b") }},
		{"configure a database", false, again(d, fsm.ConfigureDatabase, fsm.DatabaseSettings{Name: "a", MaxMemory: 1 << 30})},
		{"configure", false, again(d, fsm.Configure, fsm.Settings{MaxMemory: 1 << 40, DailyLimit: 1 << 40})},
		{"reset tokens", false, again(d, fsm.ResetTokens, fsm.DatabaseTokens{Name: "a", Standard: acl.DigestOf("a2"), ReadOnly: acl.DigestOf("a3")})},
		{"rotate tokens", true, again(d, fsm.RotateTokens, rotation)},
		{"rotate tokens of a database", true, again(d, fsm.RotateTokens, ofDatabase)},
		{"end of the overlap", false, again(d, fsm.EndTokenOverlap, fsm.TokenRole{Database: "a"})},
		{"admit a node", false, again(d, fsm.AdmitNode, fsm.NodeRecord{Node: "n9", Disk: "d9"})},
		{"sign out", false, again(d, fsm.EndSession, fsm.EndedSession{ID: "s", Until: d.l.now + 3_600_000})},
		{"delete a database", true, func() error { return d.delete("b") }},
		{"XGROUP DESTROY", false, command("XGROUP", "DESTROY", "s", "g")},
		{"SEARCH.ALIASDEL", false, command("SEARCH.ALIASDEL", "alias")},
		{"SEARCH.DROP", false, command("SEARCH.DROP", "i")},
		{"VECTOR.DROP", false, command("VECTOR.DROP", "v")},
		{"FUNCTION DELETE", true, command("FUNCTION", "DELETE", "l")},
		{"ACL DELUSER", false, command("ACL", "DELUSER", "ada")},
	} {
		before := d.m.Fork().TimelessDigest()
		if err := c.send(); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		once := d.m.Fork().TimelessDigest()
		if once == before {
			t.Errorf("%s changes nothing", c.name)
		}
		clock := d.m.Clock()
		for d.m.Clock() == clock { // no entry of its own may lie between
			d.l.now++
			if err := c.send(); (err != nil) != c.refused {
				t.Fatalf("%s sent again: %v, want it refused: %t", c.name, err, c.refused)
			}
		}
		if d.m.Fork().TimelessDigest() != once {
			t.Errorf("%s sent again changes more than the clock", c.name)
		}
	}
}

// again sends an operation with the same argument each time.
func again[A, R any](d *databases, op *fsm.Operation[A, R], arg A) func() error {
	return func() error { _, err := d.propose(op.Code, op.Body(arg)); return err }
}
