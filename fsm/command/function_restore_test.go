package command

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
)

// TestRestoreOfTakenLibraries restores libraries beside one of the same name: the error is
// Redis's, which has no quotes here, and nothing is restored.
func TestRestoreOfTakenLibraries(t *testing.T) {
	tx := testTx(acl.Default, RESP)
	function := func(words ...string) string {
		argv := [][]byte{[]byte("FUNCTION")}
		for _, w := range words {
			argv = append(argv, []byte(w))
		}
		return tx.Exec(argv).Text()
	}
	library := func(name, f string) string {
		return "#!lua name=" + name + "\nredis.register_function('" + f + "',function() end)"
	}
	function("LOAD", library("a", "f"))
	function("LOAD", library("b", "g"))
	payload := function("DUMP")
	function("DELETE", "b")
	for _, policy := range [][]string{{}, {"APPEND"}} {
		if got := function(append([]string{"RESTORE", payload}, policy...)...); got != "ERR Library a already exists" {
			t.Errorf("RESTORE %s: %s", policy, got)
		}
	}
	if l, _ := tx.Scripts.Function("g"); l != nil {
		t.Error("a refused payload restored a library")
	}
	if got := function("RESTORE", payload, "REPLACE"); got != "OK" {
		t.Errorf("RESTORE REPLACE: %s", got)
	}
	if l, _ := tx.Scripts.Function("g"); l == nil {
		t.Error("a library is not restored")
	}
}
