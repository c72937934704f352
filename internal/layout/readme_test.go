package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	reference = regexp.MustCompile(`\]\[([^\]]+)\]`)
	picture   = regexp.MustCompile(`!\[[^\]]+\]\(([^)]+)\)`)
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section is the text below a heading, up to the next one.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n"+heading+"\n")
	if !found {
		t.Fatalf("no heading %q", heading)
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return body
}

// TestComparisonHasSources: each row of the table that compares the product with others names where that can be read, and
// the names of links have addresses.
func TestComparisonHasSources(t *testing.T) {
	text := readme(t)
	table := section(t, text, "## What it replaces, and what it does not")
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(text, "\n["+m[1]+"]: https://") {
			t.Errorf("[%s] has no address", m[1])
		}
	}
	rows := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| | ") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 9 || !strings.Contains(cells[8], "](") && !strings.Contains(cells[8], "][") {
			t.Errorf("a row without a source, or of %d cells: %s", len(cells), line)
		}
	}
	if rows < 10 {
		t.Errorf("%d rows", rows)
	}
	for _, name := range []string{"hosted reference", "Redis", "HTTP bridge + Redis", "Temporal", "Inngest", "Restate"} {
		if !strings.Contains(table, "["+name+"][") {
			t.Errorf("no column for %s", name)
		}
	}
}

// TestFirstScreen: what somebody sees first has three pictures that are there, the two commands with what they need, and
// every way to install.
func TestFirstScreen(t *testing.T) {
	text := readme(t)
	first, _, _ := strings.Cut(text, "\n## ")
	pictures := picture.FindAllStringSubmatch(first, -1)
	for _, m := range pictures {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Error(err)
		}
	}
	if len(pictures) != 3 {
		t.Errorf("%d pictures", len(pictures))
	}
	for _, want := range []string{"make run ", "make test ", "Go 1.26", "npm, gcc and redis-server"} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q", want)
		}
	}
	install := section(t, text, "## Install")
	for _, want := range []string{"go install -tags nomsgpack github.com/trireme-dev/trireme/cmd/trireme@", "make release", "docker load", "make deb", "deploy/README.md"} {
		if !strings.Contains(install, want) {
			t.Errorf("Install has no %q", want)
		}
	}
	for _, name := range []string{"LICENSE", "NOTICE", "SECURITY.md", "SUPPORT.md"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil || !strings.Contains(text, "("+name+")") {
			t.Errorf("%s is not there (%v), or README.md does not name it", name, err)
		}
	}
}
