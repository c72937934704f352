package layout

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// An entry of the changelog has at most two lines of 120 characters.
const (
	maxEntryLines = 2
	maxEntryWidth = 120
)

var (
	released = regexp.MustCompile(`^## (?:Unreleased|[0-9]+\.[0-9]+\.[0-9]+ - 20\d\d-\d\d-\d\d)$`)
	internal = regexp.MustCompile("`make |bin/bench|jepsen|logtrial|docs/reports|_test\\.go|`internal/")
)

// TestChangelogIsForUsers verifies that the changelog has a section for each version, the unreleased changes first, and that
// entries are short and about what users see.
func TestChangelogIsForUsers(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrongEntries(string(text)) {
		t.Errorf("CHANGELOG.md:%s", w)
	}
}

func wrongEntries(text string) (wrong []string) {
	lines, versions := 0, 0
	for i, line := range strings.Split(text, "\n") {
		report := func(format string, args ...any) {
			wrong = append(wrong, fmt.Sprintf("%d: %s", i+1, fmt.Sprintf(format, args...)))
		}
		switch {
		case strings.HasPrefix(line, "- "):
			lines = 1
		case strings.HasPrefix(line, "  "):
			lines++
		default:
			lines = 0
		}
		if lines == maxEntryLines+1 {
			report("the entry has more than %d lines: say what changed, and link to a page for the rest", maxEntryLines)
		}
		if n := utf8.RuneCountInString(line); n > maxEntryWidth {
			report("the line has %d characters, want at most %d", n, maxEntryWidth)
		}
		if lines > 0 {
			if m := internal.FindString(line); m != "" {
				report("%q is not what users see", m)
			}
		}
		if strings.HasPrefix(line, "## ") {
			if !released.MatchString(line) {
				report("got %q, want ## Unreleased or ## 1.2.3 - 2026-12-31", line)
			}
			if versions++; (versions == 1) != (line == "## Unreleased") {
				report("got %q as version %d, want ## Unreleased first and once", line, versions)
			}
		}
	}
	return wrong
}

func TestWrongEntries(t *testing.T) {
	for text, want := range map[string]int{
		"## Unreleased\n\n- One.\n- Two\n  lines.\n\n## 0.1.0 - 2026-11-22\n": 0,
		"## Unreleased\n\n- Three\n  lines\n  here.\n":                        1,
		"## Unreleased\n\n- " + strings.Repeat("x", 119) + "\n":               1,
		"## Unreleased\n\n- `make test` is faster.\n":                         1,
		"## 0.1.0 - 2026-11-22\n":                                             1,
		"## Unreleased\n## Version 1\n":                                       1,
	} {
		if got := wrongEntries(text); len(got) != want {
			t.Errorf("%q: got %q, want %d", text, got, want)
		}
	}
}
