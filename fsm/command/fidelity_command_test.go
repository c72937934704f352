package command_test

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"trireme/fsm"
	"trireme/fsm/command"
	"trireme/fsm/command/scripttest"
	"trireme/fsm/reply"
)

// facts are what COMMAND INFO tells of a command, by the name of the fact.
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
	r, m := startRedis(t), fsm.NewMachine()
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
