package fsm

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
)

// released are the feature levels that a release has had, from env.Base on. testdata/released has a file for each: the commands and
// the operations that it began with, or, of env.Base, those that there were then. A release adds one, made by TRIREME_RECORD=released go test -run Released ./fsm.
var released = []env.Level{env.Base}

// introduced lists the commands and operations that a level began with, a line each.
func introduced(table *command.Table, level env.Level) (lines []string) {
	for _, c := range table.Rows() {
		if c.Since == level {
			lines = append(lines, "command "+c.Name)
		}
	}
	for _, o := range byCode {
		if o != nil && o.since() == level {
			lines = append(lines, fmt.Sprintf("operation %d", o.code()))
		}
	}
	slices.Sort(lines)
	return lines
}

// frozenFaults says what now differs from what a released level began with.
func frozenFaults(level env.Level, file, now []string) (faults []string) {
	for _, line := range now {
		if !slices.Contains(file, line) {
			faults = append(faults, fmt.Sprintf("%s says Since level %d, which is released: nodes of that release would stop at it or answer otherwise; give it the level that is not released yet", line, level))
		}
	}
	for _, line := range file {
		if !slices.Contains(now, line) {
			faults = append(faults, fmt.Sprintf("%s belongs to the released level %d and is gone: logs that hold it could not be applied; bring it back", line, level))
		}
	}
	return faults
}

// TestReleasedLevelsAreFrozen: what a released feature level has is neither more nor less than on the day of the release.
func TestReleasedLevelsAreFrozen(t *testing.T) {
	table := command.NewTable()
	for _, level := range released {
		name, now := fmt.Sprintf("testdata/released/level%d.txt", level), introduced(table, level)
		if os.Getenv("TRIREME_RECORD") == "released" {
			if _, err := os.Stat(name); err == nil {
				continue // frozen
			}
			if err := os.WriteFile(name, []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frozenFaults(level, strings.Split(strings.TrimSpace(string(b)), "\n"), now) {
			t.Error(f)
		}
	}
}

// TestFrozenFaultsAreFound: a command that claims a released level, and one that has disappeared, are named.
func TestFrozenFaultsAreFound(t *testing.T) {
	file := []string{"command del", "command get", "operation 1"}
	if f := frozenFaults(1, file, file); len(f) != 0 {
		t.Error(f)
	}
	f := frozenFaults(1, file, []string{"command get", "command new", "operation 1", "operation 57"})
	if len(f) != 3 || !strings.HasPrefix(f[0], "command new says") || !strings.HasPrefix(f[1], "operation 57 says") || !strings.HasPrefix(f[2], "command del belongs") {
		t.Error(f)
	}
}
