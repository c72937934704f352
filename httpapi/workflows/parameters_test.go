package workflows

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/workflow"
)

// Every filter is documented where its row is to be: a filter is added by two rows.
func TestFiltersAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range filters {
		of := "runs, dead letters"
		if f.dead {
			of = "dead letters"
		}
		if row := "| `" + f.name + "` | " + f.means + " | " + of + " |\n"; !strings.Contains(string(text), row) {
			t.Errorf("docs/workflows.md lacks the row\n%s", row)
		}
	}
}

func TestURLsJoinedByCommas(t *testing.T) {
	for text, want := range map[string][]string{
		"https://a/x":                     {"https://a/x"},
		"https://a/x,https://b/y":         {"https://a/x", "https://b/y"},
		"https://a/x,y,http://b/1,2,,3":   {"https://a/x,y", "http://b/1,2,,3"},
		"https://a?u=https://c,http://b/": {"https://a?u=https://c", "http://b/"},
	} {
		var f workflow.DeadFilter
		if err := urls(&f, params{"url": {text}}, "url"); err != nil || !slices.Equal(f.URLs, want) {
			t.Errorf("%s: %q, want %q", text, f.URLs, want)
		}
	}
}

// TestErrorsOfStatesNameThem: an error of a state says which there are, and the filter takes each of them.
func TestErrorsOfStatesNameThem(t *testing.T) {
	for name, allowed := range map[string][]string{"state": runStates, "failureFunctionState": callbackStates} {
		set := filters[slices.IndexFunc(filters, func(f filter) bool { return f.name == name })].set
		var f workflow.DeadFilter
		if err := set(&f, params{name: {"NONE"}}, name); err == nil || !strings.Contains(err.Error(), "use "+strings.Join(allowed, ", ")) {
			t.Errorf("%s: %v", name, err)
		}
		if err := set(&f, params{name: allowed}, name); err != nil || len(allowed) != 4 {
			t.Errorf("%s: %q, %v", name, allowed, err)
		}
	}
}
