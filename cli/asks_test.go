package cli

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
)

// harmless are commands of operators, and commands that write without naming keys, that take nothing away or only what they name, or
// that this server refuses.
var harmless = []string{
	"client no-evict", "client list", "client unblock", "client unpause", "config get", "config set", "monitor", "debug", "shutdown",
	"bgrewriteaof", "bgsave", "config rewrite", "module list", "save", "latency doctor", "latency graph", "latency histogram", "latency history",
	"latency latest", "slowlog get", "slowlog len", "acl setuser", "acl getuser", "acl list", "acl users", "acl dryrun", "acl log",
	"acl gentoken", "acl resttoken", "acl load", "acl save", "pfselftest", "search.create", "search.reindex", "search.aliasadd", "search.aliasdel",
	"publish", "cluster replicas", "msg.enqueue", "msg.publish", "wf.notify", "wf.trigger", "script load", "function load",
	"trigger.del", "trigger.pause", "trigger.resume", "trigger.set",
}

// TestAsksAreDecidedForEveryCommand: every command that changes something without saying which keys is either asked about or known
// to be harmless, so that a new one can't be forgotten.
func TestAsksAreDecidedForEveryCommand(t *testing.T) {
	table := command.NewTable()
	for _, row := range table.Rows() {
		changes := row.Flags&(command.Write|command.Admin) != 0
		if !changes || row.Keys.First != 0 || row.Keys.Find != nil {
			continue
		}
		if _, asked := asks[row.Name]; asked == slices.Contains(harmless, row.Name) {
			t.Errorf("%s changes something and names no keys: put it into asks, or into harmless here", row.Name)
		}
	}
	for name := range asks {
		if table.Row(name) == nil {
			t.Errorf("%s is asked about, and no command", name)
		}
	}
}

// TestAskedCommandsAreFound by the words that people type.
func TestAskedCommandsAreFound(t *testing.T) {
	table := command.NewTable()
	for _, words := range [][]string{{"FLUSHALL"}, {"flushdb", "ASYNC"}, {"Script", "FLUSH"}, {"ACL", "deluser", "ann"}} {
		if name, what := destroys(table, words); name == "" || what == "" {
			t.Errorf("%q is not asked about", words)
		}
	}
	for _, words := range [][]string{{"GET", "flushall"}, {"DEL", "a"}, {"ACL", "LIST"}, {"SCRIPT"}, {"nonsense"}, {"CONFIG", "SET", "a", "b"}} {
		if _, what := destroys(table, words); what != "" {
			t.Errorf("%q is asked about: %s", words, what)
		}
	}
}

// TestConsoleHasTheSameAsks compares console/src/asks.json with the table. `TRIREME_DOCS=write` writes it.
func TestConsoleHasTheSameAsks(t *testing.T) {
	const path = "../console/src/asks.json"
	want, err := json.MarshalIndent(asks, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if got, err := os.ReadFile(path); err == nil && string(got) == string(want) {
		return
	}
	if os.Getenv("TRIREME_DOCS") != "write" {
		t.Fatal("console/src/asks.json is out of date: run TRIREME_DOCS=write go test -run TestConsoleHasTheSameAsks ./cli, and make console")
	}
	if err := os.WriteFile(path, want, 0o644); err != nil {
		t.Fatal(err)
	}
}
