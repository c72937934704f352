package layout

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// consoleColumns is the line width of console/biome.jsonc. The formatter breaks neither texts nor comments.
const consoleColumns = 120

// TestConsoleSourcesAreShort holds the console's sources to the limit of Go files. Of the rest, asks.json and openapi are generated.
func TestConsoleSourcesAreShort(t *testing.T) {
	seen := 0
	check := func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "openapi" {
			return fs.SkipDir
		}
		switch filepath.Ext(path) {
		case ".ts", ".tsx", ".mjs", ".css":
		default:
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		if len(lines) > MostLines {
			t.Errorf("%s has %d lines, want at most %d: split it by theme", path, len(lines), MostLines)
		}
		for i, line := range lines {
			if n := utf8.RuneCountInString(line); n > consoleColumns {
				t.Errorf("%s:%d has %d columns, want at most %d", path, i+1, n, consoleColumns)
			}
		}
		return nil
	}
	for _, part := range []string{"src", "test", "build.mjs"} {
		if err := filepath.WalkDir(filepath.Join(root, "console", part), check); err != nil {
			t.Fatal(err)
		}
	}
	if seen < 50 {
		t.Errorf("looked at %d files, want at least 50", seen)
	}
}
