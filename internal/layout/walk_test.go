package layout

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxWalkFiles is the number of files through which docs/architecture.md follows a SET, a publish and a delivery. A newcomer reads
// them, so the number may only fall: lower it with each file that is no longer needed.
const maxWalkFiles = 20

var (
	walkStep = regexp.MustCompile("(?m)^\\d+\\. (.*)$")
	stepForm = regexp.MustCompile("^`([a-z0-9_/]+\\.go)` \\((`[^)]+`)\\): \\S")
)

// TestWalksFollowTheCode verifies that every step of the walks names a file and functions that it declares, and that a newcomer
// reads at most maxWalkFiles files.
func TestWalksFollowTheCode(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	walks := section(t, string(text), "## From the socket to the disk")
	for _, name := range []string{"### A SET over HTTP\n", "### A publish\n", "### A delivery\n"} {
		if !strings.Contains(walks, name) {
			t.Errorf("docs/architecture.md has no walk %q", name)
		}
	}
	files := map[string]bool{}
	for _, m := range walkStep.FindAllStringSubmatch(walks, -1) {
		path, functions, ok := readStep(m[1])
		if !ok {
			t.Errorf("%q: want a file, its functions and what they do: `a/b.go` (`Type.Method`, `function`): does this", m[1])
			continue
		}
		files[path] = true
		declared, err := functionsOf(filepath.Join(root, path))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range functions {
			if !declared[name] {
				t.Errorf("docs/architecture.md: %s has no function %s", path, name)
			}
		}
	}
	if len(files) > maxWalkFiles {
		t.Errorf("the walks go through %d files, want at most %d", len(files), maxWalkFiles)
	}
	if len(files) < 10 {
		t.Errorf("only %d files were found in the walks", len(files))
	}
}

// readStep splits the line of a step into its file and the functions there.
func readStep(line string) (path string, functions []string, ok bool) {
	m := stepForm.FindStringSubmatch(line)
	if m == nil {
		return "", nil, false
	}
	for name := range strings.SplitSeq(m[2], ", ") {
		functions = append(functions, strings.Trim(name, "`"))
	}
	return m[1], functions, true
}

// functionsOf returns the functions and methods that a file declares: "Open", "Store.Close".
func functionsOf(path string) (map[string]bool, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("a step of docs/architecture.md: %w", err)
	}
	all := map[string]bool{}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		switch {
		case !ok:
		case f.Recv == nil:
			all[f.Name.Name] = true
		default:
			all[receiver(f.Recv.List[0].Type)+"."+f.Name.Name] = true
		}
	}
	return all, nil
}

func TestReadStep(t *testing.T) {
	path, functions, ok := readStep("`a/b.go` (`Store.Open`, `close`): opens")
	if !ok || path != "a/b.go" || fmt.Sprint(functions) != "[Store.Open close]" {
		t.Errorf("got %s %v %v", path, functions, ok)
	}
	for _, line := range []string{"a/b.go: opens", "`a/b.go`: opens", "`a/b.go` (`Open`)", "`a/b.go` (`Open`):"} {
		if _, _, ok := readStep(line); ok {
			t.Errorf("%q is taken for a step", line)
		}
	}
}
