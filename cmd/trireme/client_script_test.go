package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
)

// variable are texts of answers that differ from run to run, with what goldens have instead.
var variable = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\dT[0-9:]+(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`\bmsg_[0-9A-Za-z]{20,}`), "MESSAGE"},
	{regexp.MustCompile(`\b1[0-9]{12}-[0-9]+\b`), "LETTER"},
	{regexp.MustCompile(`\b1[0-9]{12}\b`), "MILLIS"},
	{regexp.MustCompile(`"ratePeriodStart": [0-9]+`), `"ratePeriodStart": SECONDS`},
	{regexp.MustCompile(`\bgrp_[0-9A-Za-z]{20,}`), "GROUP"},
	{regexp.MustCompile(`\bwfr_[0-9A-Za-z]{20,}`), "RUN"},
	{regexp.MustCompile(`127\.0\.0\.1:[0-9]{4,5}`), "NODE"},
	{regexp.MustCompile(`\b\d+(\.\d+)? (ms|s)\b`), "DURATION"},
	{regexp.MustCompile(`in /\S+contexts.yaml`), "in CONTEXTS"},
	{regexp.MustCompile(`\bsig_[0-9A-Za-z]{20,}`), "SIGNINGKEY"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "DIGEST"},
	{regexp.MustCompile(`[0-9A-Za-z_-]{40,}={0,2}`), "TOKEN"},
	{regexp.MustCompile(`"bytes": [0-9]+`), `"bytes": BYTES`},
	{regexp.MustCompile(`(?m)(/db/[a-z]+ +[0-9]+) +[0-9]+ `), "$1  BYTES "},
	{regexp.MustCompile(`(\S)  +`), "$1  "},
	{regexp.MustCompile(`(?m) +$`), ""},
}

// masked runs a command that has to succeed, and prints its output with what differs from run to run replaced.
func masked(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec(args[0], args[1:]...))
	text := ts.ReadFile("stdout")
	for _, v := range variable {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	fmt.Fprint(ts.Stdout(), text)
}

// sets sets a variable to the output of a command, without its line break.
func sets(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec(args[1], args[2:]...))
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// until repeats a command until its output has a line like that.
func until(ts *testscript.TestScript, _ bool, args []string) {
	line := regexp.MustCompile("(?m)" + args[0])
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if ts.Exec(args[1], args[2:]...) == nil && line.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("%v doesn't print a line like %s in time", args[1:], args[0])
}

// elsewhere are commands that ask a node and have scripts of their own.
var elsewhere = map[string]bool{"backup": true, "restore": true, "export": true, "import": true}

// leaves are the commands of clients, by their words.
func leaves(cmd *cobra.Command) map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(sub)
		}
		if c.Flags().Lookup("request-timeout") != nil || c.InheritedFlags().Lookup("request-timeout") != nil {
			if !c.HasSubCommands() && !elsewhere[c.Name()] {
				all[strings.TrimPrefix(c.CommandPath(), "trireme ")] = c
			}
		}
	}
	visit(cmd)
	return all
}

// Each command of clients has an example, and what the example calls exists with its flags and arguments.
func TestEveryClientCommandHasAnExample(t *testing.T) {
	for path, cmd := range leaves(newRoot()) {
		found := false
		for line := range strings.SplitSeq(cmd.Example, "\n") {
			words := shellWords(strings.TrimPrefix(strings.TrimSpace(line), "trireme "))
			if len(words) == 0 {
				continue
			}
			root := newRoot()
			called, rest, err := root.Find(words)
			if err == nil {
				err = called.ParseFlags(rest)
			}
			if err == nil {
				err = called.ValidateArgs(called.Flags().Args())
			}
			if err != nil {
				t.Errorf("example of %s: %s: %v", path, line, err)
			}
			found = found || called.CommandPath() == cmd.CommandPath()
		}
		if !found {
			t.Errorf("%s has no example", path)
		}
	}
}

// shellWords parts a line as a shell does, with single quotes.
func shellWords(line string) (words []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// Each command of clients is run against three nodes by a script that compares its table and its JSON.
func TestEveryClientCommandIsScripted(t *testing.T) {
	paths, err := filepath.Glob("testdata/cli-*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := bytes.Cut(text, []byte("\n-- "))
		for line := range strings.SplitSeq(string(script), "\n") {
			if _, call, ok := strings.Cut(line, "trireme "); ok && !strings.HasPrefix(line, "#") {
				calls = append(calls, call)
			}
		}
	}
	for path := range leaves(newRoot()) {
		table, json := false, false
		for _, call := range calls {
			if !strings.HasPrefix(call+" ", path+" ") {
				continue
			}
			if strings.Contains(call, "-o json") {
				json = true
			} else {
				table = true
			}
		}
		if !table || !json {
			t.Errorf("no script runs %s both with and without -o json (table %v, JSON %v)", path, table, json)
		}
	}
}
