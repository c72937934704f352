package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/trireme-dev/trireme/cli"
)

// everyCommandOf calls fn with each command that users see, and its words.
func everyCommandOf(root *cobra.Command, fn func(cmd *cobra.Command, words []string)) {
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			fn(cmd, strings.Fields(cmd.CommandPath())[1:])
			everyCommandOf(cmd, fn)
		}
	}
}

// mistyped are a name as people mistype it: two letters swapped, one left out, one too many.
func mistyped(name string) []string {
	mid := len(name) / 2
	return []string{name[:mid-1] + string(name[mid]) + string(name[mid-1]) + name[mid+1:], name[:mid] + name[mid+1:], name + "x"}
}

// TestMistypedNamesGetAHint mistypes every command at every level and every flag of every command. Each ends as wrong usage, in
// one line that names what was meant.
func TestMistypedNamesGetAHint(t *testing.T) {
	commands, flags := 0, 0
	everyCommandOf(newRoot(), func(cmd *cobra.Command, words []string) {
		parent, name := words[:len(words)-1], words[len(words)-1]
		var siblings []string
		for _, c := range cmd.Parent().Commands() {
			siblings = append(append(siblings, c.Name()), c.Aliases...)
		}
		for _, wrong := range mistyped(name) {
			if slices.Contains(siblings, wrong) {
				continue
			}
			commands++
			for _, call := range [][]string{append(slices.Clone(parent), wrong), append([]string{"help"}, append(slices.Clone(parent), wrong)...)} {
				code, line, _ := inProcess(call)
				if code != cli.ExitUsage || strings.Contains(line, "\n") || !hasHint(line, name) {
					t.Errorf("trireme %s: code %d, %q: want a hint at %s", strings.Join(call, " "), code, line, name)
				}
			}
		}
		if cmd.DisableFlagParsing {
			return
		}
		cmd.InitDefaultHelpFlag()
		seen := func(f *pflag.Flag) {
			if f.Hidden || len(f.Name) < 4 {
				return
			}
			for _, wrong := range mistyped(f.Name) {
				if cmd.Flags().Lookup(wrong) != nil || cmd.InheritedFlags().Lookup(wrong) != nil {
					continue
				}
				flags++
				err := cmd.ParseFlags([]string{"--" + wrong})
				if err == nil {
					t.Errorf("trireme %s takes --%s", strings.Join(words, " "), wrong)
					continue
				}
				if err = cmd.FlagErrorFunc()(cmd, err); cli.ExitCode(err) != cli.ExitUsage || strings.Contains(err.Error(), "\n") || !hasHint(err.Error(), "--"+f.Name) {
					t.Errorf("trireme %s --%s: %v: want a hint at --%s", strings.Join(words, " "), wrong, err, f.Name)
				}
			}
		}
		cmd.NonInheritedFlags().VisitAll(seen)
		cmd.InheritedFlags().VisitAll(seen)
	})
	if commands < 200 || flags < 2000 {
		t.Errorf("%d commands and %d flags were mistyped: where are the others?", commands, flags)
	}
}

// hasHint reports whether a line ends with a question that has a name among its answers.
func hasHint(line, name string) bool {
	_, hint, found := strings.Cut(line, "did you mean ")
	hint, _, _ = strings.Cut(hint, "?")
	return found && slices.Contains(strings.Split(hint, " or "), name)
}

// TestNamesThatAreNothing: without a similar name the hint names the command that lists all.
func TestNamesThatAreNothing(t *testing.T) {
	for call, want := range map[string]string{
		"zzzzzz":                       "trireme --help lists all",
		"cluster zzzzzz":               "trireme cluster --help lists all",
		"serve --zzzzzz":               "trireme serve --help lists all",
		"serve -node-id n1":            "did you mean --node-id?",
		"mess":                         "did you mean message or messages?",
		"queues --databse shop list":   "did you mean --database?",
		"cluster replace n1 --wiht n2": "did you mean --with?",
		"redis --databse shop GET k":   "did you mean --database?",
		"help cluster trasnfer-leader": "did you mean transfer-leader?",
		"completion bahs":              "did you mean bash?",
		"schedules create --crn '* *'": "did you mean --cron?",
	} {
		code, line, _ := inProcess(strings.Fields(call))
		if code != cli.ExitUsage || !strings.Contains(line, want) {
			t.Errorf("trireme %s: code %d, %q: want %q", call, code, line, want)
		}
	}
}

// TestVersionFlags: the flags print what the subcommand prints.
func TestVersionFlags(t *testing.T) {
	_, _, want := inProcess([]string{"version"})
	for _, flag := range []string{"--version", "-v"} {
		if code, line, out := inProcess([]string{flag}); code != cli.ExitDone || out != want || !strings.HasPrefix(out, "trireme ") {
			t.Errorf("trireme %s: code %d, %q %q, want %q", flag, code, line, out, want)
		}
	}
}
