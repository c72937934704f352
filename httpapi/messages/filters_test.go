package messages

import (
	"os"
	"strings"
	"testing"
)

// Every parameter is documented where its row is to be: a filter is added by two rows.
func TestParametersAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/messages.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parameters {
		row := "| `" + p.name + "` | " + p.means + " | "
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/messages.md lacks the row\n%s", row)
		}
	}
}
