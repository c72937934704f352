package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
)

// TestReferenceIsFresh fails when docs/commands does not say what the table says.
func TestReferenceIsFresh(t *testing.T) {
	folder := filepath.Join("..", "..", "docs", "commands")
	pages := render(command.NewTable().Rows())
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || string(got) != want {
			t.Errorf("docs/commands/%s is stale (%v): run go run ./cmd/commanddocs", name, err)
		}
	}
	on, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range on {
		if _, ok := pages[filepath.Base(path)]; !ok {
			t.Errorf("%s: no such family", path)
		}
	}
}

// TestRowsAreDescribed keeps the reference complete.
func TestRowsAreDescribed(t *testing.T) {
	for _, c := range command.NewTable().Rows() {
		for field, text := range map[string]string{"group": c.Group(), "syntax": c.Syntax, "summary": c.Summary, "complexity": c.Complexity, "version": c.Version} {
			if text == "" || strings.ContainsAny(text, "\r\n") {
				t.Errorf("%s: %s is %q", c.Name, field, text)
			}
		}
		if c.Complexity != "" && strings.Contains(c.Complexity, "|") {
			t.Errorf("%s: a bar in the complexity breaks the page", c.Name)
		}
		if !strings.HasPrefix(c.Syntax, strings.ToUpper(c.Name)) || !strings.HasSuffix(c.Summary, ".") {
			t.Errorf("%s: syntax %q, summary %q", c.Name, c.Syntax, c.Summary)
		}
	}
}

func TestWriteReplacesPages(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir, map[string]string{"old.md": "x", "kept.md": "y"}); err != nil {
		t.Fatal(err)
	}
	if err := write(dir, map[string]string{"kept.md": "z"}); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	if text, err := os.ReadFile(names[0]); err != nil || string(text) != "z" {
		t.Fatalf("%q, %v", text, err)
	}
}
