package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestCommandReferenceIsCurrent compares the reference in docs/cli.md with the commands. `TRIREME_DOCS=write` writes it.
func TestCommandReferenceIsCurrent(t *testing.T) {
	const path, begin, end = "../../docs/cli.md", "<!-- commands -->\n", "<!-- end commands -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no %q and %q", path, begin, end)
	}
	want := head + begin + reference() + end + tail
	if want == string(text) {
		return
	}
	if os.Getenv("TRIREME_DOCS") != "write" {
		t.Fatal("the reference in docs/cli.md is out of date: run TRIREME_DOCS=write go test -run TestCommandReference ./cmd/trireme")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// reference has a section for each group, and for each command its usage, its examples and the flags of its own.
func reference() string {
	var b strings.Builder
	all := leaves(newRoot())
	group := ""
	for _, path := range slices.Sorted(maps.Keys(all)) {
		cmd := all[path]
		if first, _, _ := strings.Cut(path, " "); first != group {
			group = first
			fmt.Fprintf(&b, "\n### %s\n", group)
		}
		fmt.Fprintf(&b, "\n`%s`: %s.\n\n", strings.TrimSuffix(cmd.UseLine(), " [flags]"), cmd.Short)
		for line := range strings.SplitSeq(cmd.Example, "\n") {
			fmt.Fprintf(&b, "    %s\n", strings.TrimSpace(line))
		}
		var flags []string
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !shared[f.Name] {
				flags = append(flags, "`--"+f.Name+"`")
			}
		})
		if len(flags) > 0 {
			fmt.Fprintf(&b, "\nFlags: %s.\n", strings.Join(flags, ", "))
		}
	}
	return b.String() + "\n"
}

// shared are the flags that every command of clients has.
var shared = map[string]bool{
	"url": true, "token": true, "token-file": true, "context": true, "ca": true, "request-timeout": true, "database": true, "output": true, "quiet": true,
}
