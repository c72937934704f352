package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/trireme-dev/trireme/cli"
)

// asksNobody reports whether a command is one of those of clients that ask no node.
func asksNobody(path string) bool { return strings.HasPrefix(path, "context ") }

// inProcess runs a command and returns its exit code and the line that main prints of its error.
func inProcess(words []string) (code int, line, stdout string) {
	root := newRoot()
	var out, problems bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&problems)
	root.SetIn(strings.NewReader(""))
	root.SetArgs(words)
	err := root.Execute()
	if err == nil {
		return cli.ExitDone, problems.String(), out.String()
	}
	return cli.ExitCode(err), problems.String() + err.Error(), out.String()
}

// failing runs a command and reports whether it ends with that code, one line of an error and no output.
func failing(ts *testscript.TestScript, want string, words []string) bool {
	code, line, stdout := inProcess(words)
	if fmt.Sprint(code) == want && line != "" && !strings.Contains(line, "\n") && stdout == "" {
		return true
	}
	ts.Logf("%q: exit code %d, want %s and one line; error %q, output %q", words, code, want, line, stdout)
	return false
}

// everyCommand runs the example of each command that asks a node with more flags: each has to fail with that code.
//
//	everycommand CODE FLAG…
func everyCommand(ts *testscript.TestScript, _ bool, args []string) {
	all, wrong := leaves(newRoot()), 0
	for path, cmd := range all {
		if asksNobody(path) {
			continue
		}
		example, _, _ := strings.Cut(cmd.Example, "\n")
		words := shellWords(strings.TrimPrefix(strings.TrimSpace(example), "trireme "))
		name := len(strings.Fields(path)) // some commands take words that look like flags after their own
		if !failing(ts, args[0], slices.Concat(words[:name], agreement(cmd, words), args[1:], words[name:])) {
			wrong++
		}
	}
	if len(all) < 60 || wrong > 0 {
		ts.Fatalf("%d of %d commands are wrong", wrong, len(all))
	}
}

// agreement answers the question of a destructive command, which otherwise fails without a terminal.
func agreement(cmd *cobra.Command, words []string) []string {
	if cmd.Flags().Lookup("yes") == nil || slices.Contains(words, "--yes") || slices.Contains(words, "--dry-run") {
		return nil
	}
	return []string{"--yes"}
}

// makes are commands that make what they name, or need a flag beside the name.
var makes = []string{"databases create", "queues upsert", "flow pin", "flow unpin", "deployments set", "deployments move"}

// everyName runs each command that takes one name with one that nothing has: each has to fail as an unknown name.
//
//	everyname CODE NAME FLAG…
func everyName(ts *testscript.TestScript, _ bool, args []string) {
	n, wrong := 0, 0
	for path, cmd := range leaves(newRoot()) {
		_, noun, _ := strings.Cut(cmd.Use, " ")
		if asksNobody(path) || slices.Contains(makes, path) || !slices.Contains([]string{"NAME", "ID", "KEY", "USER", "[ID…]"}, noun) {
			continue
		}
		words := append(strings.Fields(path), args[1])
		if !failing(ts, args[0], slices.Concat(words, agreement(cmd, words), args[2:])) {
			wrong++
		}
		n++
	}
	if n < 25 || wrong > 0 {
		ts.Fatalf("%d of %d commands that take a name are wrong", wrong, n)
	}
}
