package mutant

import (
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// TestFaultsApply demands of every fault that the sources still have the lines it replaces, and that what comes out is Go,
// formatted and different.
func TestFaultsApply(t *testing.T) {
	names := map[string]bool{}
	for _, f := range append(All(), Poison) {
		if names[f.Name] {
			t.Errorf("two faults are called %s", f.Name)
		}
		names[f.Name] = true
		changed, err := f.Apply(root)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(changed) == 0 {
			t.Errorf("fault %s changes nothing", f.Name)
		}
		for file, text := range changed {
			source, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				t.Fatal(err)
			}
			if text == string(source) {
				t.Errorf("fault %s leaves %s as it is", f.Name, file)
			}
			switch formatted, err := format.Source([]byte(text)); {
			case err != nil:
				t.Errorf("fault %s makes no Go of %s: %v", f.Name, file, err)
			case string(formatted) != text:
				t.Errorf("fault %s leaves %s in another form than gofmt's", f.Name, file)
			}
		}
	}
}

// TestFaultsThatDoNotApply has Apply refuse text that is not there, or there twice.
func TestFaultsThatDoNotApply(t *testing.T) {
	for before, count := range map[string]string{"no such text\n": "0 times", "\n}\n": " times, want once"} {
		f := Fault{"f", "nothing", []Edit{{"fsm/exec.go", before, ""}}}
		if _, err := f.Apply(root); err == nil || !strings.Contains(err.Error(), count) {
			t.Errorf("replacing %q: %v, want an error with %q", before, err, count)
		}
	}
	f := Fault{"f", "nothing", []Edit{{"fsm/no-such-file.go", "a", "b"}}}
	if _, err := f.Apply(root); err == nil {
		t.Error("a file that is not there was changed")
	}
}

// TestReportHasEveryFault demands that the report of the last full run is of these faults.
func TestReportHasEveryFault(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "reports", "mutants.md"))
	if err != nil {
		t.Fatal(err)
	}
	reported := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z-]+) \| (.*?) \|`).FindAllStringSubmatch(string(text), -1) {
		reported[row[1]] = row[2]
	}
	delete(reported, "fault") // the head
	for _, f := range All() {
		if means, ok := reported[f.Name]; !ok || means != f.Means {
			t.Errorf("the report says of %s %q, want %q: run make accept RUN=seeded-faults", f.Name, means, f.Means)
		}
		delete(reported, f.Name)
	}
	for name := range reported {
		t.Errorf("the report has %s, which is no fault any more", name)
	}
}
