package clients

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

func page(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAdaptersAreDocumented: the table of docs/clients.md has a row for each program of adapters/, with the version that its
// lock file or its go.mod names. The programs themselves are run by make adapters.
func TestAdaptersAreDocumented(t *testing.T) {
	_, table, _ := strings.Cut(page(t, "../docs/clients.md"), "\n## Adapters\n")
	rows := 0
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| adapter") {
			rows++
		}
	}
	programs := regexp.MustCompile(`(?m)^  (?:async )?(?:"([^"]+)"|(\w+))(?:: (?:debian|golang)\(|\(\{)`).FindAllStringSubmatch(page(t, "adapters/test.mjs"), -1)
	if rows != len(programs) || rows < 27 {
		t.Errorf("%d rows for %d programs", rows, len(programs))
	}
	var lock struct{ Dependencies map[string]string }
	if err := json.Unmarshal([]byte(page(t, "adapters/package.json")), &lock); err != nil {
		t.Fatal(err)
	}
	for _, m := range programs {
		for name := range strings.SplitSeq(m[1]+m[2], ", ") {
			if version := lock.Dependencies[name]; version != "" {
				if row := regexp.MustCompile("(?m)^\\| .*`" + regexp.QuoteMeta(name) + "`.*$").FindString(table); !strings.Contains(row, version) {
					t.Errorf("%s is of version %s: %q", name, version, row)
				}
			}
		}
	}
	modules := page(t, "adapters/go/go.mod")
	for _, m := range regexp.MustCompile("(?m)^\\| `(github[^`]+)` \\| ([0-9.]+) ").FindAllStringSubmatch(table, -1) {
		if !regexp.MustCompile(regexp.QuoteMeta(m[1]) + `(/v\d+)? v` + regexp.QuoteMeta(m[2]) + `\n`).MatchString(modules) {
			t.Errorf("%s is not of version %s in go.mod", m[1], m[2])
		}
	}
}
