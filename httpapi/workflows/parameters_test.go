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
