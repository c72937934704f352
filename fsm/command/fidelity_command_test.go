package command_test

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// facts are the entries of COMMAND INFO about a command, by their names.
type facts map[string]string

// entries are the facts of all commands and subcommands that a COMMAND reply holds.
func entries(v reply.Value, into map[string]facts) {
	for _, e := range v.Elems() {
		f := e.Elems()
		var uses []reply.Value
		for _, u := range f[8].Elems() { // without the notes, which are prose
			uses = append(uses, withoutNotes(u))
		}
		into[f[0].Text()] = facts{
			"arity": scripttest.Print(f[1]), "flags": scripttest.Print(scripttest.Sorted(f[2])),
			"keys":       fmt.Sprint(f[3].Int(), f[4].Int(), f[5].Int()),
			"categories": scripttest.Print(scripttest.Sorted(theirCategories(f[6]))), "tips": scripttest.Print(f[7]),
			"uses": scripttest.Print(reply.Array(uses...)),
		}
		entries(f[9], into)
	}
}

// theirCategories are the categories without those that only we have.
func theirCategories(v reply.Value) reply.Value {
	return reply.Set(slices.DeleteFunc(slices.Clone(v.Elems()), func(c reply.Value) bool { return c.Text() == "@readonly" })...)
}

func withoutNotes(use reply.Value) reply.Value {
	var kept []reply.Value
	for i := 0; i < len(use.Elems()); i += 2 {
		if k, v := use.Elems()[i], use.Elems()[i+1]; k.Text() != "notes" {
			kept = append(kept, k, scripttest.Sorted(v))
		}
	}
	return reply.Map(kept...)
}

// explainedFacts are the lines of testdata/facts.txt: a command, a fact and the reason why
// it is not Redis's. A command may be a pattern of one container, as "client|*".
func explainedFacts(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.Open("testdata/facts.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reasons := map[string]string{}
	in := bufio.NewScanner(file)
	for in.Scan() {
		if f := strings.Split(in.Text(), " | "); len(f) == 3 && f[0][0] != '#' {
			reasons[f[0]+" "+f[1]] = f[2]
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return reasons
}

// TestFidelityOfCommand compares what COMMAND tells of every command that a real server
// knows too. A fact that differs has a reason in testdata/facts.txt, and a reason without
// a difference fails the test.
func TestFidelityOfCommand(t *testing.T) {
	r, m := startRedis(t), newMachine(t)
	ours, theirs := map[string]facts{}, map[string]facts{}
	entries(view(m, command.RESP, "COMMAND"), ours)
	entries(r.do([]byte("COMMAND")), theirs)
	reasons, compared := explainedFacts(t), 0
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		they := theirs[name]
		for _, fact := range slices.Sorted(maps.Keys(they)) {
			compared++
			reason, explained := reasons[name+" "+fact]
			delete(reasons, name+" "+fact)
			if same := ours[name][fact] == they[fact]; same == explained {
				t.Errorf("%s: %s (explained by %q)\nRedis %s:\n%s\nwe:\n%s", name, fact, reason, r.version, they[fact], ours[name][fact])
			}
		}
	}
	for of, reason := range reasons {
		t.Errorf("%s: %s: there is nothing to explain", of, reason)
	}
	t.Logf("compared %d facts of %d commands", compared, len(ours))
}

// changedIn are the versions that changed each command, as COMMAND DOCS tells them.
func changedIn(of string, docs reply.Value, into map[string][]string) {
	about := docs.Elems()
	for i := 0; i < len(about); i += 2 {
		switch about[i].Text() {
		case "history":
			for _, change := range about[i+1].Elems() {
				into[of] = append(into[of], change.Elems()[0].Text())
			}
		case "subcommands":
			rows := about[i+1].Elems()
			for j := 0; j < len(rows); j += 2 {
				changedIn(rows[j].Text(), rows[j+1], into)
			}
		}
	}
}

// TestFidelityOfHistory compares in which versions commands changed: all that a real server
// tells of, and of later ones nothing older.
func TestFidelityOfHistory(t *testing.T) {
	r, m := startRedis(t), newMachine(t)
	ours, theirs := map[string][]string{}, map[string][]string{}
	changedIn("", reply.Map(reply.Bulk("subcommands"), view(m, command.RESP, "COMMAND", "DOCS")), ours)
	changedIn("", reply.Map(reply.Bulk("subcommands"), r.do([]byte("COMMAND"), []byte("DOCS"))), theirs)
	compared := 0
	for of, versions := range theirs {
		if rows.Row(strings.ReplaceAll(of, "|", " ")) == nil {
			continue
		}
		compared++
		we := slices.DeleteFunc(slices.Clone(ours[of]), func(v string) bool { return older(r.version, v) })
		if !slices.Equal(we, versions) {
			t.Errorf("%s: changed in %v, we tell %v", of, versions, ours[of])
		}
	}
	for of := range ours {
		if rows.Row(strings.ReplaceAll(of, "|", " ")) == nil {
			t.Errorf("%s: there is no such command", of)
		}
	}
	t.Logf("compared the history of %d commands", compared)
}
