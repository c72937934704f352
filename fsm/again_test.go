package fsm_test

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
)

// TestSecondIdenticalDefinitionsChangeNothing: what defines a user, a library, an index or a database leaves the state as it
// is when a client that has not learned the outcome sends it again. Package queue has the same for messages.
func TestSecondIdenticalDefinitionsChangeNothing(t *testing.T) {
	d := newDatabases(t)
	if _, err := d.propose(fsm.SetLevel.Code, fsm.SetLevel.Body(fsm.LevelChange{Level: fsm.MaxLevel})); err != nil {
		t.Fatal(err)
	}
	if err := d.create("a"); err != nil {
		t.Fatal(err)
	}
	admin := acl.Trusted(acl.DefaultName)
	for _, words := range [][]string{
		{"ACL", "SETUSER", "ada", "on", ">secret", "~k:*", "&c:*", "+@read", "-@dangerous"},
		{"FUNCTION", "LOAD", "REPLACE", "#!lua name=l\nredis.register_function('f', function() return 1 end)"},
		{"SCRIPT", "LOAD", "return 1"},
		{"SEARCH.CREATE", "i", "EXISTSOK", "ON", "HASH", "PREFIX", "1", "d:", "SCHEMA", "t", "TEXT"},
		{"SEARCH.ALIASADD", "alias", "i"},
		{"VECTOR.CREATE", "v", "DIM", "2", "METRIC", "COSINE", "EXISTSOK"},
		{"XGROUP", "CREATE", "s", "g", "$", "MKSTREAM"},
		{"SEARCH.ALIASDEL", "alias"}, {"SEARCH.DROP", "i"}, {"FUNCTION", "DELETE", "l"}, {"ACL", "DELUSER", "ada"},
	} {
		empty := d.m.Fork().Digest()
		if _, err := d.run(admin, words...); err != nil {
			t.Fatal(words, err)
		}
		once := d.m.Fork().Digest()
		if once == empty && words[0] != "SCRIPT" {
			t.Errorf("%q changed nothing", words)
		}
		if _, err := d.run(admin, words...); err != nil {
			t.Fatal(words, err)
		}
		if d.m.Fork().Digest() != once {
			t.Errorf("%q sent again changed something", words)
		}
	}
	once := d.m.Fork().Digest()
	if d.create("a") == nil || d.m.Fork().Digest() != once {
		t.Error("a database made again is refused, and stays as it is")
	}
}
